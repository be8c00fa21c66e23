"""Counts with what is counted."""


def counted(count: int, noun: str) -> str:
    """Return a count and its noun, given as of one: "1 word", "2 words"."""
    return f"{count} {noun}{'s' * (count != 1)}"
