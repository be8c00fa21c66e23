"""The input of the `deepspeech` command: recordings, folders of them, or a pipe."""

from argparse import ArgumentTypeError
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ..errors import AudioError, FlagError
from ..util.audio import channel_count, read_audio_blocks
from ..util.containers.endings import LISTED, is_recording
from ..util.files.folders import files_below
from .arguments import input_path
from .utterances.pipe import PIPE, Pipe

LISTS = (".csv", ".tsv", ".jsonl")
"""Endings of the names of lists of utterances."""


@dataclass(frozen=True)
class Recording:
    """A recording, or standard input if `path` is None; `name` is the path of its output in the output's folder."""

    path: Path | None
    name: Path
    pipe: Pipe | None = None

    def __str__(self) -> str:
        return PIPE if self.path is None else str(self.path)

    def blocks(self, rate: int, channel: int | None = None) -> Iterator[npt.NDArray[np.float32]]:
        """Return blocks of samples, at `rate` Hz, of a channel or the mean of all; reading them raises AudioError."""
        if self.path is None:
            assert self.pipe is not None
            return self.pipe.blocks(rate)
        return read_audio_blocks(self.path, rate, channel)

    def channels(self) -> Sequence[int | None]:
        """Return the channels of a file; only None if it cannot be read, which reading its blocks tells."""
        assert self.path is not None
        try:
            return range(channel_count(self.path))
        except AudioError:
            return [None]


def recordings(given: Sequence[str]) -> list[Recording]:
    """Return the recordings for files, folders and `-`.

    A folder stands for all recordings below it that are not hidden: macOS keeps metadata of `a.wav` in `._a.wav`.
    Raise AudioError for a folder without any, and FlagError for an empty path or an address.
    """
    found = []
    for text in given:
        try:
            path = input_path(text)
        except ArgumentTypeError as error:
            raise FlagError(f"--audio: {error}") from None
        if text == PIPE:
            found.append(Recording(None, Path("stdin"), Pipe()))
        elif path.is_dir():
            inside = sorted(each for each in files_below(path) if is_recording(each.name))
            if not inside:
                raise AudioError(f"{path}: holds no recordings; their names end in {LISTED}")
            found += [Recording(entry, entry.relative_to(path)) for entry in inside]
        elif path.suffix.lower() in LISTS and path.is_file():
            raise FlagError(
                f"--audio: {path} is a list, and not a recording; to compare a model with its transcripts, run "
                f"python -m deepspeech.evaluate --model MODEL --test_files {path}"
            )
        else:
            found.append(Recording(path, Path(path.name)))
    if sum(recording.path is None for recording in found) > 1:
        raise FlagError("--audio: - can be given once")
    return found
