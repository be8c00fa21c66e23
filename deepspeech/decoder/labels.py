"""The labels of transcripts, with their texts and their columns in the acoustic model's output."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

Spell = Callable[[str], Sequence[Sequence[int]]]
"""Maps a word to its spellings: labels whose texts join to the word, after a space if there are labels like " the".

A word without any spelling is left out of the vocabulary.
"""


@dataclass(frozen=True)
class OutputLabels:
    """The labels of transcripts, and the column of the posteriors that each label is read from."""

    texts: tuple[str | bytes, ...]
    columns: tuple[int, ...]
    """The column of each label. Two labels may have the same text or the same column, but not both."""
    column_count: int
    """The number of columns of the posteriors, without the blank's, which is the last."""

    @classmethod
    def one_each(cls, texts: Sequence[str | bytes]) -> OutputLabels:
        """Return labels that are the acoustic model's outputs in their order."""
        return cls(tuple(texts), tuple(range(len(texts))), len(texts))


Labels = Sequence[str | bytes] | OutputLabels


def output_labels(labels: Labels) -> OutputLabels:
    """Return the labels, each with a column of its own unless they have their columns already."""
    return labels if isinstance(labels, OutputLabels) else OutputLabels.one_each(labels)
