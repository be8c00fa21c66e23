"""Plain text beside a recording: .txt, .lab and .trn."""

from __future__ import annotations

import os
import re
from pathlib import Path

from ....corpus_files.lines import read_text

_MOST_LINKS = 5
_SAMPLES = re.compile(r"\d+\s+\d+\s+\S+")
_SECONDS = re.compile(r"\d+[.,]\d+\s+\d+[.,]\d+(\s|$)")
_ALL_SAMPLES = re.compile(r"0\s+\d{4,}\s+\D")


def follow_links(path: Path) -> str:
    """Return the text of a .trn; if it is only the name of another .trn, return the text of that file.

    Names are relative to the folder of the file that contains them. Raise OSError, or UnicodeDecodeError.
    """
    for _ in range(_MOST_LINKS):
        text = read_text(path)
        name = text.strip()
        if "\n" in name or not name.lower().endswith(".trn"):
            return text
        path = Path(os.path.normpath(path.parent / name.replace("\\", "/")))
    raise OSError(f"{path} is at the end of {_MOST_LINKS} links, and one itself")


def has_times(text: str, *, whole: bool) -> bool:
    """Return whether every line begins with two times, so that the text is labels, not a transcript.

    Times have a fraction, as in Audacity, or are the numbers of the first and the last sample, as in TIMIT. With
    `whole`, they may be any numbers, as in HTK, which could also be words of a transcript.
    """
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    kinds = (_SECONDS, _ALL_SAMPLES, _SAMPLES)[: None if whole else 2]
    return bool(lines) and any(all(map(kind.match, lines)) for kind in kinds)
