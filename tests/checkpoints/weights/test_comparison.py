"""The report on two models whose weights differ."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

from deepspeech.checkpoints.weights.comparison import differences
from deepspeech.checkpoints.weights.model_weights import LayerWeights, ModelWeights


def model(values: list[float], kind: Any = np.float32) -> ModelWeights:
    return ModelWeights("a", (LayerWeights("layer", {"weight": np.array(values, kind)}),), {})


@pytest.mark.parametrize(
    ("one", "other", "told"),
    [
        ([np.nan, np.inf, 1], [np.nan, np.inf, 2], "1 of 3 differ, by 1 at most, 0.3333 on average"),
        ([0.0, 3], [-0.0, 3], "1 of 2 differ, by 0 at most, 0 on average"),
        ([np.inf, 3], [4, 3], "1 of 2 differ, by inf at most, inf on average"),
        ([np.nan, np.nan], [-np.nan, 1], "2 of 2 differ, 2 of them by NaN"),
        ([np.nan, 1], [2, 1], "1 of 2 differ, 1 of them by NaN"),
        ([np.inf, 1, 1], [-np.nan, 2, 1], "2 of 3 differ, 1 of them by NaN, by 1 at most, 0.5 on average"),
        ([1.7e308], [-1.7e308], "1 of 1 differ, by inf at most, inf on average"),
    ],
)
def test_values_are_counted_that_differ_in_their_bits(one: list[float], other: list[float], told: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert list(differences(model(one, np.float64), model(other, np.float64))) == [f"weight: {told}"]
        assert list(differences(model(one, np.float64), model(one, np.float64))) == []


def test_labels_that_differ_are_told_and_also_if_only_their_order_does() -> None:
    one, other, more = (ModelWeights("a", (), {"alphabet": list(labels)}) for labels in ("abc", "acb", "abcd"))
    assert list(differences(one, other)) == ["labels: 3 | 3, the same, in another order"]
    assert list(differences(one, more)) == ["labels: 3 | 4, of which both have 3"]
    assert list(differences(one, one)) == []
