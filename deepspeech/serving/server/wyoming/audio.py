"""Audio of any width and number of channels as 16-bit samples of one channel."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from wyoming.audio import AudioChunk
from wyoming.event import Event

from ..utterances import HIGHEST_RATE, LOWEST_RATE
from .reading import BadEventError

MOST_CHANNELS = 16
WIDEST = 4
"""Bytes of a sample."""


def chunk_of(event: Event) -> AudioChunk:
    """Return the chunk of an `audio-chunk`, or the format that an `audio-start` announces; raise BadEventError."""
    ranges = {"rate": (LOWEST_RATE, HIGHEST_RATE), "width": (1, WIDEST), "channels": (1, MOST_CHANNELS)}
    for name, (least, most) in ranges.items():
        value = event.data.get(name)
        if not isinstance(value, int) or not least <= value <= most:
            raise BadEventError(f"{event.type}: {name} must be a whole number from {least} to {most}")
    chunk = AudioChunk.from_event(event)
    if len(chunk.audio) % (chunk.width * chunk.channels):
        raise BadEventError(f"{event.type}: {len(chunk.audio)} bytes are not a whole number of samples")
    return chunk


def sixteen_bits(chunk: AudioChunk) -> bytes:
    """Return a chunk's audio as 16-bit little-endian samples of one channel, the mean of all, at the chunk's rate."""
    if chunk.width == 2 and chunk.channels == 1:
        return chunk.audio
    samples = _highest_bits(chunk).reshape(-1, chunk.channels)
    mixed: npt.NDArray[np.int16] = np.rint(samples.mean(axis=1)).astype("<i2")
    return mixed.tobytes()


def _highest_bits(chunk: AudioChunk) -> npt.NDArray[np.int16]:
    """Return samples as int16; those of one byte are unsigned, as in WAV files, and wider ones lose their low bits."""
    if chunk.width == 1:
        return (np.frombuffer(chunk.audio, np.uint8).astype(np.int16) - 128) << 8
    columns = np.frombuffer(chunk.audio, np.uint8).reshape(-1, chunk.width)
    return np.ascontiguousarray(columns[:, -2:]).view("<i2")[:, 0].astype(np.int16)
