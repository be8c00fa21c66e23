"""Weights to begin training with, out of an exported graph."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ..errors import CheckpointError, GraphError
from ..serving.frozen.graph import read_graph
from ..serving.frozen.model import read_labels, read_weights
from ..util.text import Alphabet

LAST_LAYERS = ("layer_6", "layer_5", "cudnn_lstm", "layer_3", "layer_2", "layer_1")
"""The layers in the order in which `--drop_source_layers` drops them."""


def initial_weights(
    path: Path, shapes: Mapping[str, tuple[int, ...]], alphabet: Alphabet, drop_layers: int
) -> dict[str, npt.NDArray[np.float32]]:
    """Return the values of variables by name: all but those of the `drop_layers` last layers.

    `shapes` are those of the variables of this run's model, `alphabet` is what it writes. Raises CheckpointError if
    the graph cannot be read or belongs to another model.
    """
    try:
        graph = read_graph(path)
        labels = read_labels(graph) if "metadata_alphabet" in graph.nodes else None
        weights = read_weights(graph)
    except GraphError as error:
        raise CheckpointError(f"--initialize_from_frozen_model={path}: {error}") from None
    dropped = LAST_LAYERS[:drop_layers]
    kept = {name: value for name, value in weights.items() if not name.startswith(dropped)}
    if "layer_6" not in dropped:
        _check_alphabet(path, labels, weights["layer_6/bias"].size, alphabet)
    for name, value in kept.items():
        if value.shape != shapes[name]:
            raise CheckpointError(_misfit(path, name, value.shape, shapes[name], weights["layer_1/bias"].size))
    return kept


def _check_alphabet(path: Path, labels: tuple[str | bytes, ...] | None, outputs: int, alphabet: Alphabet) -> None:
    if labels is not None and labels != alphabet.labels:
        theirs = "".join(label.decode("utf-8", "replace") if isinstance(label, bytes) else label for label in labels)
        cause = f"its alphabet is {theirs!r}, but this run's is {''.join(alphabet.labels)!r}"
    elif outputs != alphabet.size + 1:
        cause = f"its alphabet has {outputs - 1} labels, but this run's has {alphabet.size}"
    else:
        return
    raise CheckpointError(
        f"--initialize_from_frozen_model={path}: {cause}; give its alphabet with --alphabet_config_path, or begin the "
        "last layer anew with --drop_source_layers=1"
    )


def _misfit(path: Path, name: str, found: tuple[int, ...], expected: tuple[int, ...], n_hidden: int) -> str:
    return (
        f"--initialize_from_frozen_model={path}: variable {name} has shape {list(found)}, but this model needs "
        f"{list(expected)}; give --n_hidden={n_hidden}, or begin more layers anew with --drop_source_layers"
    )
