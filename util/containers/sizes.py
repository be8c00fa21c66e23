"""Checks that a file holds all that its container states; libsndfile does not check this.

In containers of chunks (wav, rf64, w64, aiff, caf), au and NIST's sph, the header states the size of the samples; in
WMA and AVI, the size of the file. Both are compared with the actual size. An ogg file must end where its last page
ends. libsndfile and ffmpeg read only the first of several recordings in a row, so such files are refused.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from ..errors import AudioError
from .ffmpeg import MP3_IN_WAV
from .mp3 import goes_on
from .ogg import DECODED_BY_FFMPEG, JOINED, check_end, check_pages
from .wav import MOST_CHUNKS

STREAMED_SIZE = 0x7F00_0000
"""Bytes. Programs that write to a pipe cannot know the size; they write this number or more into the header."""

_STREAMED_LONG_SIZE = 1 << 62
"""The same for sizes of eight bytes."""

_MAGIC = 4
"""Bytes by which the beginning of a recording of the same container is recognized."""
_FEWEST_MORE = 4096
"""Bytes behind the samples that its header counts: more than what ends some files by mistake."""
_BOX_HEADER = 16
"""Bytes of a box of an MP4 file that give its kind and its size, also a large one."""

_NIST_SIZE = slice(8, 16)
_NIST_NUMBER = re.compile(rb"^(\w+) -\w+ (\d{1,18})\s*$", re.MULTILINE)
_NIST_COUNTS = (b"sample_count", b"channel_count", b"sample_n_bytes")

_WMA_PROPERTIES = bytes.fromhex("a1dcab8c47a9cf118ee400c00c205365")
"""The first bytes of the object in the header of a WMA that gives the size of the file."""
_WMA_SIZE = slice(40, 48)
_WMA_FLAGS = slice(88, 92)
_WMA_BROADCAST = 1
"""The flag of a file that was written to a pipe, so that its size was unknown."""
_WMA_HEADER = 1 << 16
"""Bytes at the beginning of a WMA that contain that object."""


@dataclass(frozen=True)
class _Chunks:
    """The layout of a container's chunks: identifier, size, content."""

    data: bytes
    """The first bytes of the identifier of the chunk with the samples."""
    first: int = 12
    """Where the first chunk begins."""
    identifier_bytes: int = 4
    size_bytes: int = 4
    byte_order: Literal["little", "big"] = "little"
    header_counts: bool = False
    """Whether the size includes the identifier and the size itself, not only the content."""
    alignment: int = 2
    """Bytes; a chunk begins at a multiple of it."""

    @property
    def streamed_size(self) -> int:
        """Sizes from this one on mean that the size is unknown."""
        return STREAMED_SIZE if self.size_bytes == 4 else _STREAMED_LONG_SIZE


_WAV = _Chunks(b"data")
_RF64_LONG_SIZES = b"ds64"
_CONTAINERS = {
    "WAV": _WAV,
    "WAVEX": _WAV,
    MP3_IN_WAV: _WAV,
    "RF64": _WAV,
    "AIFF": _Chunks(b"SSND", byte_order="big"),
    "W64": _Chunks(b"data", first=40, identifier_bytes=16, size_bytes=8, header_counts=True, alignment=8),
    "CAF": _Chunks(b"data", first=8, size_bytes=8, byte_order="big", alignment=1),
}
"""By the names of libsndfile and `ffmpeg`. https://www.mmsp.ece.mcgill.ca/Documents/AudioFormats/ describes them."""


def check_size(path: object, file_descriptor: int, container: str) -> None:
    """Raise AudioError if a file of a known container is shorter than its header says, or has several recordings."""
    file_size = os.fstat(file_descriptor).st_size
    if container == "OGG":
        check_end(path, file_descriptor)
    elif container in DECODED_BY_FFMPEG.values():
        check_end(path, file_descriptor)
        check_pages(path, file_descriptor)  # ffmpeg leaves damaged ones out
    elif container == "MP3":
        if goes_on(file_descriptor):
            raise AudioError(f"{path}: {JOINED}")
    elif container == "AU":
        start, size = _au_samples(file_descriptor)
        if size < STREAMED_SIZE:
            _compare(path, file_size - start, size)
            _check_no_other(path, file_descriptor, start + size)
            _check_rest(path, file_descriptor, file_size, start + size)
    elif container == "NIST":
        start, size = _nist_samples(path, file_descriptor)
        _compare(path, file_size - start, size)
        _check_no_other(path, file_descriptor, start + size)
    elif container == "WMA":
        size = _wma_size(file_descriptor)
        _compare(path, file_size, size, "bytes")
        if size:
            _check_no_other(path, file_descriptor, size)
    elif container == "AVI":
        size = int.from_bytes(os.pread(file_descriptor, 4, 4), "little")
        if size < STREAMED_SIZE:
            _compare(path, file_size - 8, size, "bytes")
    elif container == "MP4":
        _check_boxes(path, file_descriptor, file_size)
    elif container in _CONTAINERS:
        _check_chunks(path, file_descriptor, file_size, _CONTAINERS[container])


