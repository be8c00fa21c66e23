"""Recordings that are mixed into utterances, such as noise, and the impulse responses of rooms."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from threading import Lock
from typing import NamedTuple

from ..audio import Samples, read_audio
from ..containers.endings import LISTED, is_recording
from ..corpus_files.csv_files import recordings_in
from ..errors import CorpusError, FlagError
from ..files.folders import files_below
from ..files.user_paths import user_path
from ..parts import Part

MEMORY = 1 << 28
"""The most bytes of decoded recordings that stay in memory."""


class Recording(NamedTuple):
    """An audio file, or a part of one."""

    path: Path
    part: Part | None = None
    """None: all of it."""


def recordings_of(source: str) -> tuple[Recording, ...]:
    """Return the audio files of a source: the file itself, those below a folder, or those of a CSV.

    Files of a folder are sorted by path; hidden files and folders are skipped. Files of a CSV are in its order; paths
    are relative to its folder, and its rows may be parts of recordings. Raise FlagError if there are no files.
    """
    path = user_path(source)
    if path.is_dir():
        files = (each for each in files_below(path) if is_recording(each.name))
        found = [Recording(file) for file in sorted(files) if file.is_file()]
    elif path.suffix.lower() == ".csv":
        found = _listed(path)
    else:
        found = [Recording(path)] if path.is_file() else []
    if path.suffix.lower() in (".sdb", ".tar"):
        raise FlagError(f"source={source}: archives are not read here; unpack it, and name the folder")
    if not found:
        known = f"no audio files ({LISTED}) are there" if path.exists() else "there is no such file or folder"
        raise FlagError(f"source={source}: {known}")
    return tuple(found)


class Recordings:
    """Recordings at one rate; as many as fit into MEMORY are decoded only once. Threads may share them."""

    def __init__(self, sample_rate: int, sources: Mapping[str, tuple[Recording, ...]] | None = None) -> None:
        """Take the known audio files of `sources`, as `checked_sources` returns them."""
        self._sample_rate = sample_rate
        self._room = MEMORY
        self._of_sources = dict(sources or {})
        self._decoded: dict[Recording | int, Samples] = {}
        self._lock = Lock()
        """Held while a recording takes its share of the room."""
        self._made: dict[str, Samples] = {}

    def made(self, name: str, make: Callable[[], Samples]) -> Samples:
        """Return the recording of this name, made by `make` on the first request, float32 [samples].

        `make` must return the same samples each time, as two threads may call it at once.
        """
        if name not in self._made:
            self._made[name] = make()
        return self._made[name]

    def of(self, source: str) -> tuple[Recording, ...]:
        """Return the audio files of a source, as of the first request; raise FlagError."""
        if source not in self._of_sources:
            self._of_sources[source] = recordings_of(source)
        return self._of_sources[source]

    def read(self, recording: Recording) -> Samples:
        """Return a recording, float32 [samples], which the caller must not change. Raise AudioError."""
        return self.decoded(recording, lambda: read_audio(recording.path, self._sample_rate, recording.part))

    def decoded(self, name: Recording | int, decode: Callable[[], Samples]) -> Samples:
        """Return the result of `decode`, float32 [samples], or the kept result of an earlier call with this name."""
        known = self._decoded.get(name)
        if known is not None:
            return known
        samples = decode()
        samples.flags.writeable = False
        with self._lock:  # another thread may have decoded it, too
            if name not in self._decoded and samples.nbytes <= self._room:
                self._room -= samples.nbytes
                self._decoded[name] = samples
        return samples


def _listed(path: Path) -> list[Recording]:
    try:
        return [Recording(Path(recording), part) for recording, part in recordings_in(path)]
    except CorpusError as error:
        raise FlagError(f"source={error}") from error
