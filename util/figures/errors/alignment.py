"""The alignment of the words of a hypothesis with those of the reference."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum

from ..counted import counted


class Kind(str, Enum):
    """The kind of a step of an alignment."""

    CORRECT = "correct"
    SUBSTITUTION = "substitution"
    INSERTION = "insertion"
    DELETION = "deletion"


@dataclass(frozen=True, slots=True)
class Step:
    """A step of an alignment: the word or label that was said, and the one that was heard; None if there is none.

    At most one of them is None.
    """

    reference: str | None
    hypothesis: str | None

    @property
    def kind(self) -> Kind:
        """The kind of this step."""
        if self.reference is None:
            return Kind.INSERTION
        if self.hypothesis is None:
            return Kind.DELETION
        return Kind.CORRECT if self.reference == self.hypothesis else Kind.SUBSTITUTION


@dataclass(frozen=True)
class ErrorKinds:
    """The number of errors of each kind; their sum is the edits of an error rate."""

    substitutions: int = 0
    insertions: int = 0
    deletions: int = 0

    @property
    def total(self) -> int:
        """The number of errors."""
        return self.substitutions + self.insertions + self.deletions

    @property
    def in_words(self) -> str:
        """The numbers with their kinds, as in "1 substitution, 0 insertions, 2 deletions"."""
        of_each = (self.substitutions, "substitution"), (self.insertions, "insertion"), (self.deletions, "deletion")
        return ", ".join(counted(*each) for each in of_each)


def align(reference: Sequence[str], hypothesis: Sequence[str]) -> tuple[Step, ...]:
    """Return an alignment with the fewest errors; `reference` and `hypothesis` are words, or a string's characters.

    If there are several, it is the one of `rapidfuzz.distance.Levenshtein.opcodes`, as in `jiwer`.
    """
    from rapidfuzz.distance import Levenshtein

    steps: list[Step] = []
    for operation in Levenshtein.opcodes(reference, hypothesis):
        said = reference[operation.src_start : operation.src_end]
        heard = hypothesis[operation.dest_start : operation.dest_end]
        if operation.tag == "insert":
            steps += [Step(None, item) for item in heard]
        elif operation.tag == "delete":
            steps += [Step(item, None) for item in said]
        else:
            steps += [Step(*pair) for pair in zip(said, heard, strict=True)]
    return tuple(steps)


def error_kinds(steps: Iterable[Step]) -> ErrorKinds:
    """Return how many errors of each kind an alignment has."""
    kinds = [step.kind for step in steps]
    return ErrorKinds(kinds.count(Kind.SUBSTITUTION), kinds.count(Kind.INSERTION), kinds.count(Kind.DELETION))
