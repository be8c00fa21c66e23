"""The description of a layer: its width, its variables, and the settings that a trained network depends on."""

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
"""Zeros except for the blank's, the last one, which is BLANK_BIAS: the blank is some twenty times as likely as a label.

A network that emits labels from the beginning can memorize when to emit which label, and never use its inputs. A higher
bias makes it more certain that the network uses its inputs, but also delays the emission of labels.
"""
OPEN_FORGET_GATE = "open_forget_gate"
"""Ones for the forget gate of an LSTM, zeros for the others (Jozefowicz et al., 2015)."""


@dataclass(frozen=True)
class Variable:
    """A variable of a network.

    `initial` selects its initial values: GLOROT, ZEROS, ONES, LIKELY_BLANK or OPEN_FORGET_GATE. `older_name` is its
    name in the first generation of DeepSpeech (0.1 to 0.4), if it existed there.
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
    """Return a field that the trained network depends on; the record omits it if it has this value."""
    return field(default=default, metadata={"left_out": True})


@dataclass(frozen=True)
class Layer(ABC):
    """A record of one layer: what it computes, not how. `name` is the scope of its variables."""

    name: str

    recorded: ClassVar[bool] = True
    """Whether the trained network depends on this layer."""

    @property
    def streams(self) -> bool:
        """Whether it can be computed before the utterance ends."""
        return True

    @property
    def time_reduction(self) -> int:
        """The number of input frames for each output frame."""
        return 1

    @property
    def look_ahead(self) -> int:
        """If the layer streams, the number of frames after an output's own, or its group's, that it depends on."""
        return 0

    @property
    def group(self) -> int:
        """If the layer streams, the number of outputs in a chunk, which depend on all frames of the chunk."""
        return 1

    @property
    def missing_in_group(self) -> int:
        """The number of outputs that the first group has fewer than the others."""
        return 0

    @abstractmethod
    def width(self, inputs: int) -> int:
        """Return the width of its outputs for frames of `inputs` numbers."""

    def variables(self, inputs: int) -> tuple[Variable, ...]:
        """Return its variables for frames of `inputs` numbers."""
        del inputs
        return ()

    def resized(self: AnyLayer, shapes: Mapping[str, Shape]) -> AnyLayer:
        """Return this layer with the units that follow from the shapes of its variables, by name; raise KeyError.

        Only DeepSpeech's layers need it, as older files of that network do not describe it.
        """
        del shapes
        return self

    def to_json(self) -> dict[str, Any]:
        """Return the settings that a trained layer depends on besides its weights, as a value for JSON."""
        kind = type(self)
        settings = {each.name: getattr(self, each.name) for each in settings_of(kind)}
        left_out = {each.name for each in settings_of(kind) if may_be_left_out(each, settings[each.name])}
        return {"layer": kind.__name__, **{name: value for name, value in settings.items() if name not in left_out}}


def settings_of(kind: type[Layer]) -> list[Field[Any]]:
    """Return the fields of a kind of layer that a trained network depends on."""
    return [each for each in fields(kind) if not each.metadata.get("only_in_training")]


def may_be_left_out(setting: Field[Any], value: Any) -> bool:
    """Return whether a record may omit a setting with this value."""
    return bool(setting.metadata.get("left_out")) and value == setting.default
