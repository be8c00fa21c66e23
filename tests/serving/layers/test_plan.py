"""Layers that are computed in one native call return the same as one after the other."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from deepspeech.network.description import LSTM, Dense, FeedForward, LayerNormalization, Projection, SelfAttention
from deepspeech.serving.layers.attention import FeedForwardLayer, SelfAttentionLayer
from deepspeech.serving.layers.layer import Array, Batch, EngineLayer
from deepspeech.serving.layers.lstm import LSTMLayer
from deepspeech.serving.layers.normalization import LayerNormalizationLayer
from deepspeech.serving.layers.plan import Planned, PlannedLayer, SoftmaxLayer, in_plans
from deepspeech.serving.layers.precision import Precision
from deepspeech.serving.layers.products import DenseLayer

INPUTS, WIDE, UNITS, LABELS = 75, 130, 40, 29
RANDOM = np.random.default_rng(5)


def floats(*shape: int) -> Array:
    return RANDOM.normal(0, 0.3, shape).astype(np.float32)


WEIGHTS = {
    "first/weights": floats(INPUTS, WIDE),
    "first/bias": floats(WIDE),
    "lstm/kernel": floats(WIDE + UNITS, 4 * UNITS),
    "lstm/bias": floats(4 * UNITS),
    "normalization/scale": floats(UNITS),
    "normalization/offset": floats(UNITS),
    "feed_forward/normalization/scale": floats(UNITS),
    "feed_forward/normalization/offset": floats(UNITS),
    "feed_forward/inner/weights": floats(UNITS, WIDE),
    "feed_forward/inner/bias": floats(WIDE),
    "feed_forward/outer/weights": floats(WIDE, UNITS),
    "feed_forward/outer/bias": floats(UNITS),
    "attention/normalization/scale": floats(UNITS),
    "attention/normalization/offset": floats(UNITS),
    "attention/inner/weights": floats(UNITS, 3 * UNITS),
    "attention/inner/bias": floats(3 * UNITS),
    "attention/outer/weights": floats(UNITS, UNITS),
    "attention/outer/bias": floats(UNITS),
    "last/weights": floats(UNITS, LABELS),
    "last/bias": floats(LABELS),
}


def layers(precision: Precision) -> list[EngineLayer | PlannedLayer]:
    return [
        DenseLayer(Dense("first", WIDE, clip=20.0), INPUTS, WEIGHTS, precision),
        LSTMLayer(LSTM("lstm", UNITS), WIDE, WEIGHTS, precision),
        LayerNormalizationLayer(LayerNormalization("normalization"), UNITS, WEIGHTS, precision),
        FeedForwardLayer(FeedForward("feed_forward", WIDE), UNITS, WEIGHTS, precision),
        DenseLayer(Projection("last", LABELS), UNITS, WEIGHTS, precision),
        SoftmaxLayer(LABELS),
    ]


def run(engine: Sequence[EngineLayer], utterances: list[Array], states: list[list[Array]]) -> list[Array]:
    """Return the outputs of layers one after the other, and replace the states."""
    batch = Batch(utterances, [False] * len(utterances), threads=2)
    for number, layer in enumerate(engine):
        batch, new = layer.run(batch, [each[number] for each in states])
        for state, of_layer in zip(states, new, strict=True):
            state[number] = of_layer
    return list(batch.utterances)


@pytest.mark.parametrize("lengths", [[3], [0, 1], [5] * 20, [1, 40, 0, 7, 70, 2]])
@pytest.mark.parametrize("precision", Precision)
def test_a_plan_gives_what_its_layers_give_one_by_one(precision: Precision, lengths: list[int]) -> None:
    some = layers(precision)
    together = list(in_plans(some))
    apart = [Planned([layer]) for layer in some if isinstance(layer, PlannedLayer)]
    assert (len(together), len(apart)) == (1, 6)
    ours, theirs = ([[layer.initial_state() for layer in each] for _ in lengths] for each in (together, apart))
    for _ in range(2):
        utterances = [floats(length, INPUTS) for length in lengths]
        found = run(together, utterances, ours)
        for rows, expected in zip(found, run(apart, utterances, theirs), strict=True):
            np.testing.assert_array_equal(rows, expected)
            np.testing.assert_allclose(rows.sum(axis=1), 1, atol=1e-5)
        for plan, of_layers in zip(ours, theirs, strict=True):
            np.testing.assert_array_equal(np.concatenate(plan), np.concatenate(of_layers))


def test_layers_that_no_plan_has_lie_between_plans() -> None:
    first, lstm, *rest = layers(Precision.FLOAT32)
    attention = SelfAttentionLayer(SelfAttention("attention", 2, chunk=1), UNITS, WEIGHTS, Precision.FLOAT32)
    engine = list(in_plans([first, lstm, attention, *rest]))
    assert [type(layer) for layer in engine] == [Planned, SelfAttentionLayer, Planned]
    utterances = [floats(length, INPUTS) for length in (4, 9)]
    found = run(engine, utterances, [[layer.initial_state() for layer in engine] for _ in utterances])
    assert [rows.shape for rows in found] == [(4, LABELS), (9, LABELS)]


def test_what_does_not_fit_is_refused() -> None:
    first, lstm, *_, last, softmax = layers(Precision.INT8)
    with pytest.raises(ValueError, match="must be the previous step's outputs"):
        list(in_plans([first, last]))
    (plan,) = in_plans([first, lstm, last, softmax])
    state, frames = plan.initial_state(), floats(5, INPUTS)
    assert plan.run(Batch([frames], [False], 1), [state])[0].rows.shape == (5, LABELS)
    wrong: list[tuple[list[Array], list[Array]]] = [
        ([frames[:, :-1]], [state]),
        ([frames[0]], [state]),
        ([frames], [state[:-1]]),
        ([frames], [state[None]]),
        ([frames, frames], [state]),
    ]
    for utterances, states in wrong:
        with pytest.raises(ValueError, match="must"):
            plan.run(Batch(utterances, [False], 1), states)
