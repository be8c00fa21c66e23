"""The frames of MPEG audio (mp3) and of AAC in ADTS, by which a signal without a header is recognized.

Formats: http://www.mp3-tech.org/programmer/frame_header.html and https://wiki.multimedia.cx/index.php/ADTS
"""

from __future__ import annotations

HEADER_BYTES = 7
"""Bytes by which a frame is recognized."""

_MPEG_1 = 3
_UNUSED_VERSION = 1
_SAMPLE_RATES = {_MPEG_1: (44_100, 48_000, 32_000), 2: (22_050, 24_000, 16_000), 0: (11_025, 12_000, 8_000)}
"""Hz by version."""
_BIT_RATES = {
    (True, 1): (32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448),
    (True, 2): (32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384),
    (True, 3): (32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320),
    (False, 1): (32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256),
    (False, 2): (8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160),
    (False, 3): (8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160),
}
"""kbit/s by whether the version is MPEG 1 and by the layer, from the index 1 on."""
_ADTS_RATES = 13


def frame_bytes(start: bytes) -> int | None:
    """Return the size in bytes of the frame that begins with these bytes; None if they are no header of a frame."""
    if len(start) < HEADER_BYTES or start[0] != 0xFF or start[1] < 0xE0:
        return None
    return _adts_bytes(start) if start[1] & 0xF6 == 0xF0 else _mpeg_bytes(start)


def has_two_frames(start: bytes) -> bool:
    """Return whether bytes begin with a frame that another of the same kind and sample rate follows."""
    size = frame_bytes(start)
    if size is None:
        return False
    following = start[size : size + HEADER_BYTES]
    return frame_bytes(following) is not None and _kind(following) == _kind(start)


def _kind(header: bytes) -> tuple[int, int]:
    """Return what all frames of a signal share: version, layer and protection, and the sample rate."""
    is_adts = header[1] & 0xF6 == 0xF0
    return header[1], header[2] & (0x3C if is_adts else 0x0C)


def _adts_bytes(header: bytes) -> int | None:
    size = (header[3] & 3) << 11 | header[4] << 3 | header[5] >> 5
    return size if header[2] >> 2 & 15 < _ADTS_RATES and size >= HEADER_BYTES else None


def _mpeg_bytes(header: bytes) -> int | None:
    version, layer = header[1] >> 3 & 3, 4 - (header[1] >> 1 & 3)
    bit_rate, sample_rate, padding = header[2] >> 4, header[2] >> 2 & 3, header[2] >> 1 & 1
    if version == _UNUSED_VERSION or layer > 3 or not 1 <= bit_rate <= 14 or sample_rate > 2:
        return None
    bits_each_second = 1000 * _BIT_RATES[version == _MPEG_1, layer][bit_rate - 1]
    rate = _SAMPLE_RATES[version][sample_rate]
    if layer == 1:
        return (12 * bits_each_second // rate + padding) * 4
    return (72 if layer == 3 and version != _MPEG_1 else 144) * bits_each_second // rate + padding
