"""Counts with their nouns."""


def counted(count: float, noun: str, *, thousands: str = "") -> str:
    """Return a count and its noun, given in the singular: "1 word", "2 words", "3 batches", "0.5 seconds".

    `thousands` separates the thousands of whole numbers, as a comma does in "1,000 words".
    """
    number = f"{count:{thousands}}" if isinstance(count, int) else f"{count:g}"
    ending = "es" if noun.endswith("tch") else "s"
    return f"{number} {noun}{'' if count == 1 else ending}"
