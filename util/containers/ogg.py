"""The pages of an ogg file: whether all of them are present and undamaged.

Decoders skip a damaged page without an error, or fill its time with noise.

Format: https://www.rfc-editor.org/rfc/rfc3533
"""

from __future__ import annotations

import os
import re
import zlib
from collections.abc import Iterator

from ..errors import AudioError

JOINED = "several recordings one after the other, of which only the first can be read; convert the file, or split it"

DECODED_BY_FFMPEG = {b"\x7fFLAC": "FLAC in ogg", b"Speex   ": "Speex"}
"""The first bytes of streams that libsndfile does not decode and ffmpeg does, and the names of their formats."""

_MISSING = "damaged: pages are missing"
_BEGIN = b"OggS\0"
_PAGE = 65_307
"""The most bytes of a page."""
_HEADER = 27
"""Bytes of a page's header before its table of segments."""
_FLAGS = 5
_FIRST = 2
"""The flag of a page that is the first of its stream."""
_POSITION, _STREAM, _NUMBER, _CHECKSUM = slice(6, 14), slice(14, 18), slice(18, 22), slice(22, 26)
_NO_END = (1 << 64) - 1
"""The position of a page in which no packet ends."""
_BITS_REVERSED = bytes(int(f"{byte:08b}"[::-1], 2) for byte in range(256))
_NO_XOR = 0xFFFFFFFF


def format_for_ffmpeg(file_descriptor: int) -> str | None:
    """Return the format of an open ogg file if libsndfile does not decode it and ffmpeg does; None for others."""
    page = next(_pages(file_descriptor), b"")
    content = page[_HEADER + page[_HEADER - 1] :] if len(page) >= _HEADER else b""
    return next((name for first, name in DECODED_BY_FFMPEG.items() if content.startswith(first)), None)


def check_end(path: object, file_descriptor: int) -> None:
    """Raise AudioError if the last page is cut off, or if its stream does not begin at the start of the file."""
    tail = _tail(file_descriptor)
    begin = tail.rfind(_BEGIN)
    if begin < 0:
        return
    page = tail[begin:]
    if not _is_whole(page):
        raise AudioError(f"{path}: truncated: it ends within a page")
    first = set(_first_streams(file_descriptor))
    if first and page[_STREAM] not in first:
        raise AudioError(f"{path}: {JOINED}")


def last_page_samples(file_descriptor: int) -> int:
    """Return how many samples the last page of an ogg with Vorbis adds; all of them if it is the only one with any.

    Libsndfile finds a place in a page by counting back from the page's end, but the last page may end within a block.
    So a place in the last page is only found from the page before.
    """
    tail = _tail(file_descriptor)
    pages = [tail[match.start() :] for match in re.finditer(re.escape(_BEGIN), tail)]
    ends = {int.from_bytes(page[_POSITION], "little") for page in pages if page[_STREAM] == pages[-1][_STREAM]}
    before, last = (0, 0, *sorted(ends - {_NO_END}))[-2:]
    return last - before


def check_pages(path: object, file_descriptor: int) -> None:
    """Read all of an ogg file, and raise AudioError if pages in it are damaged or missing."""
    position, following = 0, dict[bytes, int]()
    for page in _pages(file_descriptor):
        if _checksum(page) != page[_CHECKSUM]:
            raise AudioError(f"{path}: damaged: a page has another checksum")
        number = int.from_bytes(page[_NUMBER], "little")
        if following.get(page[_STREAM], number) != number:
            raise AudioError(f"{path}: {JOINED if page[_FLAGS] & _FIRST else _MISSING}")
        # A recorded broadcast has the headers of the stream's beginning, and then later pages.
        if any(page[_POSITION]):
            following[page[_STREAM]] = (number + 1) % (1 << 32)
        position += len(page)
    if _BEGIN in os.pread(file_descriptor, os.fstat(file_descriptor).st_size - position, position):
        raise AudioError(f"{path}: {_MISSING}")


def _tail(file_descriptor: int) -> bytes:
    """Return the end of the file, which is long enough for its last two pages."""
    start = max(0, os.fstat(file_descriptor).st_size - 2 * _PAGE)
    return os.pread(file_descriptor, 2 * _PAGE, start)


def _pages(file_descriptor: int) -> Iterator[bytes]:
    """Yield the pages from the beginning of the file up to the first byte that is no page."""
    position = 0
    while (start := os.pread(file_descriptor, _HEADER + 255, position)).startswith(_BEGIN):
        page = os.pread(file_descriptor, _page_bytes(start), position)
        yield page
        position += len(page)


def _first_streams(file_descriptor: int) -> Iterator[bytes]:
    """Yield the serial numbers of the streams that begin at the start of an ogg file."""
    for page in _pages(file_descriptor):
        if not page[_FLAGS] & _FIRST:
            return
        yield page[_STREAM]


def _page_bytes(page: bytes) -> int:
    """Return the size in bytes of the page that begins with these bytes, at least that of its header."""
    segments = page[_HEADER : _HEADER + page[_HEADER - 1]] if len(page) >= _HEADER else b""
    return _HEADER + len(segments) + sum(segments)


def _is_whole(page: bytes) -> bool:
    return len(page) >= _HEADER and len(page) >= _HEADER + page[_HEADER - 1] and len(page) >= _page_bytes(page)


def _checksum(page: bytes) -> bytes:
    """Return a page's checksum: zlib's, from 0 on, with the bits of each byte and of the result in reverse order."""
    emptied = page[: _CHECKSUM.start] + bytes(4) + page[_CHECKSUM.stop :]
    reversed_bits = zlib.crc32(emptied.translate(_BITS_REVERSED), _NO_XOR) ^ _NO_XOR
    return reversed_bits.to_bytes(4, "big").translate(_BITS_REVERSED)
