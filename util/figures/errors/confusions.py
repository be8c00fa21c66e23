"""Confusions: the errors of each word or label, and the most frequently confused pairs."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

from .alignment import ErrorKinds, Kind, Step

EXAMPLES = 3
"""The number of utterances that are kept as examples of a confusion."""


@dataclass(frozen=True)
class Confusion:
    """An error and its count; `examples` are the numbers of the first utterances that have it."""

    reference: str | None
    """What was said; None for an insertion."""
    hypothesis: str | None
    """What was heard; None for a deletion."""
    count: int
    examples: tuple[int, ...]


@dataclass(frozen=True)
class ItemErrors:
    """The errors of one word or label."""

    item: str
    said: int = 0
    """Its count in the references."""
    substituted: int = 0
    """How often something else was heard in its place."""
    deleted: int = 0
    inserted: int = 0
    """How often it was heard where nothing was said."""

    @property
    def errors(self) -> int:
        """Its errors: its substitutions, deletions and insertions."""
        return self.substituted + self.deleted + self.inserted

    @property
    def rate(self) -> float:
        """Its errors per occurrence in the references; above 1 if it was often inserted."""
        return self.errors / max(self.said, 1)


@dataclass(frozen=True)
class ConfusionTable:
    """Counts of what was heard (columns) for what was said (rows)."""

    items: tuple[str, ...]
    """The first items of the rows and the columns."""
    counts: tuple[tuple[int, ...], ...]
    """Integers [items + 2][items + 2]: after the items come all others, then nothing, for insertions and deletions."""


class Confusions:
    """Collects the steps of alignments, either all of words or all of labels."""

    def __init__(self) -> None:
        self._pairs: Counter[tuple[str | None, str | None]] = Counter()
        self._examples: defaultdict[tuple[str | None, str | None], list[int]] = defaultdict(list)

    def add(self, number: int, steps: Sequence[Step]) -> None:
        """Count the alignment of the utterance of this number."""
        for step in steps:
            pair = (step.reference, step.hypothesis)
            self._pairs[pair] += 1
            if step.kind is not Kind.CORRECT:
                examples = self._examples[pair]
                if len(examples) < EXAMPLES and number not in examples:
                    examples.append(number)

    def kinds(self) -> ErrorKinds:
        """Return how many errors there are of each kind."""
        counts: Counter[Kind] = Counter()
        for pair, count in self._pairs.items():
            counts[Step(*pair).kind] += count
        return ErrorKinds(counts[Kind.SUBSTITUTION], counts[Kind.INSERTION], counts[Kind.DELETION])

    def most_frequent(self, count: int) -> list[Confusion]:
        """Return the `count` most frequent errors, the most frequent first."""
        wrong = [pair for pair in self._pairs if pair[0] != pair[1]]
        wrong.sort(key=lambda pair: (-self._pairs[pair], pair[0] or "", pair[1] or ""))
        return [Confusion(*pair, self._pairs[pair], tuple(self._examples[pair])) for pair in wrong[:count]]

    def by_item(self) -> list[ItemErrors]:
        """Return the errors of every item that was said or inserted, the one with the most errors first."""
        items: dict[str, ItemErrors] = {}
        for (said, heard), count in self._pairs.items():
            item = said if said is not None else heard
            assert item is not None
            counted = items.get(item, ItemErrors(item))
            if said is None:
                items[item] = replace(counted, inserted=counted.inserted + count)
                continue
            substituted = count if heard not in (None, said) else 0
            items[item] = replace(
                counted,
                said=counted.said + count,
                substituted=counted.substituted + substituted,
                deleted=counted.deleted + (count if heard is None else 0),
            )
        return sorted(items.values(), key=lambda each: (-each.errors, -each.said, each.item))

    def table(self, count: int) -> ConfusionTable:
        """Return the confusions among the `count` items with the most errors, in the order of their code points.

        An error counts for the item that was said and for the item that was heard.
        """
        involved: Counter[str] = Counter()
        for (said, heard), number in self._pairs.items():
            if said != heard:
                involved.update({item: number for item in (said, heard) if item is not None})
        items = tuple(sorted(sorted(involved, key=lambda item: (-involved[item], item))[:count]))
        places: dict[str | None, int] = {item: place for place, item in enumerate(items)}
        others, nothing = len(items), len(items) + 1
        places[None] = nothing
        counts = [[0] * (len(items) + 2) for _ in range(len(items) + 2)]
        for (said, heard), number in self._pairs.items():
            row, column = places.get(said, others), places.get(heard, others)
            if not row == column == others:
                counts[row][column] += number
        return ConfusionTable(items, tuple(map(tuple, counts)))
