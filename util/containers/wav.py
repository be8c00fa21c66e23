"""The header of a WAV: its codec and, for a WAV from a pipe, the layout of its samples.

The header of a WAV from a pipe may lack the length, and libsndfile reads only files in which it can seek.

Format: https://www.mmsp.ece.mcgill.ca/Documents/AudioFormats/WAVE/WAVE.html
"""

from __future__ import annotations

import os
import struct
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..errors import AudioError

START_BYTES = 12
"""Bytes by which a WAV is recognized."""
LARGEST_CHUNK = 1 << 24
"""The most bytes of a chunk before the samples; a larger one is treated as damaged."""
MOST_CHUNKS = 100_000
"""The most chunks of a file that are looked through."""
UNKNOWN_BYTES = 0x7FFF_0000
"""Programs that write to a pipe state this many bytes of samples or more, or none."""

MP3 = 0x55
"""The codec whose length in a WAV libsndfile estimates by the size of the first frames; it reads no further."""

_PCM, _FLOAT, _EXTENSIBLE = 1, 3, 0xFFFE
_TYPES = {(_PCM, 8): "u1", (_PCM, 16): "<i2", (_PCM, 32): "<i4", (_FLOAT, 32): "<f4", (_FLOAT, 64): "<f8"}
_CODES = {_PCM: "integers", 2: "ADPCM", _FLOAT: "floating point", 6: "A-law", 7: "mu-law", 17: "ADPCM", 49: "GSM"}

Read = Callable[[int], bytes]
"""Returns the requested number of bytes, fewer at the end."""


@dataclass(frozen=True)
class WavFormat:
    """The layout of the samples of a WAV."""

    sample_rate: int
    """Hz."""
    channels: int
    kind: int
    """1 for integers, 3 for floating-point numbers."""
    bits: int
    """Bits of a sample."""
    data_bytes: int | None
    """Bytes of samples; None if the header does not give it."""

    @property
    def frame_bytes(self) -> int:
        """Bytes of one sample of each channel."""
        return self.channels * self.bits // 8

    def samples(self, data: bytes) -> npt.NDArray[np.float32]:
        """Return whole frames as float32 [samples, channels], in [-1, 1] if they are integers."""
        if (self.kind, self.bits) == (_PCM, 24):
            filled = np.zeros((len(data) // 3, 4), np.uint8)
            filled[:, 1:] = np.frombuffer(data, np.uint8).reshape(-1, 3)
            values = filled.view("<i4")[:, 0] / 2.0**31
        else:
            values = np.frombuffer(data, _TYPES[self.kind, self.bits])
            if self.kind == _PCM:
                values = values / 128.0 - 1 if self.bits == 8 else values / 2.0 ** (self.bits - 1)
        return values.astype(np.float32).reshape(-1, self.channels)


def is_wav(start: bytes) -> bool:
    """Return whether START_BYTES bytes are the beginning of a WAV."""
    return start[:4] in (b"RIFF", b"RF64") and start[8:START_BYTES] == b"WAVE"


def codec_of(file_descriptor: int) -> int | None:
    """Return the codec's number of a WAV that is open as a file; None if the file ends before it."""
    position = START_BYTES
    for _ in range(MOST_CHUNKS):
        header = os.pread(file_descriptor, 10, position)
        if len(header) < 10:
            break
        name, size, codec = struct.unpack("<4sIH", header)
        if name == b"fmt ":
            return int(codec)
        position += 8 + size + size % 2
    return None


def read_wav_format(read: Read) -> WavFormat:
    """Read the header from START_BYTES on up to the samples; raise AudioError, without a name, if it is damaged."""
    described = b""
    while True:
        header = read(8)
        if len(header) < 8:
            raise AudioError("truncated before its samples")
        name, size = struct.unpack("<4sI", header)
        if name == b"data":
            return _format(described, None if not size or size >= UNKNOWN_BYTES else size)
        if size > LARGEST_CHUNK:
            raise AudioError("damaged before its samples")
        content = read(size + size % 2)
        described = content if name == b"fmt " else described


def _format(described: bytes, data_bytes: int | None) -> WavFormat:
    try:
        kind, channels, sample_rate, _, _, bits = struct.unpack_from("<HHIIHH", described)
        if kind == _EXTENSIBLE:
            (kind,) = struct.unpack_from("<H", described, 24)
    except struct.error:
        raise AudioError("damaged before its samples") from None
    if not channels:
        raise AudioError("damaged before its samples")
    if (kind, bits) not in {*_TYPES, (_PCM, 24)}:
        code = _CODES.get(kind, f"code {kind}")
        raise AudioError(
            f"a WAV of {bits}-bit samples in {code} cannot be read from a pipe; give it as a file, or convert it to "
            "16-bit integers"
        )
    return WavFormat(sample_rate, channels, kind, bits, data_bytes)
