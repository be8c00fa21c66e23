"""Records of layers that compute each frame separately, or from its neighbours."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

from .layer import GLOROT, LIKELY_BLANK, ONES, ZEROS, Layer, Shape, Variable, only_in_training


@dataclass(frozen=True)
class ContextWindow(Layer):
    """Adds its neighbours to each frame, `frames` on either side; zeros before the first and after the last."""

    frames: int

    @property
    def look_ahead(self) -> int:
        """The neighbours after each frame."""
        return self.frames

    def width(self, inputs: int) -> int:
        """Return the width of a window."""
        return (2 * self.frames + 1) * inputs


@dataclass(frozen=True)
class Dense(Layer):
    """y = min(max(x W + b, 0), clip): a clipped ReLU layer (Hannun et al., "Deep Speech", 2014).

    With `clip` None it computes logits, y = x W + b, always in float32; the last one is the blank's. W is
    [inputs, units].
    """

    units: int
    clip: float | None = None
    dropout: float = only_in_training(0.0)
    """Share of the outputs that are set to zero in training."""
    begins_with_blanks: bool = only_in_training(False)
    """Whether the initial bias of logits makes the blank likely; see LIKELY_BLANK."""
    older_names: tuple[str, str] = only_in_training(("", ""))
    """The names of W and b in the first generation."""

    def width(self, inputs: int) -> int:
        """Return the number of units."""
        del inputs
        return self.units

    def variables(self, inputs: int) -> tuple[Variable, ...]:
        """Return the weights W and the bias b."""
        weights, bias = self.older_names
        return (
            Variable(f"{self.name}/weights", (inputs, self.units), GLOROT, weights),
            Variable(f"{self.name}/bias", (self.units,), LIKELY_BLANK if self.begins_with_blanks else ZEROS, bias),
        )

    def resized(self, shapes: Mapping[str, Shape]) -> Dense:
        """Return this layer with a unit for each number of the bias."""
        return replace(self, units=math.prod(shapes[f"{self.name}/bias"]))


@dataclass(frozen=True)
class Projection(Layer):
    """y = x W + b: a linear layer inside a network, computed in the precision of training. W is [inputs, units]."""

    units: int

    def width(self, inputs: int) -> int:
        """Return the number of units."""
        del inputs
        return self.units

    def variables(self, inputs: int) -> tuple[Variable, ...]:
        """Return the weights W and the bias b."""
        return (
            Variable(f"{self.name}/weights", (inputs, self.units), GLOROT),
            Variable(f"{self.name}/bias", (self.units,), ZEROS),
        )


NORMALIZATION_EPSILON = 1e-5
"""Added to the variance in layer normalization, so that it is not zero if all numbers of a frame are equal."""


@dataclass(frozen=True)
class LayerNormalization(Layer):
    """Normalizes the numbers of each frame (Ba et al., "Layer normalization", 2016).

    With m and v the mean and the variance of the numbers x of a frame,

        y = scale (x - m) / sqrt(v + NORMALIZATION_EPSILON) + offset
    """

    dropout: float = only_in_training(0.0)
    """Share of the outputs that are set to zero in training."""

    def width(self, inputs: int) -> int:
        """Return the width of the inputs."""
        return inputs

    def variables(self, inputs: int) -> tuple[Variable, ...]:
        """Return the scale and the offset of each number."""
        return (
            Variable(f"{self.name}/scale", (inputs,), ONES),
            Variable(f"{self.name}/offset", (inputs,), ZEROS),
        )


@dataclass(frozen=True)
class IntermediateCTC(Layer):
    """Passes its inputs on unchanged, and adds a loss to training (Lee and Watanabe, "Intermediate loss", 2021).

    It is the CTC loss of the outputs that the network's last layer computes from these inputs, which must be as wide as
    that layer's own. The total loss is the sum of all such losses, each times its weight, and of the whole network's
    loss times 1 minus the sum of these weights.
    """

    recorded: ClassVar[bool] = False
    weight: float = only_in_training(0.3)

    def width(self, inputs: int) -> int:
        """Return the width of the inputs."""
        return inputs
