"""The labels of transcripts, with their texts and their columns in the acoustic model's output."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
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

    @classmethod
    def of_readings(cls, readings: Mapping[str, Sequence[str]], units: Sequence[str]) -> OutputLabels:
        """Return a label for each reading of each character; `units` are the acoustic model's outputs in their order.

        `readings` maps, say, "行" to ("xing2", "hang2"). Readings that are not in `units` are left out.
        """
        column_of = {unit: column for column, unit in enumerate(units)}
        pairs = [
            (text, column_of[unit]) for text, units_of in readings.items() for unit in units_of if unit in column_of
        ]
        return cls(tuple(text for text, _ in pairs), tuple(column for _, column in pairs), len(units))


Labels = Sequence[str | bytes] | OutputLabels


def output_labels(labels: Labels) -> OutputLabels:
    """Return the labels, each with a column of its own unless they have their columns already."""
    return labels if isinstance(labels, OutputLabels) else OutputLabels.one_each(labels)
