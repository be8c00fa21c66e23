"""The tensor of a checkpoint for each variable of a graph, for checkpoints of every generation of DeepSpeech."""

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import tensorflow as tf

from ..errors import CheckpointError
from ..network.description import OPEN_FORGET_GATE, Variable
from ..network.layers.normalization import statistics_names
from ..util.figures.counted import counted
from .folder_reading import check_readable, index_path
from .identity import ModelIdentity, misfit

logger = logging.getLogger(__name__)

_AVERAGE = "/ExponentialMovingAverage"

_BYTES_AT_ONCE = 1 << 28

READING_ERRORS = (tf.errors.OpError, ValueError, RuntimeError, IndexError)
"""The exceptions that TensorFlow raises for a checkpoint with damaged files."""


@dataclass(frozen=True)
class Source:
    """A tensor of a checkpoint, and a number or an array [n] that is added to it."""

    name: str
    added: Any = 0.0

    def read(self, reader: Any) -> Any:
        """Return the value as a NumPy array; raise CheckpointError if the data is damaged."""
        try:
            value = reader.get_tensor(self.name)
        except READING_ERRORS as error:
            raise CheckpointError(
                f"variable {self.name} cannot be read from the checkpoint: its data is damaged"
            ) from error
        return value + np.asarray(self.added, value.dtype) if np.any(self.added) else value


def open_checkpoint(prefix: Path) -> Any:
    """Return TensorFlow's reader of a checkpoint; raise one of READING_ERRORS if its files are damaged.

    Raise CheckpointError for a folder that `check_readable` refuses.
    """
    check_readable(prefix.parent)
    return tf.train.load_checkpoint(str(prefix))


@contextmanager
def removal_in_words(*prefixes: Path) -> Iterator[None]:
    """Raise a CheckpointError that says so if one of the checkpoints that the block reads is removed meanwhile.

    A training that goes on in their folder removes a checkpoint when a newer one supersedes it.
    """
    try:
        yield
    except (CheckpointError, *READING_ERRORS) as error:
        gone = next((each for each in prefixes if not index_path(each).exists()), None)
        if gone is None:
            raise
        raise CheckpointError(
            f"{gone}: was removed while it was read; if training goes on in its folder, run the same command again"
        ) from error


def average_name(variable: str) -> str:
    """Return TensorFlow's name of the variable that holds the moving average of another."""
    return variable + _AVERAGE


def find_sources(
    prefix: Path, variables: Sequence[Any], identity: ModelIdentity, *, averaged: bool = False
) -> Mapping[str, Source]:
    """Map the name of each variable that the checkpoint at `prefix` holds to its tensor there.

    Variables of the optimizer may be missing. Missing averages start at the weights. With `averaged`, weights get the
    values of their averages, if there are any. Raise CheckpointError if a variable of the model is missing or has
    another shape.
    """
    try:
        shapes = open_checkpoint(prefix).get_variable_to_shape_map()
    except READING_ERRORS as error:
        raise CheckpointError(f"{prefix}: cannot be read, its files are damaged; use another checkpoint") from error
    statistics = statistics_names(identity.features)
    of_model = {variable.name: variable for variable in identity.network.variables}
    sources = {}
    missing = []
    for variable in variables:
        name, expected = variable.op.name, tuple(variable.shape)
        weight = name.removesuffix(_AVERAGE)
        source = source_of(name, of_model.get(name), shapes, averaged=averaged)
        source = source or source_of(weight, of_model.get(weight), shapes)
        if source is None:
            if name in of_model or name in statistics:
                raise CheckpointError(f"{prefix}: has no variable {name}; it is not a checkpoint of this model")
            missing.append(name)
        elif tuple(shapes[source.name]) == expected:
            sources[name] = source
        elif name in of_model:
            raise CheckpointError(misfit(prefix, of_model[name], source.name, tuple(shapes[source.name]), identity))
    if missing:
        get = "which gets its initial value" if len(missing) == 1 else "which get their initial values"
        logger.info("%s has no optimizer state for %s, %s", prefix.name, counted(len(missing), "variable"), get)
    return sources


def source_of(
    name: str, variable: Variable | None, shapes: Mapping[str, Any], *, averaged: bool = False
) -> Source | None:
    """Return the tensor of a checkpoint that holds the variable of this name, or None.

    `variable` describes it if it belongs to the network. `shapes` are those of the checkpoint's tensors, by name. With
    `averaged`, the tensor is the moving average if there is one.
    """
    if averaged and average_name(name) in shapes:
        return Source(average_name(name))
    if name in shapes:
        return Source(name)
    if variable is None or not variable.older_name or variable.older_name not in shapes:
        return None
    older = variable.older_name
    if variable.initial == OPEN_FORGET_GATE and tuple(shapes[older]) == variable.shape:
        # The first generation added a forget bias of 1 when it ran the cell; here it is part of the variable.
        return Source(older, np.repeat([0.0, 0.0, 1.0, 0.0], variable.size // 4))
    return Source(older)


def load(session: Any, prefix: Path, variables: Sequence[Any], sources: Mapping[str, Source]) -> None:
    """Load the variables that have a source, by name, from the checkpoint at `prefix`."""
    reader = open_checkpoint(prefix)
    found = (variable for variable in variables if variable.op.name in sources)
    assign(session, ((variable, sources[variable.op.name].read(reader)) for variable in found))


def load_mean(session: Any, prefixes: Sequence[Path], variables: Sequence[Any], identity: ModelIdentity) -> None:
    """Set the variables of the network, and their moving averages, to the means of their values in checkpoints."""
    shapes = identity.network.shapes
    weights = [variable for variable in variables if variable.op.name.removesuffix(_AVERAGE) in shapes]
    readers = [(open_checkpoint(prefix), find_sources(prefix, weights, identity, averaged=True)) for prefix in prefixes]

    def mean(variable: Any) -> npt.NDArray[Any]:
        return mean_of([sources[variable.op.name].read(reader) for reader, sources in readers])

    assign(session, ((variable, mean(variable)) for variable in weights))


def mean_of(values: Sequence[npt.NDArray[Any]]) -> npt.NDArray[Any]:
    """Return the mean of arrays of one shape and type, of that shape and type."""
    return np.asarray(np.mean(values, axis=0, dtype=np.float64), values[0].dtype)


def begin_averages(session: Any, variables: Sequence[Any]) -> None:
    """Set each moving average among the variables to the value of its weight."""
    by_name = {variable.op.name: variable for variable in variables}
    averages = {name.removesuffix(_AVERAGE): each for name, each in by_name.items() if name.endswith(_AVERAGE)}
    values = session.run({name: by_name[name] for name in averages})
    assign(session, ((average, values[name]) for name, average in averages.items()))


def assign(session: Any, values: Iterable[tuple[Any, Any]]) -> None:
    """Set variables to values, of which no more than _BYTES_AT_ONCE, or a single one, are in memory at a time.

    TensorFlow prepares the whole graph anew for each set of variables, which takes longer than setting them.
    """
    fed: dict[str, Any] = {}
    initializers: list[Any] = []
    for variable, value in values:
        initial = variable.initializer.inputs[1].name
        if initial in fed or sum(each.nbytes for each in (*fed.values(), value)) > _BYTES_AT_ONCE:
            session.run(initializers, fed)
            fed, initializers = {}, []
        fed[initial] = value
        initializers.append(variable.initializer)
    session.run(initializers, fed)
