"""The input of the `deepspeech` command: recordings, folders of them, or samples from a pipe."""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ..errors import AudioError, FlagError

EXTENSIONS = {".aif", ".aiff", ".au", ".caf", ".flac", ".mp3", ".ogg", ".opus", ".w64", ".wav"}
"""The extensions of the files in folders that are taken for recordings."""

PIPE = "-"
PIPE_BYTES = 1 << 14
"""Bytes read from a pipe at a time: half a second at 16 kHz."""


@dataclass(frozen=True)
class Recording:
    """A recording, or samples from standard input if `path` is None; `name` is where output for it goes."""

    path: Path | None
    name: Path

    def __str__(self) -> str:
        return PIPE if self.path is None else str(self.path)


def recordings(given: Sequence[str]) -> list[Recording]:
    """Return the recordings that files, folders and `-` stand for; raise AudioError for a folder without any."""
    found = []
    for text in given:
        path = Path(text)
        if text == PIPE:
            found.append(Recording(None, Path("stdin")))
        elif path.is_dir():
            inside = sorted(entry for entry in path.rglob("*") if entry.suffix.lower() in EXTENSIONS)
            if not inside:
                raise AudioError(f"{path}: holds no recordings; there are {', '.join(sorted(EXTENSIONS))}")
            found += [Recording(entry, entry.relative_to(path)) for entry in inside]
        else:
            found.append(Recording(path, Path(path.name)))
    if sum(recording.path is None for recording in found) > 1:
        raise FlagError("--audio: - can be given once")
    return found


def pcm_blocks() -> Iterator[npt.NDArray[np.int16]]:
    """Yield the samples of standard input, 16 bits and little-endian, as int16 [samples] while they come.

    A last odd byte is ignored. Raise AudioError if there are no samples, or they cannot be read.
    """
    left = b""
    empty = True
    while data := _read_pipe():
        data = left + data
        whole = len(data) - len(data) % 2
        left = data[whole:]
        if whole:
            empty = False
            yield np.frombuffer(data[:whole], "<i2").astype(np.int16)
    if empty:
        raise AudioError(f"{PIPE}: no samples")


def _read_pipe() -> bytes:
    """Return bytes of standard input as soon as there are any; none at its end."""
    if sys.stdin is None:
        raise AudioError(f"{PIPE}: standard input is closed")
    pipe = sys.stdin.buffer
    assert isinstance(pipe, BufferedReader)
    try:
        return pipe.read1(PIPE_BYTES)
    except OSError as error:
        raise AudioError(f"{PIPE}: cannot be read ({error.strerror})") from error
