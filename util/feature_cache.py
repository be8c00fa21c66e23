"""Features of a corpus in an HDF5 file, so that they are computed once, not in every epoch."""

from __future__ import annotations

import fcntl
import hashlib
import json
import logging
import os
import shutil
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import Any

import h5py
import numpy as np
import numpy.typing as npt

from .corpus import Corpus
from .errors import FeatureCacheError
from .features import FeatureOptions, Features, FrontEnd
from .feeding import OnTheFly
from .parallel import ordered_map, usable_cores
from .progress import Progress
from .storage.folders import try_to_send
from .storage.names_from_root import named_from_root

log = logging.getLogger(__name__)

FORMAT = "deepspeech feature cache 3"  # increase it, too, when features of a recording change, as by another decoder

CHECKED_AT_OPENING = 1 << 28
"""Caches with at most this many bytes of features are checked completely when opened, and rebuilt if damaged."""

_STORED = np.dtype("<f4")
_CHECKSUM = np.dtype("<u4")
_ROOM_FOR_METADATA = 1 << 16


def open_feature_cache(
    path: str | PathLike[str], corpus: Corpus, front_end: FrontEnd, *, progress: bool = True
) -> FeatureCache:
    """Open the cache at `path`; build it first if it is missing or was made from something else.

    A cache is made from the recordings (their names, sizes, modification times, parts and order) and the feature
    settings. One thread per core builds it beside `path` and moves it there when complete; a second process that wants
    the same cache waits for the first. Raise FeatureCacheError if it cannot be written, or if `path` is another kind of
    file, which is never overwritten; raise AudioError if a recording cannot be read.
    """
    path = Path(path)
    contents = _Contents.of(corpus, front_end.options)
    try:
        try:
            return _open_current(path, contents)
        except _OutdatedError:
            pass
        with _sole_writer(path) as partial:
            try:  # another process may have built it meanwhile
                return _open_current(path, contents)
            except _OutdatedError as outdated:
                reason = str(outdated)
            try:
                log.info("Building feature cache %s: %s", path, reason)
                _build(partial, contents, OnTheFly(corpus, front_end), f"Building {path}", progress)
            except KeyboardInterrupt:
                log.warning("%s: the feature cache is not finished; it is built anew the next time", path)
                raise
            partial.replace(path)
            try_to_send(path)
            return _open_current(path, contents)
    except (OSError, _OutdatedError) as error:
        raise FeatureCacheError(
            f"{path}: cannot write the feature cache: {_reason(error)}; name another file"
        ) from error


