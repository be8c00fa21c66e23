"""Where each variable of a graph comes from in a checkpoint, whichever generation of DeepSpeech wrote it."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf

from ..errors import CheckpointError
from ..network.variable_names import LSTM_SCOPE, SEED_NAMES
from ..options import ModelOptions
from ..util.text import Alphabet

logger = logging.getLogger(__name__)

READING_ERRORS = (tf.errors.OpError, ValueError, RuntimeError, IndexError)
"""What TensorFlow raises for a checkpoint whose files are damaged."""


@dataclass(frozen=True)
class Source:
    """A tensor of a checkpoint, and what to add to it."""

    name: str
    added: Any = 0.0

    def read(self, reader: Any) -> Any:
        """The value, as a NumPy array; raises CheckpointError if the data is damaged."""
        try:
            value = reader.get_tensor(self.name)
        except READING_ERRORS as error:
            raise CheckpointError(
                f"variable {self.name} cannot be read from the checkpoint: its data is damaged"
            ) from error
        return value + np.asarray(self.added, value.dtype) if np.any(self.added) else value


def find_sources(
    prefix: Path, variables: Sequence[Any], alphabet: Alphabet, model: ModelOptions
) -> Mapping[str, Source]:
    """Map the name of each variable that the checkpoint at `prefix` holds to its tensor there.

    Variables of the optimizer may be missing, those of the model may not, and shapes must agree: else CheckpointError.
    """
    try:
        shapes = tf.train.load_checkpoint(str(prefix)).get_variable_to_shape_map()
    except READING_ERRORS as error:
        raise CheckpointError(f"{prefix}: cannot be read, its files are damaged; use another checkpoint") from error
    sources = {}
    missing = []
    for variable in variables:
        name, expected = variable.op.name, tuple(variable.shape)
        source = _source(name, shapes, model)
        if source is None:
            if _is_of_model(name):
                raise CheckpointError(f"{prefix}: has no variable {name}; it is not a checkpoint of this model")
            missing.append(name)
        elif tuple(shapes[source.name]) == expected:
            sources[name] = source
        elif _is_of_model(name):
            raise CheckpointError(_misfit(prefix, source.name, tuple(shapes[source.name]), expected, alphabet, model))
    if missing:
        logger.info("%s has no optimizer state for %d variables: it starts afresh", prefix.name, len(missing))
    return sources


def _source(name: str, shapes: Mapping[str, Any], model: ModelOptions) -> Source | None:
    if name in shapes:
        return Source(name)
    seed_name = SEED_NAMES.get(name)
    if seed_name is None or seed_name not in shapes:
        return None
    if name == f"{LSTM_SCOPE}/bias":
        # The first generation added a forget bias of 1 when it ran the cell; here it is part of the variable.
        n_hidden = model.n_hidden
        return Source(
            seed_name, np.repeat([0.0, 0.0, 1.0, 0.0], n_hidden) if shapes[seed_name] == [4 * n_hidden] else 0.0
        )
    return Source(seed_name)


def _is_of_model(name: str) -> bool:
    return name in SEED_NAMES


def _misfit(
    prefix: Path,
    name: str,
    found: tuple[int, ...],
    expected: tuple[int, ...],
    alphabet: Alphabet,
    model: ModelOptions,
) -> str:
    if name in ("layer_6/weights", "h6", "layer_6/bias", "b6") and found[:-1] == expected[:-1]:
        cause = (
            f"it was trained with another alphabet, of {found[-1] - 1} labels (here {alphabet.size}): "
            "give that one with --alphabet_config_path"
        )
    elif name in ("layer_1/weights", "h1") and found[0] != expected[0]:
        cause = "it was trained on other features"
    else:
        cause = f"it was trained with another --n_hidden than {model.n_hidden}"
        if name in ("layer_1/weights", "layer_1/bias", "h1", "b1"):
            cause += f": give --n_hidden={found[-1]}"
    shapes = f"has shape {_shape(found)}, but this model needs {_shape(expected)}"
    return f"{prefix}: variable {name} {shapes}; probably {cause}"


def _shape(shape: tuple[int, ...]) -> str:
    return "[" + ", ".join(map(str, shape)) + "]"
