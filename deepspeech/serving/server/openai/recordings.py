"""A recording that was sent, part by part: decoded and transcribed on a thread."""

from __future__ import annotations

import shutil
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import IO

import numpy as np
import numpy.typing as npt

from ....errors import AudioError, ModelError
from ....util.audio import read_audio_blocks
from ...api import Model
from ...long_audio import parts_of_blocks
from ...transcripts import Transcript
from ..errors import RefusedError

LONGEST_SUFFIX = 8


@contextmanager
def on_disk(file: IO[bytes], name: str) -> Iterator[Path]:
    """Write what was sent to a file with its ending, which is there meanwhile."""
    suffix = Path(name.replace("\0", "")).suffix
    plain = suffix[1:].isalnum() and suffix.isascii() and len(suffix) <= LONGEST_SUFFIX
    with NamedTemporaryFile(prefix="deepspeech-", suffix=suffix if plain else "") as copy:
        shutil.copyfileobj(file, copy)
        copy.flush()
        yield Path(copy.name)


def transcribed(
    model: Model, file: IO[bytes], name: str, longest_seconds: float
) -> Generator[tuple[float, float, Transcript], None, None]:
    """Yield each part of a recording: its start, its end, in seconds, and its transcript.

    Raise RefusedError for one that cannot be read, under the name that its sender gave it, or is too long.
    """
    rate = model.sampleRate()
    with on_disk(file, name) as path:
        try:
            blocks = _bounded(read_audio_blocks(path, rate), int(longest_seconds * rate), longest_seconds)
            for part in parts_of_blocks(blocks, rate):
                transcript = model.candidates(part.samples)[0]
                yield part.start, part.start + len(part.samples) / rate, transcript
        except AudioError as error:
            message = str(error).replace(str(path), name or "file")
            raise RefusedError(400, "invalid_audio", f"The recording cannot be read: {message}", "file") from error
        except ModelError as error:
            raise RefusedError(400, "refused", str(error)) from error


def _bounded(
    blocks: Iterator[npt.NDArray[np.float32]], most_samples: int, longest_seconds: float
) -> Iterator[npt.NDArray[np.float32]]:
    samples = 0
    for block in blocks:
        samples += len(block)
        if samples > most_samples:
            told = f"A recording may last {longest_seconds:g} seconds at most"
            raise RefusedError(413, "audio_too_long", told, "file")
        yield block
