"""The order in which to check rows, by a model's figures."""

from __future__ import annotations

import numpy as np
import pytest

from deepspeech.util.checks.bad_rows.ranking import RowFigures, worst_first
from deepspeech.util.corpus import Utterance


def row(line: int, loss: float = 0.5, gap: float = 0.2, hypothesis: str = "one two") -> RowFigures:
    labels = np.zeros(7, np.int32)
    utterance = Utterance(f"{line}.wav", "one two", labels, 16000, 50, 32044, 0, "train.csv", line)
    return RowFigures(utterance, loss, gap, hypothesis)


def lines(rows: list[RowFigures]) -> list[int]:
    return [ranked.figures.utterance.line for ranked in worst_first(rows)]


def test_each_figure_brings_a_row_to_the_front_and_several_further() -> None:
    good = [row(line) for line in range(2, 12)]
    wrong = row(20, loss=9, hypothesis="three")
    assert lines([*good, row(21, gap=4.0), wrong])[:2] == [20, 21]
    assert lines([*good, row(22, hypothesis="one to")])[0] == 22
    assert lines([*good, row(23, loss=0.6)])[0] == 23
    suspicions = [ranked.suspicion for ranked in worst_first([*good, wrong])]
    assert suspicions == [pytest.approx(2 * np.log(11))] + [0.0] * 10


def test_usual_pauses_and_equal_rows_change_nothing() -> None:
    rows = [row(line, gap=0.1 + 0.02 * (line % 7)) for line in range(2, 30)]
    assert lines(rows) == list(range(2, 30))
    assert worst_first([]) == []
