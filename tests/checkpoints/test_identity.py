"""The flags by which errors explain that a checkpoint belongs to another network."""

from typing import Any

import pytest

from deepspeech.checkpoints.identity import MODEL_FLAGS
from deepspeech.network import network
from deepspeech.options import ModelOptions, flags_of, values_of, with_values
from deepspeech.options.model import PROVIDED

BASE = with_values(ModelOptions, {"n_hidden": 64, "lstm_chunk": 4, "intermediate_ctc_weight": 0.3})
OTHERS = [row.name for row in flags_of(ModelOptions) if row.on_command_line and row.name != "network"]


def changed(value: Any) -> Any:
    """Return another value of a flag."""
    if isinstance(value, bool | tuple):
        return not value if isinstance(value, bool) else ("1",)
    return value + 0.1 if isinstance(value, float) else 2 * value or 1


def recorded(name: str, options: ModelOptions) -> object:
    """Return the layers of a network as its checkpoints record them."""
    return network(with_values(options, {"network": name}), 26, 28).to_json()


@pytest.mark.parametrize("flag", OTHERS)
def test_errors_explain_other_layers_by_every_flag_that_changes_the_layers_of_a_network(flag: str) -> None:
    other = with_values(BASE, {flag: changed(values_of(BASE)[flag])})
    changes = any(recorded(name, BASE) != recorded(name, other) for name in PROVIDED)
    why = "not be in it" if changes else "be in it, as it changes no layers"
    assert changes == (flag in MODEL_FLAGS), f"_OF_TRAINING in identity.py: --{flag} must {why}"
