"""An uploaded recording: decoded and transcribed part by part, on a thread."""

from __future__ import annotations

import logging
import shutil
import tempfile
from collections.abc import Generator, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO

import numpy as np
import numpy.typing as npt

from ....errors import AudioError
from ....util.audio import read_audio_blocks, seconds_by_header
from ....util.containers.ffmpeg import PROGRAM, container_of
from ....util.figures.counted import counted
from ...api import Model
from ...long_audio import parts_of_blocks
from ...transcripts import Transcript
from ..errors import RefusedError

logger = logging.getLogger(__name__)

LONGEST_SUFFIX = 8

KEYWORD_BOOST = 5.0
"""The boost of a keyword, a natural logarithm; the page's hot words have the same default."""

FORMATS = "WAV, FLAC, Ogg or MP3"
"""The formats that are read without ffmpeg."""


def no_storage(error: OSError) -> RefusedError:
    """Log that recordings cannot be written to the temporary folder; return the error for the client."""
    where, why = tempfile.tempdir or "TMPDIR", error.strerror or error
    logger.error("%s: recordings cannot be stored there (%s); make room, or let TMPDIR name another folder", where, why)
    return RefusedError(507, "no_storage", "The server cannot store the recording, as its temporary folder takes none")


class StoredRecordings:
    """The uploads that are on disk, each while it is transcribed."""

    def __init__(self) -> None:
        self._paths: set[Path] = set()

    @contextmanager
    def on_disk(self, file: IO[bytes], name: str) -> Iterator[Path]:
        """Keep an upload in a file, with its extension, within the context; raise RefusedError if it cannot be."""
        suffix = Path(name.replace("\0", "")).suffix
        plain = suffix[1:].isalnum() and suffix.isascii() and len(suffix) <= LONGEST_SUFFIX
        try:
            path, stored = self._copied(file, suffix if plain else "")
        except OSError as error:
            raise no_storage(error) from error
        with stored:
            yield path

    def remove(self) -> None:
        """Remove the recordings of transcriptions that are still running when the process ends."""
        for path in tuple(self._paths):
            self._remove(path)

    def _copied(self, file: IO[bytes], suffix: str) -> tuple[Path, ExitStack]:
        with ExitStack() as unless_copied:
            made = tempfile.NamedTemporaryFile(prefix="deepspeech-", suffix=suffix, delete=False)  # noqa: SIM115
            copy = unless_copied.enter_context(made)
            path = Path(copy.name)
            self._paths.add(path)
            unless_copied.callback(self._remove, path)
            shutil.copyfileobj(file, copy)
            copy.flush()
            return path, unless_copied.pop_all()

    def _remove(self, path: Path) -> None:
        path.unlink(missing_ok=True)
        self._paths.discard(path)


def transcribed(
    model: Model,
    stored: StoredRecordings,
    file: IO[bytes],
    name: str,
    longest_seconds: float,
    keywords: Iterable[str] = (),
) -> Generator[tuple[float, float, Transcript], None, None]:
    """Yield each part of a recording: its start and its end, in seconds, and its transcript.

    `keywords` are hot words in place of the model's; they need a language model. Raise RefusedError for a recording
    that is too long, or cannot be read; the message calls it by the name that the client gave it.
    """
    rate, hot_words = model.sampleRate(), dict.fromkeys(keywords, KEYWORD_BOOST) or None
    with stored.on_disk(file, name) as path:
        try:
            if (seconds_by_header(path) or 0) > longest_seconds:  # before any part is transcribed
                raise _too_long(longest_seconds)
            blocks = _bounded(read_audio_blocks(path, rate), int(longest_seconds * rate), longest_seconds)
            for part in parts_of_blocks(blocks, rate):
                recognition = model.recognition(hot_words=hot_words, tell_ignored=lambda _: None)
                recognition.feed(part.samples)
                (transcript,) = recognition.finish_transcripts()
                yield part.start, part.start + len(part.samples) / rate, transcript
        except AudioError as error:
            raise RefusedError(400, "invalid_audio", _unreadable(path, name or "file", error), "file") from error


def _unreadable(path: Path, name: str, error: AudioError) -> str:
    """Return why a recording cannot be read, without paths and programs of the server's machine."""
    container = container_of(path)
    if container is not None and shutil.which(PROGRAM) is None:
        return f"This server cannot decode {container}; send the recording as {FORMATS}"
    return f"The recording cannot be read: {str(error).replace(str(path), name)}"


def _bounded(
    blocks: Iterator[npt.NDArray[np.float32]], most_samples: int, longest_seconds: float
) -> Iterator[npt.NDArray[np.float32]]:
    samples = 0
    for block in blocks:
        samples += len(block)
        if samples > most_samples:
            raise _too_long(longest_seconds)
        yield block


def _too_long(longest_seconds: float) -> RefusedError:
    return RefusedError(
        413, "audio_too_long", f"A recording may last at most {counted(longest_seconds, 'second')}", "file"
    )
