"""Counts with their nouns."""


def counted(count: int, noun: str) -> str:
    """Return a count and its noun, given in the singular: "1 word", "2 words"."""
    return f"{count} {noun}{'s' * (count != 1)}"
