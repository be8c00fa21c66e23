"""The length of an mp3, and how its samples are read.

Most encoders write a header with the length; without it, only decoding the whole file shows the length. In that case
libsndfile estimates the length from the sizes of the file and of its first frames, and decodes no more than that. If
the bit rate varies, the estimate can be a fraction or a multiple of the true length.

A frame of an mp3 has a part of its data in earlier frames. When libsndfile seeks, even to its current place, it loses
that data, and some hundred samples are noise.
"""

from __future__ import annotations

import os

import soundfile

from .mpeg_frames import has_two_frames
from .ogg import last_page_samples

LEAD = 32 * 1152
"""Samples that are decoded before the first wanted one: more frames than any frame takes data from."""
UNKNOWN_LENGTH = 2**63 - 1
"""The number of samples that libsndfile gives for a FLAC that was written to a pipe, whose header has no number."""
_ID3_HEADER_BYTES = 10
_SEARCHED_BYTES = 2048
"""Bytes after the tags; the first frame begins within them."""
_HAS_FRAMES, _HAS_BYTES = 1, 2
"""Flags of the header that say which numbers it has."""
_FEWEST_MORE = 4096
"""Bytes allowed after those that the header counts: more than encoders that count differently leave out."""
_LOWERING = 64
"""The pretended size of a file, as a multiple of its true size: more than the ratio of the highest bit rate, 320, to
the lowest, 8 kbit/s."""
_PRETENDED_BYTES = 1 << 16
_BLOCK = 1 << 16


def has_length(file_descriptor: int) -> bool:
    """Return whether an mp3 has the header (called Xing, or Info) that says how many frames it has."""
    frames, _ = _counts(_begin(file_descriptor, 0)[1])
    return frames > 0


def goes_on(file_descriptor: int) -> bool:
    """Return whether an mp3 has more frames than its header counts, as after files were joined."""
    begin, first = _begin(file_descriptor, 0)
    _, counted = _counts(first)
    end = begin + counted
    if not counted or os.fstat(file_descriptor).st_size - end < _FEWEST_MORE:
        return False
    _, more = _begin(file_descriptor, end)
    return any(has_two_frames(more[place:]) for place, byte in enumerate(more) if byte == 0xFF)


def behind_tags(file_descriptor: int, position: int = 0) -> int:
    """Return where the ID3 tags end that begin at a position; the position itself if there are none."""
    while (tag := os.pread(file_descriptor, _ID3_HEADER_BYTES, position))[:3] == b"ID3":
        size = 0
        for byte in tag[6:]:
            size = size << 7 | byte & 0x7F
        position += _ID3_HEADER_BYTES + size
    return position


def _begin(file_descriptor: int, position: int) -> tuple[int, bytes]:
    """Return where the first frame from a position on is at the earliest, behind tags, and the bytes there."""
    position = behind_tags(file_descriptor, position)
    return position, os.pread(file_descriptor, _SEARCHED_BYTES, position)


def _counts(first: bytes) -> tuple[int, int]:
    """Return how many frames and bytes the header in the first frame counts; 0 for a number that it lacks.

    Encoders write zeros there until they finish, so zeros remain if an encoder was killed.
    """
    header = max(first.find(b"Xing"), first.find(b"Info"))
    flags = int.from_bytes(first[header + 4 : header + 8], "big") if header >= 0 else 0
    numbers = (int.from_bytes(first[place : place + 4], "big") for place in (header + 8, header + 12))
    frames = next(numbers) if flags & _HAS_FRAMES else 0
    return frames, next(numbers) if flags & _HAS_BYTES else 0


def seek(sound: soundfile.SoundFile, place: int) -> None:
    """Move to a sample of a just-opened recording of any format, so that reading gives the same as from the beginning.

    Raise soundfile.LibsndfileError.
    """
    searchable = soundfile.SoundFile.seekable(sound)  # a wav with GSM is not
    lead = min(place, _lead(sound, place)) if searchable else place
    if searchable:
        sound.seek(place - lead)
    for begin in range(0, lead, _BLOCK):
        sound.read(min(lead - begin, _BLOCK), dtype="float32")


def _lead(sound: soundfile.SoundFile, place: int) -> int:
    """Return how many samples before a place are decoded, and dropped, so that its own samples are right."""
    if sound.format == "MP3":
        return LEAD
    if sound.subtype == "VORBIS":
        last_page: int = sound.frames - last_page_samples(sound.name)
        return max(0, place + 1 - last_page)
    return 0


class RecordingFile(soundfile.SoundFile):  # type: ignore[misc]
    """An open recording of any format that can be read in blocks."""

    def seekable(self) -> bool:
        """Return whether soundfile may seek after each read, which it does if this is True; `seek` works on any file.

        Seeking fails at the end of a FLAC of unknown length.
        """
        return self.format != "MP3" and self.frames < UNKNOWN_LENGTH and bool(super().seekable())


class UnmeasuredFile:
    """An open file that pretends to be much longer than it is, so that libsndfile decodes an mp3 to its true end."""

    def __init__(self, file_descriptor: int) -> None:
        """Take the file's descriptor, which must stay open."""
        self._file_descriptor = file_descriptor
        self._true_size = os.fstat(file_descriptor).st_size
        self._size = self._true_size * _LOWERING + _PRETENDED_BYTES
        self._position = 0

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Go to a place; the end is that of the pretended size."""
        self._position = offset + {os.SEEK_SET: 0, os.SEEK_CUR: self._position, os.SEEK_END: self._size}[whence]
        return self._position

    def tell(self) -> int:
        """Return the place."""
        return self._position

    def readinto(self, buffer: memoryview) -> int:
        """Read what is there; at the pretended end, where a tag could be, read zeros."""
        if self._position <= self._true_size:
            count = os.preadv(self._file_descriptor, [buffer], self._position)
        else:
            count = max(0, min(len(buffer), self._size - self._position))
            buffer[:count] = bytes(count)
        self._position += count
        return count
