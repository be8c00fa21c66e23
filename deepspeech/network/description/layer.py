"""What a layer is: its width, its variables, and what of it a trained network depends on."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import Field, dataclass, field, fields
from typing import Any, ClassVar, TypeVar

Shape = tuple[int, ...]
AnyLayer = TypeVar("AnyLayer", bound="Layer")

GLOROT = "glorot_uniform"
"""Uniform within the square root of 6 / (inputs + outputs) (Glorot and Bengio, 2010)."""
ZEROS = "zeros"
ONES = "ones"
BLANK_BIAS = 3.0
LIKELY_BLANK = "likely_blank"
"""Zeros, but for the last one, the blank's, which is BLANK_BIAS: some twenty times as likely as any label.

A network that begins with labels can learn by heart when to emit which, and never come to listen. The higher the bias,
the surer it listens, but the later it is sure of what it hears, and emits the label.
"""
OPEN_FORGET_GATE = "open_forget_gate"
"""Ones for the forget gate of an LSTM, zeros for the others (Jozefowicz et al., 2015)."""


@dataclass(frozen=True)
class Variable:
    """A variable of a network.

    `initial` says how its values begin: GLOROT, ZEROS, ONES, LIKELY_BLANK or OPEN_FORGET_GATE. `older_name` is what
    the first generation of DeepSpeech (0.1 to 0.4) called it, if it had it.
    """

    name: str
    shape: Shape
    initial: str
    older_name: str = ""

    @property
    def size(self) -> int:
        """The number of its parameters."""
        return math.prod(self.shape)


def only_in_training(default: Any) -> Any:
    """Return a field that the trained network does not depend on."""
    return field(default=default, metadata={"only_in_training": True})


def recorded_unless(default: Any) -> Any:
    """Return a field that the trained network depends on, but that its record leaves out if it has this value."""
    return field(default=default, metadata={"left_out": True})


@dataclass(frozen=True)
class Layer(ABC):
    """A record of one layer: what it computes, not how. `name` is where its variables are."""

    name: str

    recorded: ClassVar[bool] = True
    """Whether the trained network depends on it at all."""

    @property
    def streams(self) -> bool:
        """Whether it can be computed before the end of the utterance is there."""
        return True

    @property
    def time_reduction(self) -> int:
        """How many frames of its input make one of its output."""
        return 1

    @property
    def look_ahead(self) -> int:
        """How many frames after its own, or after those of its group, each output depends on, if the layer streams."""
        return 0

    @property
    def group(self) -> int:
        """How many outputs at a time depend on all frames of each other, if the layer streams: those of a chunk."""
        return 1

    @property
    def missing_in_group(self) -> int:
        """How many outputs the first group has less than the others."""
        return 0

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
        settings = {each.name: getattr(self, each.name) for each in settings_of(kind)}
        left_out = {each.name for each in settings_of(kind) if may_be_left_out(each, settings[each.name])}
        return {"layer": kind.__name__, **{name: value for name, value in settings.items() if name not in left_out}}


def settings_of(kind: type[Layer]) -> list[Field[Any]]:
    """Return the fields of a kind of layer that a trained network depends on."""
    return [each for each in fields(kind) if not each.metadata.get("only_in_training")]


def may_be_left_out(setting: Field[Any], value: Any) -> bool:
    """Return whether a record need not tell that a setting has a value."""
    return bool(setting.metadata.get("left_out")) and value == setting.default
