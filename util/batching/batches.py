"""The batches of a corpus: which utterances are in each, epoch for epoch.

They follow from the lengths of the utterances, the options and the epoch alone, so that every worker of a cluster and
every start of a run means the same batch by its index. An epoch has as many batches as any other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import chain

BATCHES_MIXED = 8
"""The number of batches of neighbours in length whose utterances are shuffled among them."""


@dataclass(frozen=True)
class Batching:
    """How a corpus is cut: into batches of `size` utterances or, if it is not 0, of `frames` with padding.

    With a `seed`, epochs from `ordered_epochs` on, counted from 0, are shuffled.
    """

    size: int
    frames: int = 0
    seed: int | None = None
    ordered_epochs: int = 1

    @property
    def in_words(self) -> str:
        """What it is beside the size; empty for batches of `size` utterances in order."""
        parts = [f"of {self.frames} frames"] if self.frames else []
        if self.seed is not None:
            parts.append(f"shuffled by {self.seed} after {self.ordered_epochs}")
        return ", ".join(parts)


class Batches:
    """The batches of a corpus whose utterances have these numbers of frames, in the corpus's order."""

    def __init__(self, frames: Sequence[int], batching: Batching) -> None:
        """Cut the corpus. Neighbours should be alike in length, as padding is what is computed for nothing."""
        self._size = len(frames)
        self._batching = batching
        self._buckets = list(_buckets(frames, batching))
        self._shuffled: tuple[int, list[Sequence[int]]] | None = None
        self.count = sum(-(-len(bucket) // size) for bucket, size in self._buckets)

    @property
    def largest(self) -> int:
        """How many utterances a batch has at most."""
        return max((size for _, size in self._buckets), default=self._batching.size)

    def batch(self, index: int, epoch: int = 0) -> Sequence[int]:
        """Return the utterances of a batch, as indices into the corpus; raise IndexError if there is no such batch."""
        if not 0 <= index < self.count:
            raise IndexError(f"no batch {index}: {self._size} utterances make {self.count}")
        return self.of_epoch(epoch)[index]

    def of_epoch(self, epoch: int) -> Sequence[Sequence[int]]:
        """Return all batches of an epoch, in order."""
        batching = self._batching
        shuffles = batching.seed is not None and epoch >= batching.ordered_epochs
        wanted = epoch if shuffles else -1
        kept = self._shuffled
        if kept is None or kept[0] != wanted:
            kept = self._shuffled = (wanted, self._shuffle(epoch) if shuffles else self._in_order())
        return kept[1]

    def index_of(self, utterance: int, epoch: int = 0) -> int:
        """Return the index of the batch that holds an utterance, an index into the corpus, in an epoch."""
        return next(index for index, batch in enumerate(self.of_epoch(epoch)) if utterance in batch)

    def order(self, epoch: int) -> Iterator[int]:
        """Yield the utterances of an epoch, in order."""
        return chain.from_iterable(self.of_epoch(epoch))

    def _in_order(self) -> list[Sequence[int]]:
        return [part for bucket, size in self._buckets for part in _parts(bucket, size)]

    def _shuffle(self, epoch: int) -> list[Sequence[int]]:
        """Return the batches shuffled: utterances in their buckets, then the batches of all buckets."""

        def drawn(kind: str, number: int) -> bytes:
            return blake2b(f"{self._batching.seed}/{epoch}/{kind}/{number}".encode(), digest_size=8).digest()

        mixed = ((sorted(bucket, key=lambda each: drawn("utterance", each)), size) for bucket, size in self._buckets)
        batches = [part for bucket, size in mixed for part in _parts(bucket, size)]
        return [batches[index] for index in sorted(range(len(batches)), key=lambda each: drawn("batch", each))]


def _parts(bucket: Sequence[int], size: int) -> Iterator[Sequence[int]]:
    return (bucket[begin : begin + size] for begin in range(0, len(bucket), size))


def _buckets(frames: Sequence[int], batching: Batching) -> Iterator[tuple[range, int]]:
    """Yield ranges of the corpus, and how many utterances a batch of each has at most.

    A batch of frames holds as many utterances as fit if all were as long as the longest of its bucket, at least one.
    """
    mixed = 1 if batching.seed is None else BATCHES_MIXED
    begin = 0
    while begin < len(frames):
        if batching.frames:
            end, size = _bucket_of_frames(frames, begin, batching.frames, mixed)
        else:
            end, size = min(begin + mixed * batching.size, len(frames)), batching.size
        yield range(begin, end), size
        begin = end


def _bucket_of_frames(frames: Sequence[int], begin: int, limit: int, mixed: int) -> tuple[int, int]:
    """Return the end of the bucket that begins at `begin`, and the utterances of its batches."""
    end, longest = begin + 1, frames[begin]
    while end < len(frames):
        longest_then = max(longest, frames[end])
        if end - begin >= mixed * max(1, limit // max(longest_then, 1)):
            break
        end, longest = end + 1, longest_then
    return end, max(1, limit // max(longest, 1))
