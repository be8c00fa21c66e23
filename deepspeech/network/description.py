"""What a network is: the records of its layers, from the features of a frame to a logit for each label and the blank.

Everything else about a network is derived from its records: names and shapes of variables, graphs, checks, the card of
an exported model. No TensorFlow here.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import Field, dataclass, field, fields, replace
from typing import Any, TypeVar

from ..errors import NetworkError

Shape = tuple[int, ...]
AnyLayer = TypeVar("AnyLayer", bound="Layer")

GLOROT = "glorot_uniform"
"""Uniform within the square root of 6 / (inputs + outputs) (Glorot and Bengio, 2010)."""
ZEROS = "zeros"
OPEN_FORGET_GATE = "open_forget_gate"
"""Ones for the forget gate of an LSTM, zeros for the others (Jozefowicz et al., 2015)."""


@dataclass(frozen=True)
class Variable:
    """A variable of a network.

    `initial` says how its values begin: GLOROT, ZEROS or OPEN_FORGET_GATE. `older_name` is what the first generation
    of DeepSpeech (0.1 to 0.4) called it, if it had it.
    """

    name: str
    shape: Shape
    initial: str
    older_name: str = ""

    @property
    def size(self) -> int:
        """The number of its parameters."""
        return math.prod(self.shape)


def _only_in_training(default: Any) -> Any:
    """Return a field that the trained network does not depend on."""
    return field(default=default, metadata={"only_in_training": True})


@dataclass(frozen=True)
class Layer(ABC):
    """A record of one layer: what it computes, not how. `name` is where its variables are."""

    name: str

    @abstractmethod
    def width(self, inputs: int) -> int:
        """Return how many numbers it makes for each frame of `inputs` numbers."""

    def variables(self, inputs: int) -> tuple[Variable, ...]:
        """Return its variables where each frame has `inputs` numbers."""
        del inputs
        return ()

    def resized(self: AnyLayer, shapes: Mapping[str, Shape]) -> AnyLayer:
        """Return this layer with as many units as the shapes of its variables, by name, tell; raise KeyError."""
        del shapes
        return self

    def to_json(self) -> dict[str, Any]:
        """Return what a trained layer depends on beside its weights, as a value for JSON."""
        kind = type(self)
        return {"layer": kind.__name__, **{each.name: getattr(self, each.name) for each in settings_of(kind)}}


@dataclass(frozen=True)
class ContextWindow(Layer):
    """Puts each frame between its neighbours, `frames` on either side; zeros before the first and after the last."""

    frames: int

    def width(self, inputs: int) -> int:
        """Return the width of a window."""
        return (2 * self.frames + 1) * inputs


@dataclass(frozen=True)
class Dense(Layer):
    """y = min(max(x W + b, 0), clip): a clipped ReLU layer (Hannun et al., "Deep Speech", 2014).

    With `clip` None it is linear, y = x W + b, and computed in float32 whatever the precision. W is [inputs, units].
    """

    units: int
    clip: float | None = None
    dropout: float = _only_in_training(0.0)
    """Share of the outputs that are set to zero in training."""
    older_names: tuple[str, str] = _only_in_training(("", ""))
    """What the first generation called W and b."""

    def width(self, inputs: int) -> int:
        """Return the number of units."""
        del inputs
        return self.units

    def variables(self, inputs: int) -> tuple[Variable, ...]:
        """Return the weights W and the bias b."""
        weights, bias = self.older_names
        return (
            Variable(f"{self.name}/weights", (inputs, self.units), GLOROT, weights),
            Variable(f"{self.name}/bias", (self.units,), ZEROS, bias),
        )

    def resized(self, shapes: Mapping[str, Shape]) -> Dense:
        """Return this layer with a unit for each number of the bias."""
        return replace(self, units=math.prod(shapes[f"{self.name}/bias"]))


@dataclass(frozen=True)
class LSTM(Layer):
    """An LSTM over time (Hochreiter and Schmidhuber, 1997), without peepholes, projection or clipping.

    With [i g f o] = [x h'] W + b, where x is the input, and h' and c' are the states before:

        c = sigmoid(f) c' + sigmoid(i) tanh(g)        h = sigmoid(o) tanh(c)

    W, the kernel, is [inputs + units, 4 units]; the output is h.
    """

    units: int
    input_dropout: float = _only_in_training(0.0)
    output_dropout: float = _only_in_training(0.0)
    older_names: tuple[str, str] = _only_in_training(("", ""))
    """What the first generation called W and b."""

    def width(self, inputs: int) -> int:
        """Return the number of units."""
        del inputs
        return self.units

    def variables(self, inputs: int) -> tuple[Variable, ...]:
        """Return the kernel W and the bias b."""
        kernel, bias = self.older_names
        return (
            Variable(f"{self.name}/kernel", (inputs + self.units, 4 * self.units), GLOROT, kernel),
            Variable(f"{self.name}/bias", (4 * self.units,), OPEN_FORGET_GATE, bias),
        )

    def resized(self, shapes: Mapping[str, Shape]) -> LSTM:
        """Return this layer with a unit for each four numbers of the bias."""
        return replace(self, units=math.prod(shapes[f"{self.name}/bias"]) // 4)


@dataclass(frozen=True)
class Sizes:
    """What a network's layers are made from.

    `coefficients` is the number of features of a frame, `outputs` that of the labels and the blank. The others are the
    model's flags, which a network may use as it likes: units of a hidden layer, limit of the clipped ReLU, frames of
    context on either side, and the dropout of layers 1, 2, 3, of the LSTM's input and output, and of layer 5.
    """

    coefficients: int
    outputs: int
    n_hidden: int
    relu_clip: float
    context: int
    dropout_rates: tuple[float, float, float, float, float, float]


@dataclass(frozen=True)
class Network:
    """A network by name: its layers in order, and how many coefficients a frame of its features has."""

    name: str
    coefficients: int
    layers: tuple[Layer, ...]

    def __post_init__(self) -> None:
        """Raise NetworkError for layers that make no network."""
        names = [layer.name for layer in self.layers]
        if len(set(names)) != len(names):
            raise NetworkError(f"network {self.name}: two layers have the same name; names are {', '.join(names)}")
        last = self.layers[-1] if self.layers else None
        if not isinstance(last, Dense) or last.clip is not None:
            raise NetworkError(f"network {self.name}: the last layer must be a Dense one without clip, for the logits")
        for layer, inputs in self.layers_with_inputs:
            if layer.width(inputs) < 1:
                raise NetworkError(f"network {self.name}: layer {layer.name} has no units")

    @property
    def outputs(self) -> int:
        """How many logits a frame has: one for each label, and one for the blank."""
        return self.layers[-1].width(0)

    @property
    def context(self) -> int:
        """How many frames the network sees on either side of each one before its other layers; 0 without a window."""
        first = self.layers[0]
        return first.frames if isinstance(first, ContextWindow) else 0

    @property
    def window_width(self) -> int:
        """How many numbers a frame has with its neighbours."""
        return (2 * self.context + 1) * self.coefficients

    @property
    def layers_after_window(self) -> tuple[Layer, ...]:
        """The layers but for a context window that is the first."""
        return self.layers[1:] if isinstance(self.layers[0], ContextWindow) else self.layers

    @property
    def recurrent_layers(self) -> tuple[LSTM, ...]:
        """The layers that have a state."""
        return tuple(layer for layer in self.layers if isinstance(layer, LSTM))

    @property
    def layers_with_inputs(self) -> Iterator[tuple[Layer, int]]:
        """Each layer, and how many numbers a frame of its input has."""
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
        """Return the `count` last layers that have variables, the last one first: those that a new start drops."""
        return tuple(reversed(self.weighted_layers))[:count]

    def layer_of(self, variable: str) -> Layer:
        """Return the layer that a variable belongs to; raise KeyError."""
        for layer, inputs in self.layers_with_inputs:
            if any(each.name == variable for each in layer.variables(inputs)):
                return layer
        raise KeyError(variable)

    def resized(self, shapes: Mapping[str, Shape]) -> Network:
        """Return this network with the units that the shapes of its variables tell; raise KeyError if one lacks."""
        return replace(self, layers=tuple(layer.resized(shapes) for layer in self.layers))

    def to_json(self) -> list[dict[str, Any]]:
        """Return what a trained network depends on beside its weights, as a value for JSON: a record for each layer."""
        return [layer.to_json() for layer in self.layers]


def settings_of(kind: type[Layer]) -> list[Field[Any]]:
    """Return the fields of a kind of layer that a trained network depends on."""
    return [each for each in fields(kind) if not each.metadata.get("only_in_training")]
