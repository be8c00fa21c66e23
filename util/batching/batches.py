"""The batches of a corpus: which utterances are in each, epoch by epoch.

They depend only on the lengths of the utterances, the options and the epoch. So a batch's index means the same batch
to every worker of a cluster, and after every restart. All epochs have the same number of batches.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import accumulate, chain
from threading import Lock

BATCHES_MIXED = 8
"""The number of batches of similar length that exchange utterances when they are shuffled."""


@dataclass(frozen=True)
class Batching:
    """How a corpus is divided: into batches of `size` utterances or, if `frames` is not 0, of that many padded frames.

    With a `seed`, epochs from `ordered_epochs` on, counted from 0, are shuffled.
    """

    size: int
    frames: int = 0
    seed: int | None = None
    ordered_epochs: int = 1

    @property
    def in_words(self) -> str:
        """The options other than the size; empty for batches of `size` utterances in order."""
        parts = [f"of {self.frames} frames"] if self.frames else []
        if self.seed is not None:
            parts.append(f"shuffled by {self.seed} after {self.ordered_epochs}")
        return ", ".join(parts)


class Batches:
    """The batches of a corpus, given the number of frames of each utterance in the corpus's order.

    Any number of threads may use it at the same time.
    """

    def __init__(self, frames: Sequence[int], batching: Batching, windows: Sequence[int] = (0,)) -> None:
        """Divide the corpus. Neighbours should have similar lengths, as computing on padding is wasted.

        `windows` are the first utterances of the corpus's windows. No batch has utterances of two windows, and the
        batches of a window follow each other in every epoch.
        """
        self._size = len(frames)
        self._batching = batching
        ends = (*windows[1:], len(frames))
        self._windows = [[*_buckets(frames, batching, *bounds)] for bounds in zip(windows, ends, strict=True)]
        self._counts = [sum(-(-len(bucket) // size) for bucket, size in buckets) for buckets in self._windows]
        self._shuffled: tuple[int, list[Sequence[int]]] | None = None
        self._lock = Lock()
        self.count = sum(self._counts)

    @property
    def largest(self) -> int:
        """The most utterances of a batch."""
        return max((size for buckets in self._windows for _, size in buckets), default=self._batching.size)

    def batch(self, index: int, epoch: int = 0) -> Sequence[int]:
        """Return the utterances of a batch, as indices into the corpus; raise IndexError if there is no such batch."""
        if not 0 <= index < self.count:
            raise IndexError(f"no batch {index}: {self._size} utterances make {self.count}")
        return self.of_epoch(epoch)[index]

    def of_epoch(self, epoch: int) -> Sequence[Sequence[int]]:
        """Return all batches of an epoch, in order."""
        shuffles = self._shuffles(epoch)
        wanted = epoch if shuffles else -1
        with self._lock:  # an epoch begins with several batches at once
            kept = self._shuffled
            if kept is None or kept[0] != wanted:
                kept = self._shuffled = (wanted, self._shuffle(epoch) if shuffles else self._in_order())
        return kept[1]

    def index_of(self, utterance: int) -> int:
        """Return the index of the batch of the first epoch that holds an utterance, an index into the corpus."""
        return next(index for index, batch in enumerate(self.of_epoch(0)) if utterance in batch)

    def order(self, epoch: int) -> Iterator[int]:
        """Yield the utterances of an epoch, in order."""
        return chain.from_iterable(self.of_epoch(epoch))

    def starts(self, epoch: int) -> Sequence[int]:
        """Return the index of the first batch of each window in an epoch."""
        return tuple(accumulate((self._counts[window] for window in self._order_of_windows(epoch)[:-1]), initial=0))

    def _shuffles(self, epoch: int) -> bool:
        return self._batching.seed is not None and epoch >= self._batching.ordered_epochs

    def _order_of_windows(self, epoch: int) -> Sequence[int]:
        windows = range(len(self._windows))
        return self._sorted(epoch, "window", windows) if self._shuffles(epoch) else windows

    def _sorted(self, epoch: int, kind: str, numbers: Iterable[int], first: int = 0) -> list[int]:
        """Return numbers in the order that the seed gives for an epoch and a `kind` of number, from `first` on."""

        def drawn(number: int) -> bytes:
            text = f"{self._batching.seed}/{epoch}/{kind}/{first + number}"
            return blake2b(text.encode(), digest_size=8).digest()

        return sorted(numbers, key=drawn)

    def _in_order(self) -> list[Sequence[int]]:
        return [part for buckets in self._windows for bucket, size in buckets for part in _parts(bucket, size)]

    def _shuffle(self, epoch: int) -> list[Sequence[int]]:
        """Return the batches shuffled: utterances within buckets, batches within a window, and then the windows."""
        first = (0, *accumulate(self._counts))
        shuffled: list[Sequence[int]] = []
        for window in self._order_of_windows(epoch):
            mixed = ((self._sorted(epoch, "utterance", bucket), size) for bucket, size in self._windows[window])
            batches = [part for bucket, size in mixed for part in _parts(bucket, size)]
            order = self._sorted(epoch, "batch", range(len(batches)), first[window])
            shuffled += (batches[each] for each in order)
        return shuffled


def _parts(bucket: Sequence[int], size: int) -> Iterator[Sequence[int]]:
    return (bucket[begin : begin + size] for begin in range(0, len(bucket), size))


def _buckets(frames: Sequence[int], batching: Batching, begin: int, limit: int) -> Iterator[tuple[range, int]]:
    """Yield buckets, ranges of the corpus from `begin` to `limit`, each with the most utterances of its batches.

    A batch of frames holds as many utterances as would fit if all had the longest length in the bucket, at least one.
    """
    mixed = 1 if batching.seed is None else BATCHES_MIXED
    while begin < limit:
        if batching.frames:
            end, size = _bucket_of_frames(frames, range(begin, limit), batching.frames, mixed)
        else:
            end, size = min(begin + mixed * batching.size, limit), batching.size
        yield range(begin, end), size
        begin = end


def _bucket_of_frames(frames: Sequence[int], window: range, limit: int, mixed: int) -> tuple[int, int]:
    """Return the end of the first bucket in a window of the corpus, and the number of utterances in its batches."""
    begin = window.start
    end, longest = begin + 1, frames[begin]
    while end < window.stop:
        longest_then = max(longest, frames[end])
        if end - begin >= mixed * max(1, limit // max(longest_then, 1)):
            break
        end, longest = end + 1, longest_then
    return end, max(1, limit // max(longest, 1))
