"""A mistake in a network of one's own is one line: in the function of its layers, or in a record and its function."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
import tensorflow as tf

from deepspeech.checkpoints.identity import ModelIdentity
from deepspeech.errors import NetworkError
from deepspeech.network import LSTM, Dense, Layer, Network, SelfAttention, Sizes, Variable, network, register
from deepspeech.network.description import ZEROS
from deepspeech.network.training import Activations, Pass, computed, outputs_of
from deepspeech.options import ModelOptions
from deepspeech.util.features import FeatureOptions
from deepspeech.util.text import Alphabet

LABELS = Alphabet(tuple(" abc"))


def made(layers: Callable[[Sizes], Any]) -> None:
    """Make the network from a function's layers, for four labels."""
    register("tried")(layers)
    network(ModelOptions(network="tried"), 26, LABELS.size)


@pytest.mark.parametrize(
    ("layers", "wrong"),
    [
        (lambda _: None, "its function returns no layers, but None"),
        (lambda _: ["labels"], "its function returns no layers, but ['labels']"),
        (lambda _: (LSTM("a", units=8.5),), "layer a: its units is 8.5, not a whole"),  # type: ignore[arg-type]
        (lambda sizes: (LSTM("my layer!", 8), Dense("labels", sizes.outputs)), "layer my layer!: its name may only"),
        (lambda sizes: (Dense("labels", sizes.outputs, dropout=1.5),), "layer labels: its dropout is 1.5, not a share"),
        (
            lambda sizes: (Dense("a", 8, clip="20"), Dense("labels", sizes.outputs)),  # type: ignore[arg-type]
            "layer a: its clip is '20', not a number",
        ),
        (
            lambda sizes: (SelfAttention("a", 1, 8, left=-1), Dense("labels", sizes.outputs)),
            "its left is -1, which must",
        ),
        (
            lambda sizes: (Dense("a", 8, clip=np.float32(20)), Dense("labels", sizes.outputs)),  # type: ignore[arg-type]
            "layer a: its settings cannot be saved beside checkpoints (Object of type float32 is not JSON seriali",
        ),
        (
            lambda sizes: (LSTM("Hidden", 8), Dense("hidden", 8), Dense("labels", sizes.outputs)),
            "layers Hidden and hidden: to TensorFlow, names that differ only in case are the same",
        ),
    ],
)
def test_what_is_no_network_is_named(layers: Callable[[Sizes], Any], wrong: str) -> None:
    with pytest.raises(NetworkError) as refused:
        made(layers)
    assert str(refused.value).startswith("--network=tried: ")
    assert wrong in str(refused.value)
    assert "\n" not in str(refused.value)


def test_an_error_of_the_function_is_told_with_its_line() -> None:
    def failing(sizes: Sizes) -> Any:
        return sizes.n_hidden / 0

    line = failing.__code__.co_firstlineno + 1
    with pytest.raises(NetworkError, match=rf"^--network=tried: .*test_registry.py:{line}: ZeroDivisionError: "):
        made(failing)


@dataclass(frozen=True)
class Own(Layer):
    """A record that gives an answer instead of its width, its time reduction, its variables or its outputs."""

    answers: ClassVar[dict[str, Any]] = {}

    @property
    def time_reduction(self) -> int:
        """Return the answer, or 1."""
        return int(self.answered("time_reduction", 1))

    def width(self, inputs: int) -> Any:
        """Return the answer, or the width of the inputs."""
        return self.answered("width", inputs)

    def variables(self, inputs: int) -> Any:
        """Return the answer, or no variables."""
        del inputs
        return self.answered("variables", ())

    def answered(self, question: str, otherwise: Any) -> Any:
        """Return the answer to a question; raise it if it is an error."""
        answer = self.answers.get(question, otherwise)
        if isinstance(answer, BaseException):
            raise answer
        return answer


def own_network(sizes: Sizes) -> tuple[Layer, ...]:
    return (Dense("a", 8, clip=20.0), Own("own"), Dense("labels", sizes.outputs))


@pytest.mark.parametrize(
    ("question", "answer", "wrong"),
    [
        ("width", "8", "layer own has the width '8', not a positive whole number"),
        ("width", 0, "layer own has no units"),
        ("width", KeyError("w"), "KeyError: 'w'"),
        ("time_reduction", 0, "layer own has the time_reduction 0, not a positive whole number"),
        ("variables", None, "layer own has the variables None, not a tuple of Variable"),
        ("variables", ("own/a",), "layer own has the variables ('own/a',), not a tuple of Variable"),
        ("variables", (Variable("own/a", (-1,), ZEROS),), "own/a of the shape (-1,), not of positive whole numbers"),
        ("variables", RuntimeError("two\nlines"), "RuntimeError: two lines"),
        ("variables", SystemExit(3), "SystemExit: 3"),
    ],
)
def test_a_record_that_gives_a_wrong_answer_is_named(
    question: str, answer: Any, wrong: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Own, "answers", {question: answer})
    with pytest.raises(NetworkError) as refused:
        made(own_network)
    assert wrong in str(refused.value) and "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("outputs", "wrong"),
    [
        (None, "NoneType, not Activations of a tensor"),
        (tf.zeros([3, 8]), ".*Tensor, not Activations of a tensor"),
        (Activations(np.zeros([3, 8])), "ndarray, not Activations of a tensor"),
        (Activations(tf.zeros([8])), r"a tensor of the shape \(8,\), not \[time, batch, width\] or"),
        (Activations(tf.zeros([3, 7])), "7 numbers for a frame, but the `width` of its record is 8"),
        (lambda inputs: tf.matmul(inputs, tf.ones([3, 3])), r".*test_registry.py:\d+: ValueError: Dimensions must"),
    ],
)
def test_outputs_that_are_not_those_of_the_record_are_told_with_its_layer(outputs: Any, wrong: str) -> None:
    @computed.register
    def _(layer: Own, inputs: Activations, at: Pass) -> Any:
        del layer
        return outputs(inputs.joined(at)) if callable(outputs) else outputs

    with tf.Graph().as_default(), pytest.raises(NetworkError, match=f"^layer own: (its function returns )?{wrong}"):
        own = Network("own", 26, own_network(Sizes(26, 5, 8, 20.0, 9, (0.0,) * 6)))
        outputs_of(own, tf.zeros([2, 9, 26]), tf.constant([9, 5]), training=True)


def test_a_network_of_other_outputs_than_the_alphabet_needs_is_refused() -> None:
    register("few")(lambda _: (Dense("labels", units=4),))
    identity = ModelIdentity(LABELS, FeatureOptions(), ModelOptions(network="few"))
    with pytest.raises(NetworkError, match=r"its last layer, labels, has 4 units, but the labels and the blank are 5"):
        assert identity.network


def test_a_file_without_a_name_or_without_the_decorator_is_told_how_to_name_its_network(tmp_path: Path) -> None:
    file = tmp_path / "own.py"
    file.write_text("def layers(sizes):\n    return ()\n")
    with pytest.raises(NetworkError, match=rf"for a network in a file give --network={file}:NAME"):
        network(ModelOptions(network=str(file)), 26, LABELS.size)
    with pytest.raises(NetworkError, match=r"@register\('layers'\) makes a function of .*own.py a network"):
        network(ModelOptions(network=f"{file}:layers"), 26, LABELS.size)
    file.with_name("named.py").write_text("def lstm(sizes):\n    return ()\n")
    with pytest.raises(NetworkError, match=r"@register\('lstm'\) makes a function of .*named.py a network"):
        network(ModelOptions(network=f"{file.with_name('named.py')}:lstm"), 26, LABELS.size)