class FeatureCache:
    """The features of a corpus's utterances, read from disk on request. Any number of threads may use it."""

    def __init__(self, file: h5py.File, offsets: npt.NDArray[np.int64], corpus: Corpus) -> None:
        """Take an open file with the data sets `features`, float32 [frames, coefficients], and `checksums`.

        Utterance i has the rows `offsets[i]` to `offsets[i + 1]` and their CRC-32, `checksums[i]`, uint32 [utterances];
        `offsets` is int64 [utterances + 1].
        """
        self._file = file
        self._features = file["features"]
        self._checksums: list[int] = file["checksums"][:].tolist()
        self._offsets = offsets
        self._corpus = corpus
        self._checked = bytearray(len(self._checksums))

    def __enter__(self) -> FeatureCache:
        return self

    def __exit__(
        self, error_type: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def features(self, index: int, epoch: int = 0) -> Features:  # noqa: ARG002 - they are the same in every epoch
        """Return utterance `index`'s features, float32 [frames, coefficients].

        Raise FeatureCacheError if they cannot be read or, on the first read, differ from those that were written.
        """
        try:
            features: Features = self._features[self._offsets[index] : self._offsets[index + 1]]
        except OSError as error:
            raise FeatureCacheError(
                f"{self._file.filename}: cannot read the feature cache: {_one_line(error)} ({self._of(index)})"
            ) from error
        if not self._checked[index] and zlib.crc32(features.data) != self._checksums[index]:
            raise FeatureCacheError(
                f"{self._file.filename}: the feature cache is damaged: the features of utterance {index + 1} have "
                f"another checksum ({self._of(index)}); remove it; it is rebuilt"
            )
        self._checked[index] = True
        return features

    def _of(self, index: int) -> str:
        return f"{self._corpus[index].path}, {self._corpus[index].source}"

    def close(self) -> None:
        """Close the file; `features` must not be called afterwards."""
        self._file.close()


@dataclass(frozen=True, eq=False)
class _Contents:
    """What a cache is made from, and the places of its features."""

    corpus: Corpus
    corpus_digest: str
    settings: str
    offsets: npt.NDArray[np.int64]
    coefficients: int

    @classmethod
    def of(cls, corpus: Corpus, options: FeatureOptions) -> _Contents:
        digest = hashlib.sha256()
        for utterance in corpus:
            key = (named_from_root(utterance.path), utterance.file_size, utterance.modified_ns, utterance.frames)
            digest.update(json.dumps((*key, *(utterance.part or ()))).encode())
        frames = [utterance.frames for utterance in corpus]
        offsets = np.concatenate([[0], np.cumsum(frames, dtype=np.int64)])
        settings = json.dumps(options.of_front_end.to_json(), sort_keys=True)
        return cls(corpus, digest.hexdigest(), settings, offsets, options.coefficients)

    @property
    def attributes(self) -> dict[str, Any]:
        """The stored attributes, the one whose change explains most first."""
        return {
            "format": FORMAT,
            "settings": self.settings,
            "utterances": len(self.offsets) - 1,
            "corpus": self.corpus_digest,
        }

    @property
    def shape(self) -> tuple[int, int]:
        return int(self.offsets[-1]), self.coefficients


class _OutdatedError(Exception):
    """A cache must be built; the message says why."""


def _open_current(path: Path, contents: _Contents) -> FeatureCache:
    """Open a cache if it holds these contents; raise _OutdatedError if not, FeatureCacheError if it is not a cache."""
    if path.exists() and not path.is_file():
        raise FeatureCacheError(f"{path}: exists and is not a file; name another one")
    if not path.exists() or path.stat().st_size == 0:
        raise _OutdatedError("there is none yet")
    if not h5py.is_hdf5(path):
        raise FeatureCacheError(f"{path}: exists and is not a feature cache; remove it, or name another file")
    try:
        file = h5py.File(path, "r", locking=False)
        try:
            _compare(path, file, contents)
            cache = FeatureCache(file, contents.offsets, contents.corpus)
            _check_if_small(cache, contents)
        except BaseException:
            file.close()
            raise
    except (OSError, RuntimeError, KeyError, TypeError, ValueError) as error:  # of broken files
        raise _OutdatedError(f"the present one is damaged: {_one_line(error)}") from error
    return cache


def _compare(path: Path, file: h5py.File, contents: _Contents) -> None:
    wanted = contents.attributes
    found = {name: file.attrs.get(name) for name in wanted}
    if not str(found["format"]).startswith(FORMAT.rstrip("0123456789")):
        raise FeatureCacheError(f"{path}: an HDF5 file, but not a feature cache; remove it, or name another file")
    for name in ("format", "settings", "utterances"):
        if found[name] != wanted[name]:
            raise _OutdatedError(f"the {name} changed from {found[name]} to {wanted[name]}")
    if found["corpus"] != wanted["corpus"]:
        raise _OutdatedError("the recordings changed: other files, sizes, modification times or order")
    if file["features"].shape != contents.shape or file["checksums"].shape != (len(contents.offsets) - 1,):
        raise _OutdatedError("the present one is damaged: its features have another shape")


def _check_if_small(cache: FeatureCache, contents: _Contents) -> None:
    if contents.shape[0] * contents.shape[1] * _STORED.itemsize > CHECKED_AT_OPENING:
        return
    for index in range(len(contents.offsets) - 1):
        try:
            cache.features(index)
        except FeatureCacheError:
            raise _OutdatedError(
                f"the present one is damaged: the features of utterance {index + 1} have another checksum"
            ) from None


@contextmanager
def _sole_writer(path: Path) -> Iterator[Path]:
    """Yield the file to write a cache into before it is renamed to `path`, locked against other processes.

    The lock is on that file itself, so nothing is left behind. It is released when its process ends, even if killed.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(path.name + ".partial")
    while True:
        with partial.open("ab") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                log.info("Waiting for another process that builds the feature cache %s", path)
                fcntl.flock(lock, fcntl.LOCK_EX)
            if not _is_at(lock.fileno(), partial):
                continue  # the previous process has renamed or removed it
            try:
                yield partial
            finally:
                if _is_at(lock.fileno(), partial):
                    partial.unlink()
            return


def _is_at(file_descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(file_descriptor), path.stat())
    except FileNotFoundError:
        return False


def _build(partial: Path, contents: _Contents, source: OnTheFly, title: str, progress: bool) -> None:
    """Write a cache and flush it to the disk; raise OSError if that fails."""
    workers, utterances = usable_cores(), range(len(source.corpus))
    features_start, checksums_start = _lay_out(partial, contents)
    checksums = np.zeros(len(utterances), _CHECKSUM)
    shown = Progress(title, len(utterances), progress, unit="utterance", effort=source.corpus.effort)
    with partial.open("r+b") as file, shown as bar:
        file.seek(features_start)
        for index, features in enumerate(ordered_map(source.features, utterances, workers, ahead=8 * workers)):
            stored = np.ascontiguousarray(features, _STORED)
            checksums[index] = zlib.crc32(stored.data)
            file.write(stored.data)
            bar.advance()
        file.seek(checksums_start)
        file.write(checksums.data)
        file.flush()
        os.fsync(file.fileno())


def _lay_out(partial: Path, contents: _Contents) -> tuple[int, int]:
    """Write an HDF5 file without its features and checksums, and return the positions of these in bytes.

    HDF5 (1.14) crashes the process when a write fails. So the space for its few writes is reserved first, and the
    features and checksums are written without HDF5.
    """
    utterances = len(contents.offsets) - 1
    features_size = contents.shape[0] * contents.shape[1] * _STORED.itemsize
    needed = features_size + utterances * _CHECKSUM.itemsize + _ROOM_FOR_METADATA
    free = shutil.disk_usage(partial.parent).free
    if free < needed:
        raise OSError(f"it takes {needed / 1e6:,.1f} MB and there are {free / 1e6:,.1f} MB left on the disk")
    os.truncate(partial, needed)  # fails if the file system does not allow files of this size
    layout = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    layout.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
    layout.set_fill_time(h5py.h5d.FILL_TIME_NEVER)
    with h5py.File(partial, "w", locking=False) as file:
        features = file.create_dataset("features", contents.shape, _STORED, dcpl=layout)
        checksums = file.create_dataset("checksums", (utterances,), _CHECKSUM, dcpl=layout)
        file.attrs.update(contents.attributes)
        return features.id.get_offset(), checksums.id.get_offset()


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or _one_line(error)


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())  # HDF5's messages have line breaks
