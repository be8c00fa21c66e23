"""An error in a function that returns a network's layers is reported in one line that names the flag."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from deepspeech.checkpoints.identity import ModelIdentity
from deepspeech.errors import NetworkError
from deepspeech.network import LSTM, Dense, SelfAttention, Sizes, network, register
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
