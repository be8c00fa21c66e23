"""Recordings told from raw samples, and other files told from recordings, by their first bytes."""

from __future__ import annotations

import os
from contextlib import suppress

from .ffmpeg import CONTAINERS
from .mpeg_frames import has_two_frames

_STARTS = (
    *(b"fLaC", b"OggS", b"ID3", b"FORM", b"caff", b".snd", b"riff"),
    *(start for start in CONTAINERS if len(start) > 2),
)
"""The first bytes of recordings; samples hardly ever begin with them."""

GIT_LFS_POINTER = b"version https://git-lfs"
"""The first bytes of what Git LFS leaves in the place of a file until it is fetched."""
NOT_FETCHED = "only a pointer of Git LFS; fetch the file with git lfs pull"
"""What is wrong with such a file."""
_PAGES = (b"<!doctype", b"<html", b"<?xml")


def why_no_audio(file_descriptor: int, reason: str) -> str:
    """Return what an open file is instead of a recording, if its first bytes show it, or else a decoder's reason."""
    start = b""
    with suppress(OSError):  # a pipe
        start = os.pread(file_descriptor, 64, 0).lstrip().lower()
    if start.startswith(GIT_LFS_POINTER):
        return NOT_FETCHED
    if start.startswith(_PAGES):
        return "a web page and no recording; download the recording again"
    return f"cannot be read as audio: {reason}"


def begins_encoded_recording(start: bytes) -> bool:
    """Return whether bytes begin a recording that is neither a WAV nor raw samples, as far as they show it.

    Most formats show it in their first 12 bytes, MP3 without tags in its first two frames.
    """
    is_avi = start.startswith(b"RIFF") and start[8:12] == b"AVI "
    return start.startswith(_STARTS) or start[4:8] == b"ftyp" or is_avi or has_two_frames(start)
