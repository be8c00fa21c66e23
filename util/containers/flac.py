"""Segments of recordings as FLAC."""

from __future__ import annotations

from typing import BinaryIO

import soundfile

from .mp3 import seek

_WIDE = {"PCM_24", "PCM_32", "FLOAT", "DOUBLE"}
"""Subtypes with more than 16 bits."""
_MOST_CHANNELS = 8
"""The most channels of a FLAC."""
_BLOCK = 1 << 16


def write_flac(sound: soundfile.SoundFile, samples: range, to: BinaryIO, channel: int | None = None) -> None:
    """Write these samples of an open recording as FLAC of 24 bits, or 16 if it has no more.

    All channels are written, or only one of them, counted from 0.
    If there are more channels than FLAC allows, their mean is written; readers use only the mean of any recording.
    If the recording ends earlier, fewer samples are written. Samples beyond full scale, as in floating-point and lossy
    formats, are clipped. Raise soundfile.SoundFileError for the recording, or OSError for `to`.
    """
    seek(sound, samples.start)
    wide = sound.subtype in _WIDE and sound.format != "RAW"  # RAW: the decoded samples of a lossy format
    subtype = "PCM_24" if wide else "PCM_16"
    missing, output = len(samples), _Output(to)
    averaged = channel is None and sound.channels > _MOST_CHANNELS
    channels = 1 if averaged or channel is not None else sound.channels
    try:
        with soundfile.SoundFile(output, "w", sound.samplerate, channels, subtype, format="FLAC") as segment:
            # Read as integers, lossy formats would wrap around, and floating-point samples would become zeros.
            while missing and len(block := sound.read(min(missing, _BLOCK), dtype="float32", always_2d=True)):
                segment.write(block.mean(axis=1) if averaged else block if channel is None else block[:, channel])
                missing -= len(block)
    except (soundfile.SoundFileError, AssertionError) as error:
        raise output.error or error from None
    if output.error:
        raise output.error


class _Output:
    """A file that libsndfile writes to; it keeps the error, as libsndfile does not report the cause."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.error: OSError | None = None
        self.tell = file.tell

    def write(self, data: memoryview) -> int:
        """Return how many bytes are written; if writing fails, keep the error."""
        try:
            return self._file.write(data)
        except OSError as error:
            self.error = error
            return 0

    def seek(self, offset: int, whence: int) -> None:
        """Move to a place; if what is buffered cannot be written before, keep the error."""
        try:
            self._file.seek(offset, whence)
        except OSError as error:
            self.error = error