def _check_chunks(path: object, file_descriptor: int, file_size: int, layout: _Chunks) -> None:
    long_size, begin, found = _STREAMED_LONG_SIZE, os.pread(file_descriptor, _MAGIC, 0), False
    for identifier, size, position in _chunks(file_descriptor, file_size, layout):
        if identifier.startswith(begin):
            raise AudioError(f"{path}: {JOINED}")
        if identifier == _RF64_LONG_SIZES:
            long_size = int.from_bytes(os.pread(file_descriptor, 8, position + 8), "little")
        if found and not size:  # not a chunk, but zeros after the samples
            return
        if identifier.startswith(layout.data) and not found:
            found, present = True, file_size - position
            told = size if size < layout.streamed_size else long_size
            if told == 0 < present:
                raise AudioError(f"{path}: no samples by its header, though {present} bytes follow; convert it again")
            if told < _STREAMED_LONG_SIZE:
                _compare(path, present, told)
                _check_no_other(path, file_descriptor, position + told)
                _check_rest(path, file_descriptor, file_size, position + told, -told % layout.alignment)


def _chunks(file_descriptor: int, file_size: int, layout: _Chunks) -> Iterator[tuple[bytes, int, int]]:
    """Yield each chunk's identifier, the size of its content by its header, and where its content begins."""
    position = layout.first
    header_bytes = layout.identifier_bytes + layout.size_bytes
    for _ in range(MOST_CHUNKS):
        if position > file_size - header_bytes:
            return
        header = os.pread(file_descriptor, header_bytes, position)
        size = int.from_bytes(header[layout.identifier_bytes :], layout.byte_order)
        size -= header_bytes if layout.header_counts else 0
        position += header_bytes
        yield header[: layout.identifier_bytes], size, position
        position += max(0, size) + -size % layout.alignment


def _au_samples(file_descriptor: int) -> tuple[int, int]:
    """Return where the samples of an au file begin, and how many bytes they have by its header."""
    header = os.pread(file_descriptor, 12, 0)
    order: Literal["little", "big"] = "big" if header.startswith(b".snd") else "little"
    return int.from_bytes(header[4:8], order), int.from_bytes(header[8:12], order)


def _nist_samples(path: object, file_descriptor: int) -> tuple[int, int]:
    """Return where the samples of a NIST file begin, and how many bytes they have by its header; 0 if it has no count.

    The header is text: its own size in the second line, then lines of a name, a type and a value. Raise AudioError if
    that size is no number, although libsndfile may read the file.
    """
    told = os.pread(file_descriptor, _NIST_SIZE.stop, 0)[_NIST_SIZE].strip()
    if not told.isdigit():
        raise AudioError(f"{path}: damaged: its header has {told!r} where its size should be")
    start = int(told)
    numbers = {name: int(value) for name, value in _NIST_NUMBER.findall(os.pread(file_descriptor, start, 0))}
    return start, math.prod(numbers.get(name, 0) for name in _NIST_COUNTS)


def _wma_size(file_descriptor: int) -> int:
    """Return how many bytes a WMA has by its header; 0 if the header does not say."""
    header = os.pread(file_descriptor, _WMA_HEADER, 0)
    begin = header.find(_WMA_PROPERTIES)
    properties = header[begin:] if begin >= 0 else b""
    if int.from_bytes(properties[_WMA_FLAGS], "little") & _WMA_BROADCAST:
        return 0
    return int.from_bytes(properties[_WMA_SIZE], "little")


def _check_boxes(path: object, file_descriptor: int, file_size: int) -> None:
    """Raise AudioError if an MP4 file has two beginnings; ffmpeg decodes the first, and reports if it is cut off."""
    position = 0
    for _ in range(MOST_CHUNKS):
        if position > file_size - _BOX_HEADER:
            return
        box = os.pread(file_descriptor, _BOX_HEADER, position)
        if position and box[4:8] == b"ftyp":
            raise AudioError(f"{path}: {JOINED}")
        size = int.from_bytes(box[:4], "big")
        size = int.from_bytes(box[8:], "big") if size == 1 else size
        if size < 8:  # 0: to the end of the file
            return
        position += size


def _check_no_other(path: object, file_descriptor: int, end: int) -> None:
    """Raise AudioError if another recording of the same kind follows the first."""
    if os.pread(file_descriptor, _MAGIC, end) == os.pread(file_descriptor, _MAGIC, 0):
        raise AudioError(f"{path}: {JOINED}")


def _check_rest(path: object, file_descriptor: int, file_size: int, end: int, padding: int = 0) -> None:
    """Raise AudioError if neither a chunk, nor a tag or zeros, follow the samples: the header counts too few of them.

    So it is with a recorder that was stopped by force. Some programs leave out the padding before a chunk.
    """
    following = [os.pread(file_descriptor, _MAGIC, place) for place in (end, end + padding)]
    known = any(each.startswith(b"ID3") or not any(each) or _is_printable(each) for each in following)
    if file_size - end > _FEWEST_MORE and not known:
        raise AudioError(f"{path}: goes on for {file_size - end} bytes behind the samples that its header counts")


def _is_printable(identifier: bytes) -> bool:
    return all(0x20 <= byte < 0x7F for byte in identifier)


def _compare(path: object, present: int, size: int, what: str = "bytes of samples") -> None:
    if present < size:
        raise AudioError(f"{path}: truncated: {present} {what} where the header promises {size}")
