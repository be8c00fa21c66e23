"""Recordings told from raw samples by their first bytes."""

from .ffmpeg import CONTAINERS
from .mpeg_frames import has_two_frames

_STARTS = (
    *(b"fLaC", b"OggS", b"ID3", b"FORM", b"caff", b".snd", b"riff"),
    *(start for start in CONTAINERS if len(start) > 2),
)
"""The first bytes of recordings; samples hardly ever begin with them."""


def begins_encoded_recording(start: bytes) -> bool:
    """Return whether bytes begin a recording that is neither a WAV nor raw samples, as far as they show it.

    Most formats show it in their first 12 bytes, MP3 without tags in its first two frames.
    """
    is_avi = start.startswith(b"RIFF") and start[8:12] == b"AVI "
    return start.startswith(_STARTS) or start[4:8] == b"ftyp" or is_avi or has_two_frames(start)
