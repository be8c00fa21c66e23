"""Counts with their nouns."""


def counted(count: float, noun: str) -> str:
    """Return a count and its noun, given in the singular: "1 word", "2 words", "3 batches", "0.5 seconds"."""
    number = f"{count}" if isinstance(count, int) else f"{count:g}"
    ending = "es" if noun.endswith("tch") else "s"
    return f"{number} {noun}{'' if count == 1 else ending}"
