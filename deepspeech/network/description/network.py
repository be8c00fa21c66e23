"""A network: its layers in order, and the properties that are derived from them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ...errors import NetworkError
from ...options import NetworkOptions
from .frames import ContextWindow, Dense, IntermediateCTC
from .layer import Layer, Shape, Variable
from .recurrent import LSTM


@dataclass(frozen=True)
class Sizes:
    """The sizes and settings from which a network's layers are made.

    `coefficients` is the number of features of a frame, `outputs` that of the labels and the blank, `step_ms` the time
    from one frame to the next. The others are the model's flags, which a network may use or ignore: units of a hidden
    layer, limit of the clipped ReLU, frames of context on either side, the dropout of layers 1, 2, 3, of the LSTM's
    input and output, and of layer 5, and the settings of other networks.
    """

    coefficients: int
    outputs: int
    n_hidden: int
    relu_clip: float
    context: int
    dropout_rates: tuple[float, float, float, float, float, float]
    settings: NetworkOptions = field(default_factory=NetworkOptions)
    step_ms: int = 20


@dataclass(frozen=True)
class Network:
    """A network by name: its layers in order, and the number of coefficients in a frame of its features."""

    name: str
    coefficients: int
    layers: tuple[Layer, ...]

    def __post_init__(self) -> None:
        """Raise NetworkError for layers that do not form a network."""
        names = [layer.name for layer in self.layers]
        if len(set(names)) != len(names):
            raise NetworkError(f"network {self.name}: two layers have the same name; names are {', '.join(names)}")
        last = self.layers[-1] if self.layers else None
        if not isinstance(last, Dense) or last.clip is not None:
            raise NetworkError(f"network {self.name}: the last layer must be a Dense one without clip, for the logits")
        for layer, inputs in self.layers_with_inputs:
            if wrong := _wrong_answer(layer, inputs):
                raise NetworkError(f"network {self.name}: layer {layer.name} {wrong}")
        for variable, layers in Counter(variable.name for variable in self.variables).most_common(1):
            if layers > 1:
                raise NetworkError(
                    f"network {self.name}: two layers have the variable {variable}, as one has the name of a part of "
                    "the other; choose other names"
                )
        weights = [layer.weight for layer in self.layers if isinstance(layer, IntermediateCTC)]
        if any(weight < 0 for weight in weights) or sum(weights) >= 1:
            raise NetworkError(
                f"network {self.name}: the losses of its inner layers have the weights {', '.join(map(str, weights))}; "
                "none may be negative, and their sum must be less than 1, as the rest is the weight of the whole "
                "network's loss"
            )
        for layer, inputs in self.layers_with_inputs:
            if isinstance(layer, IntermediateCTC) and inputs != self._last_inputs:
                raise NetworkError(
                    f"network {self.name}: layer {layer.name} has {inputs} inputs, but the last layer, which takes "
                    f"them for its loss, has {self._last_inputs}"
                )

    @property
    def _last_inputs(self) -> int:
        return list(self.layers_with_inputs)[-1][1]

    @property
    def outputs(self) -> int:
        """The number of logits for a frame: one for each label, and one for the blank."""
        return self.layers[-1].width(0)

    @property
    def context(self) -> int:
        """The frames of the context window on either side of each frame; 0 without a window."""
        first = self.layers[0]
        return first.frames if isinstance(first, ContextWindow) else 0

    @property
    def time_reduction(self) -> int:
        """The number of frames for each row of logits."""
        return math.prod(layer.time_reduction for layer in self.layers)

    def rows(self, frames: int) -> int:
        """Return the number of rows of logits for an utterance of this many frames."""
        return -(-frames // self.time_reduction)

    @property
    def streams(self) -> bool:
        """Whether rows can be computed before the utterance ends."""
        return all(layer.streams for layer in self.layers)

    @property
    def look_ahead(self) -> int:
        """The number of frames after its own that a row depends on, if the network streams."""
        ahead, place, every = 0, 0, 1  # the last row that is needed is at `place`, or a multiple of `every` rows later
        for layer in reversed(self.layers):
            group, end = layer.group, -1 - layer.missing_in_group
            common = math.gcd(group, every)
            to_end = group - common + (end - place) % common  # at most
            place, every = (place + to_end, every) if every % group == 0 else (end, group)
            ahead = (ahead + to_end) * layer.time_reduction + layer.look_ahead
            place, every = place * layer.time_reduction + layer.look_ahead, every * layer.time_reduction
        return ahead

    @property
    def window_width(self) -> int:
        """The width of a frame with its neighbours."""
        return (2 * self.context + 1) * self.coefficients

    @property
    def layers_after_window(self) -> tuple[Layer, ...]:
        """The layers without a context window at the beginning."""
        return self.layers[1:] if isinstance(self.layers[0], ContextWindow) else self.layers

    @property
    def recurrent_layers(self) -> tuple[LSTM, ...]:
        """The layers that have a state."""
        return tuple(layer for layer in self.layers if isinstance(layer, LSTM))

    @property
    def layers_with_inputs(self) -> Iterator[tuple[Layer, int]]:
        """Each layer, and the width of its input."""
        width = self.coefficients
        for layer in self.layers:
            yield layer, width
            width = layer.width(width)

    @property
    def variables(self) -> tuple[Variable, ...]:
        """All variables, in the order of the layers."""
        return tuple(variable for layer, inputs in self.layers_with_inputs for variable in layer.variables(inputs))

    @property
    def shapes(self) -> dict[str, Shape]:
        """The shape of each variable by its name."""
        return {variable.name: variable.shape for variable in self.variables}

    @property
    def weighted_layers(self) -> tuple[Layer, ...]:
        """The layers that have variables."""
        return tuple(layer for layer, inputs in self.layers_with_inputs if layer.variables(inputs))

    def last_layers(self, count: int) -> tuple[Layer, ...]:
        """Return the `count` last layers that have variables, the last one first: those that are dropped."""
        return tuple(reversed(self.weighted_layers))[:count]

    def layer_of(self, variable: str) -> Layer:
        """Return the layer that a variable belongs to; raise KeyError."""
        for layer, inputs in self.layers_with_inputs:
            if any(each.name == variable for each in layer.variables(inputs)):
                return layer
        raise KeyError(variable)

    def resized(self, shapes: Mapping[str, Shape]) -> Network:
        """Return this network with the units that follow from its variables' shapes; raise KeyError."""
        return replace(self, layers=tuple(layer.resized(shapes) for layer in self.layers))

    def to_json(self) -> list[dict[str, Any]]:
        """Return a record for each layer that a trained network depends on, as a value for JSON."""
        return [layer.to_json() for layer in self.layers if layer.recorded]


def _wrong_answer(layer: Layer, inputs: int) -> str:
    """Return what is wrong with what a record says of its layer; nothing if all is right."""
    width, reduction, variables = layer.width(inputs), layer.time_reduction, layer.variables(inputs)
    if not _is_count(width):
        return "has no units" if width == 0 else f"has the width {width!r}, not a positive whole number"
    if not _is_count(reduction):
        return f"has the time_reduction {reduction!r}, not a positive whole number"
    if not isinstance(variables, tuple | list) or not all(isinstance(each, Variable) for each in variables):
        return f"has the variables {variables!r:.80}, not a tuple of Variable"
    for each in variables:
        if not isinstance(each.shape, tuple | list) or not all(map(_is_count, each.shape)):
            return f"has the variable {each.name} of the shape {each.shape!r:.80}, not of positive whole numbers"
    return ""


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0
