"""Plain text beside a recording: .txt, .lab and .trn."""

from __future__ import annotations

import os
import re
from pathlib import Path

from ....corpus_files.lines import read_text

_MOST_LINKS = 5
_TIMED = re.compile(r"\d+\s+\d+\s+\S+")


def follow_links(path: Path) -> str:
    """Return what a .trn says; if that is only the name of another .trn, what that one says.

    Names are looked for from the folder of the file that has them. Raise OSError, or UnicodeDecodeError.
    """
    for _ in range(_MOST_LINKS):
        text = read_text(path)
        name = text.strip()
        if "\n" in name or not name.lower().endswith(".trn"):
            return text
        path = Path(os.path.normpath(path.parent / name.replace("\\", "/")))
    raise OSError(f"{path} is at the end of {_MOST_LINKS} links, and one itself")


def has_times(text: str) -> bool:
    """Return whether every line begins with two numbers, as HTK's labels do, which are no transcript."""
    lines = [line for line in text.splitlines() if line.strip()]
    return bool(lines) and all(_TIMED.match(line.strip()) for line in lines)
