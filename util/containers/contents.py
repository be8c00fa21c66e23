"""Whether what a file has behind its header is one recording, unharmed, where libsndfile does not see it.

All of the file is read for that, as it is where all of it is decoded.
"""

from __future__ import annotations

import os

from ..errors import AudioError
from .mp3 import behind_tags
from .ogg import JOINED, check_pages

_FLAC_BEGIN = b"fLaC\0\0\0\x22"
"""What a FLAC begins with: its name, and the header of a block of metadata, the first and always of that size."""
_BLOCK = 1 << 20


def check_contents(path: object, file_descriptor: int, container: str) -> None:
    """Raise AudioError if an open ogg file is damaged, or it or a FLAC has several recordings, one after the other."""
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
