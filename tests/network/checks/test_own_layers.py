"""A user's own layers whose outputs depend on more than their utterance are named before training."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
import tensorflow as tf

from deepspeech.network import Dense, Layer, Network, Variable
from deepspeech.network.checks.own_layers import warn_of_own_layers
from deepspeech.network.description import ZEROS
from deepspeech.network.layers.dropout import seeded_dropout
from deepspeech.network.layers.variables import variables_of
from deepspeech.network.training import Activations, Pass, computed

RANDOM = "computes other outputs for the same utterance each time"
OF_THE_BATCH = "depend on the padding after it or on the rest of its batch"


@dataclass(frozen=True)
class Own(Layer):
    """A layer that a function of the test computes."""

    function: Callable[[Any, Pass], Any]
    reduction: int = 1
    variable: bool = False

    @property
    def time_reduction(self) -> int:
        return self.reduction

    def width(self, inputs: int) -> int:
        return inputs

    def variables(self, inputs: int) -> tuple[Variable, ...]:
        return (Variable(f"{self.name}/scale", (inputs,), ZEROS),) if self.variable else ()


@computed.register
def _own(layer: Own, inputs: Activations, at: Pass) -> Activations:
    values = inputs.stacked(at)
    if layer.variable:
        return Activations(values + layer.function(values, at) * variables_of(layer, inputs.width)[0])
    return Activations(layer.function(values, at))


def inside(values: Any, at: Pass) -> Any:
    return values * tf.transpose(tf.sequence_mask(at.lengths, at.time, dtype=values.dtype))[:, :, None]


def with_next(values: Any, _at: Pass) -> Any:
    return values + tf.pad(values[1:], [[0, 1], [0, 0], [0, 0]])


def warnings_of(caplog: pytest.LogCaptureFixture, *layers: Layer) -> list[str]:
    warn_of_own_layers(Network("some", 5, (*layers, Dense("labels", units=4))), None)
    return [record.getMessage() for record in caplog.records]


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda values, _: tf.nn.dropout(values, 0.3), RANDOM),
        (lambda values, _: values - tf.reduce_mean(values, 1, keepdims=True), OF_THE_BATCH),
        (lambda values, _: values - tf.reduce_mean(values, 0, keepdims=True), OF_THE_BATCH),
        (lambda values, _: tf.reverse(values, [0]), OF_THE_BATCH),
        (with_next, OF_THE_BATCH),
    ],
)
@pytest.mark.parametrize("variable", [False, True])
def test_one_that_depends_on_chance_or_on_the_batch_is_named(
    function: Callable[[Any, Pass], Any], words: str, variable: bool, caplog: pytest.LogCaptureFixture
) -> None:
    (warning,) = warnings_of(caplog, Dense("first", 6, clip=20.0), Own("own", function, variable=variable))
    assert warning.startswith("layer own: ") and words in warning


@pytest.mark.parametrize(
    ("function", "reduction"),
    [
        (lambda values, at: with_next(inside(values, at), at), 1),
        (lambda values, at: seeded_dropout(values, 0.3 if at.training else 0.0, at.compute), 1),
        (lambda values, _: values[::2], 2),
        (lambda values, _: tf.cast(values, tf.bfloat16) * 2, 1),
    ],
)
def test_one_that_depends_on_its_utterance_alone_is_not_named(
    function: Callable[[Any, Pass], Any], reduction: int, caplog: pytest.LogCaptureFixture
) -> None:
    assert warnings_of(caplog, Dense("first", 6, clip=20.0), Own("own", function, reduction)) == []


def test_the_first_layer_may_rely_on_features_that_are_zero_beyond_their_utterance(
    caplog: pytest.LogCaptureFixture,
) -> None:
    assert warnings_of(caplog, Own("own", with_next)) == []


def test_one_that_fails_is_left_to_the_training_which_names_the_place(caplog: pytest.LogCaptureFixture) -> None:
    assert warnings_of(caplog, Own("own", lambda values, _: values / None)) == []
