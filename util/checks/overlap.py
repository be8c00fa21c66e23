"""Recordings that two corpora share: then figures on one say little about recordings that were not trained on."""

from __future__ import annotations

import zlib
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import FileIO
from itertools import accumulate
from pathlib import Path

from ..corpus import Corpus, Utterance
from ..errors import StorageError
from ..figures.counted import counted
from ..files.opening import opened
from ..parts import WHOLE, Part
from ..shards.members import member_of

MOST_READ = 20_000
"""The most recordings of which a piece is read; with more candidates, some copies are not found."""

_PIECE = 4096
"""Bytes from the middle of a recording that are checked before possible copies are compared completely."""

_BLOCK = 1 << 20
"""Bytes of recordings that are compared at once."""


@dataclass(frozen=True)
class Overlap:
    """How many utterances of a corpus are also in another, and one of them, there and here."""

    count: int
    there: Utterance
    here: Utterance

    def __str__(self) -> str:
        """Return it in words, with the example."""
        there, here = self.there.place, self.here.place
        named = here if here == there else f"{there} and {here}"
        return f"{counted(self.count, 'recording')} (such as {named}, {self.there.source} and {self.here.source})"


def overlap(there: Corpus, here: Corpus) -> Overlap | None:
    """Return the recordings of `here` that are also in `there`: the same files, or copies with the same transcript.

    Two parts of a recording are the same if they share more than half of the shorter one.
    Files are opened only if size and transcript are the same, and no more than MOST_READ.
    """
    shared: dict[int, tuple[Utterance, Utterance]] = {}
    for one, other in _same_files(there, here):
        shared.setdefault(id(other), (one, other))
    for one, other in _copies(there, [each for each in here if id(each) not in shared]):
        shared.setdefault(id(other), (one, other))
    return Overlap(len(shared), *next(iter(shared.values()))) if shared else None


def _same_files(there: Iterable[Utterance], here: Iterable[Utterance]) -> Iterator[tuple[Utterance, Utterance]]:
    for ones, others in _grouped(there, here, lambda each: (each.file_size, each.modified_ns)):
        of_recording = _by_key(ones, lambda each: Path(each.path).resolve())
        recordings = {path: _OneRecording(utterances) for path, utterances in of_recording.items()}
        for other in others:
            recording = recordings.get(Path(other.path).resolve())
            if recording is not None and (one := recording.find(_part(other))) is not None:
                yield one, other


class _OneRecording:
    """The utterances of one recording, by where they begin."""

    def __init__(self, utterances: Iterable[Utterance]) -> None:
        self._utterances = sorted(utterances, key=_part)
        self._starts = [_part(each).start for each in self._utterances]
        self._furthest = list(accumulate((_part(each).end for each in self._utterances), max))

    def find(self, part: Part) -> Utterance | None:
        """Return an utterance that shares most of a part, if there is one."""
        place = bisect_left(self._starts, part.end)
        while place and self._furthest[place - 1] > part.start:
            place -= 1
            if _part(self._utterances[place]).shares_most(part):
                return self._utterances[place]
        return None


def _part(utterance: Utterance) -> Part:
    return utterance.part or WHOLE


def _copies(there: Iterable[Utterance], here: Iterable[Utterance]) -> Iterator[tuple[Utterance, Utterance]]:
    read = 0
    for ones, others in _grouped(there, here, lambda each: (each.file_size, each.transcript, each.part)):
        read += len(ones) + len(others)
        if read > MOST_READ:
            return
        pieces = defaultdict(list)
        for one in ones:
            pieces[_piece(one)].append(one)
        for other in others:
            for one in pieces.get(_piece(other), ()):
                if _equal(one, other):
                    yield one, other
                    break


def _grouped(
    there: Iterable[Utterance], here: Iterable[Utterance], key: Callable[[Utterance], Hashable]
) -> Iterator[tuple[Sequence[Utterance], Sequence[Utterance]]]:
    """Yield the utterances of both corpora for each key that both have."""
    others = _by_key(here, key)
    ones = _by_key((each for each in there if key(each) in others), key)
    for each, group in others.items():
        if each in ones:
            yield ones[each], group


def _by_key(
    utterances: Iterable[Utterance], key: Callable[[Utterance], Hashable]
) -> Mapping[Hashable, Sequence[Utterance]]:
    groups = defaultdict(list)
    for utterance in utterances:
        groups[key(utterance)].append(utterance)
    return groups


def _piece(utterance: Utterance) -> int | None:
    """Return a checksum of bytes from the middle of a recording; None if it cannot be read."""
    try:
        with _opened(utterance) as file:
            file.seek(utterance.file_size // 2)
            return zlib.crc32(file.read(_PIECE))
    except (OSError, StorageError):
        return None


def _equal(one: Utterance, other: Utterance) -> bool:
    try:
        with _opened(one) as first, _opened(other) as second:
            while (block := first.read(_BLOCK)) == second.read(_BLOCK):
                if not block:
                    return True
        return False
    except (OSError, StorageError):
        return False


def _opened(utterance: Utterance) -> FileIO:
    """Return a recording, also from a shard, open for reading; raise OSError if it would have to be fetched."""
    path = Path(utterance.path)
    shard, _ = member_of(path) or (path, "")
    if not shard.exists():
        raise FileNotFoundError(shard)
    return opened(path)
