"""Segments of recordings as FLAC."""

from __future__ import annotations

from typing import BinaryIO

import soundfile

from .mp3 import seek

_WIDE = {"PCM_24", "PCM_32", "FLOAT", "DOUBLE"}
"""Subtypes that 16 bits do not hold."""
_MOST_CHANNELS = 8
"""Of a FLAC."""
_BLOCK = 1 << 16


def write_flac(sound: soundfile.SoundFile, samples: range, to: BinaryIO) -> None:
    """Write these samples of an open recording, of all channels, as FLAC of 24 bits, or of the 16 that it has.

    Of more channels than a FLAC can have, their mean is written, which is what is read of any recording.
    Fewer are written where the recording ends before. What is louder than full scale, as floating-point samples and
    lossy formats may be, is clipped. Raise soundfile.SoundFileError for the recording, or OSError for `to`.
    """
    seek(sound, samples.start)
    wide = sound.subtype in _WIDE and sound.format != "RAW"  # in which the samples of lossy formats are decoded
    subtype = "PCM_24" if wide else "PCM_16"
    missing, output = len(samples), _Output(to)
    averaged = sound.channels > _MOST_CHANNELS
    channels = 1 if averaged else sound.channels
    try:
        with soundfile.SoundFile(output, "w", sound.samplerate, channels, subtype, format="FLAC") as segment:
            # Read as integers, lossy formats would wrap around, and floating-point samples would become zeros.
            while missing and len(block := sound.read(min(missing, _BLOCK), dtype="float32")):
                segment.write(block.mean(axis=1) if averaged else block)
                missing -= len(block)
    except (soundfile.SoundFileError, AssertionError) as error:
        raise output.error or error from None
    if output.error:
        raise output.error


class _Output:
    """A file that is written to by libsndfile, which does not tell why it cannot be."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.error: OSError | None = None
        self.seek, self.tell = file.seek, file.tell

    def write(self, data: memoryview) -> int:
        """Return how many bytes are written, and remember why it is none."""
        try:
            return self._file.write(data)
        except OSError as error:
            self.error = error
            return 0
