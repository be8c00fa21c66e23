"""Batches of utterances, prepared by threads while the model works on earlier ones."""

from __future__ import annotations

import logging
from collections.abc import Callable, Generator, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from .audio import Samples, read_audio
from .batching.batches import Batches, Batching
from .batching.lengths import longest_of_batch
from .corpus import Corpus, Utterance
from .errors import AudioError, AugmentationError, FeatureCacheError, StorageError
from .features import Features, FrontEnd
from .frames.stacking import UNSTACKED, Stacking
from .parallel import ordered_map, usable_cores

log = logging.getLogger(__name__)

LABEL_PADDING = -1

UNREADABLE = (AudioError, FeatureCacheError, StorageError)
"""The errors for an utterance that was checked but can no longer be read."""

Scalar = TypeVar("Scalar", bound=np.generic)


class FeatureSource(Protocol):
    """Supplies a corpus's features. Any number of threads may use it at the same time."""

    def features(self, index: int, epoch: int = 0) -> Features:
        """Return utterance `index`'s features in an epoch, counted from 0, float32 [frames, coefficients]."""


@dataclass(frozen=True)
class OnTheFly:
    """Features computed from the recordings on each request."""

    corpus: Corpus
    front_end: FrontEnd

    def features(self, index: int, epoch: int = 0) -> Features:  # noqa: ARG002 - they are the same in every epoch
        """Return utterance `index`'s features, float32 [frames, coefficients].

        Raise AudioError if its recording cannot be read or has changed since the corpus was read, StorageError if the
        store of the recording fails.
        """
        return self.front_end.extract(self.samples(index))

    def samples(self, index: int) -> Samples:
        """Return utterance `index`'s samples, float32 [samples]. Raise what `features` raises."""
        utterance = self.corpus[index]
        try:
            samples = read_audio(utterance.path, self.front_end.options.sample_rate, utterance.part)
        except (AudioError, StorageError) as error:
            raise type(error)(f"{error} ({utterance.source})") from error
        frames = self.front_end.frame_count(len(samples))
        if frames != utterance.frames:
            raise AudioError(
                f"{utterance.path}: {frames} frames where there were {utterance.frames} when the corpus was"
                f" checked ({utterance.source}); recordings must not change during a run"
            )
        return samples


@dataclass(frozen=True, eq=False)
class Batch:
    """B utterances padded to T frames, the length of the longest or a little more, with L labels.

    If unreadable utterances are left out, B can be 0; T and L are then 0, too.
    """

    indices: Sequence[int]
    """Indices into the corpus, including those of utterances that were left out."""
    utterances: Sequence[Utterance]
    features: Features
    """float32 [B, T, coefficients], padded with zeros."""
    lengths: npt.NDArray[np.int32]
    """int32 [B], in frames of the network's input."""
    labels: npt.NDArray[np.int32]
    """int32 [B, L], padded with LABEL_PADDING."""


Mapped = Callable[[Callable[[int], Features | None], Sequence[int]], Iterable[Features | None]]
"""Returns the results of a function for some utterances, in order."""


class Feeder:
    """Makes a corpus's batches."""

    def __init__(
        self,
        corpus: Corpus,
        source: FeatureSource,
        batching: Batching,
        threads: int = 0,
        prefetch: int = 4,
        *,
        skip_unreadable: bool = False,
        stacking: Stacking = UNSTACKED,
        padded_length: Callable[[int], int] = longest_of_batch,
    ) -> None:
        """Let `threads` (0: one per core) work on the utterances of up to `prefetch` batches after the current one.

        With `skip_unreadable`, utterances that can no longer be read are left out, with a warning for each. If their
        store fails, or a recording to mix in cannot be read, the error is raised all the same.
        `stacking` is applied to the source's frames last. `padded_length` returns the padded length of a batch, in
        stacked frames, given the length of its longest utterance.
        """
        self._skip_unreadable = skip_unreadable
        self._stacking = stacking
        self._padded_length = padded_length
        self._unreadable: set[int] = set()
        self._warned: set[int] = set()
        self._corpus = corpus
        self._source = source
        frames = [utterance.frames for utterance in corpus]
        self.cut = Batches(frames, batching, corpus.windows)
        self._threads = threads or usable_cores()
        self._prefetch = prefetch

    def __len__(self) -> int:
        return self.cut.count

    def batches(self, batch_indices: Iterable[int], epoch: int = 0) -> Generator[Batch, None, None]:
        """Yield the requested batches of an epoch, in that order. The indices are read `prefetch` batches ahead.

        An error of the feature source is raised at its batch's turn; if unreadable utterances are left out, only when
        none remains. Close the iterator to stop early.
        """
        pool = ThreadPoolExecutor(self._threads, thread_name_prefix="features")
        batch_of = partial(self._batch, epoch=epoch, mapped=pool.map)
        batches = ordered_map(batch_of, batch_indices, self._prefetch + 1, self._prefetch)
        try:
            for batch in batches:  # noqa: UP028 - `yield from` would close `batches` before utterances are cancelled
                yield batch
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
            batches.close()
            pool.shutdown()

    def batch(self, index: int, epoch: int = 0) -> Batch:
        """Return one batch of an epoch, made on the calling thread; raise IndexError if there is no such batch."""
        return self._batch(index, epoch, map)

    def _batch(self, index: int, epoch: int, mapped: Mapped) -> Batch:
        indices = self.cut.batch(index, epoch)
        features = mapped(partial(self._features, epoch=epoch), indices)
        readable = {index: of_one for index, of_one in zip(indices, features, strict=True) if of_one is not None}
        utterances = [self._corpus[index] for index in readable]
        stacked = [self._stacking(features) for features in readable.values()]
        return Batch(
            indices,
            utterances,
            features=_padded(stacked, 0, self._padded_length),
            lengths=np.array([len(features) for features in stacked], np.int32),
            labels=_padded([utterance.labels for utterance in utterances], LABEL_PADDING),
        )

    def _features(self, index: int, epoch: int) -> Features | None:
        """Return an utterance's features, or None to leave it out."""
        try:
            features = self._source.features(index, epoch)
        except AugmentationError:  # no fault of the utterance's
            raise
        except UNREADABLE as error:
            self._unreadable.add(index)
            skips = self._skip_unreadable and not isinstance(error, StorageError)
            if not skips or len(self._unreadable) == len(self._corpus):
                raise
            if index not in self._warned:
                self._warned.add(index)
                log.warning("Left out: %s", error)
            return None
        self._unreadable.discard(index)
        return features


def _padded(
    arrays: Sequence[npt.NDArray[Scalar]], padding: int, padded_length: Callable[[int], int] = longest_of_batch
) -> npt.NDArray[Scalar]:
    """Stack arrays [length, ...] of different lengths into one [arrays, padded length, ...]."""
    if not arrays:
        return np.zeros((0, 0), np.float32)
    length = padded_length(max(map(len, arrays)))
    stacked = np.full((len(arrays), length, *arrays[0].shape[1:]), padding, arrays[0].dtype)
    for row, array in zip(stacked, arrays, strict=True):
        row[: len(array)] = array
    return stacked
