"""Checks of a file's content that libsndfile lacks: that it is one recording, and undamaged.

They read the whole file, so they run where the whole file is decoded.
"""

from __future__ import annotations

import os

from ..errors import AudioError
from .mp3 import behind_tags
from .ogg import JOINED, check_pages

_FLAC_BEGIN = b"fLaC\0\0\0\x22"
"""The beginning of each FLAC: its name, and the header of its first metadata block, which always has that size."""
_BLOCK = 1 << 20


def check_contents(path: object, file_descriptor: int, container: str) -> None:
    """Raise AudioError if an open ogg file is damaged, or if an ogg or FLAC file has several recordings in a row."""
    if container == "OGG":
        check_pages(path, file_descriptor)
    elif container == "FLAC" and _is_in(file_descriptor, _FLAC_BEGIN, behind_tags(file_descriptor) + 1):
        raise AudioError(f"{path}: {JOINED}")


def _is_in(file_descriptor: int, words: bytes, position: int) -> bool:
    """Return whether bytes are in a file from a position on."""
    while len(block := os.pread(file_descriptor, _BLOCK, position)) >= len(words):
        if words in block:
            return True
        position += len(block) - len(words) + 1
    return False
