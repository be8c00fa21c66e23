"""Texts in Markdown."""

import re


def in_code(text: str) -> str:
    """Return Markdown that shows a text unchanged, as code: between more backticks than it has in a row."""
    fence = "`" * (max(map(len, re.findall("`+", text)), default=0) + 1)
    space = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{space}{text}{space}{fence}"
