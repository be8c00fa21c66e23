"""The records of a conformer block (Gulati et al., "Conformer", 2020), with layer normalization throughout.

Each layer adds its result to its inputs x, so its width is that of the inputs. LN is layer normalization as in
`LayerNormalization`, with its own scale and offset.
"""

from __future__ import annotations

from dataclasses import dataclass

from ...errors import NetworkError
from .layer import GLOROT, ONES, ZEROS, Layer, Variable, only_in_training

LONGEST_WAVE = 10_000.0
"""The base of the wavelengths of rotary positions."""


@dataclass(frozen=True)
class Residual(Layer):
    """A layer y = x + f(LN(x)), whose f has dropout in training."""

    @property
    def normalization(self) -> str:
        """The scope of the scale and the offset of LN."""
        return f"{self.name}/normalization"

    def width(self, inputs: int) -> int:
        """Return the width of the inputs."""
        return inputs

    def _normalization(self, width: int, name: str = "normalization") -> tuple[Variable, Variable]:
        return (
            Variable(f"{self.name}/{name}/scale", (width,), ONES),
            Variable(f"{self.name}/{name}/offset", (width,), ZEROS),
        )

    def _product(self, name: str, inputs: int, outputs: int) -> tuple[Variable, Variable]:
        return (
            Variable(f"{self.name}/{name}/weights", (inputs, outputs), GLOROT),
            Variable(f"{self.name}/{name}/bias", (outputs,), ZEROS),
        )


@dataclass(frozen=True)
class FeedForward(Residual):
    """y = x + (swish(LN(x) W + b) V + c) / 2, where swish(z) = z sigmoid(z), and W is [inputs, units]."""

    units: int
    dropout: float = only_in_training(0.0)

    def variables(self, inputs: int) -> tuple[Variable, ...]:
        """Return the variables of LN, then W and b, called `inner`, and V and c, called `outer`."""
        inner, outer = self._product("inner", inputs, self.units), self._product("outer", self.units, inputs)
        return (*self._normalization(inputs), *inner, *outer)


@dataclass(frozen=True)
class SelfAttention(Residual):
    """y = x + A V + c: attention with several heads (Vaswani et al., 2017) and rotary positions (Su et al., 2021).

    [q k v] = LN(x) W + b; each head has its share of the numbers of q, k and v. In a head, with R(t) the rotation of
    the pairs of numbers j and j + d / 2 by the angle t / LONGEST_WAVE^(2 j / d), d numbers in all, row t gets the mean
    of the v of the rows s that it sees, weighted by the softmax over them of

        (R(t) q_t) . (R(s) k_s) / sqrt(d)

    which depends only on the difference t - s of the positions. A is the concatenation of all heads' results. A row
    sees the rows of its own chunk, and `left` rows before the chunk. With `chunk` 0 each row sees the whole utterance,
    and the layer does not stream. W and b are called `inner`, V and c `outer`.
    """

    heads: int
    chunk: int = 0
    left: int = 0
    dropout: float = only_in_training(0.0)

    @property
    def streams(self) -> bool:
        """Whether there are chunks."""
        return self.chunk > 0

    @property
    def group(self) -> int:
        """The rows of a chunk."""
        return max(self.chunk, 1)

    def width(self, inputs: int) -> int:
        """Return the width of the inputs; raise NetworkError if the heads cannot share them in pairs."""
        if self.heads < 1 or inputs % (2 * self.heads):
            raise NetworkError(f"layer {self.name}: {self.heads} heads cannot share {inputs} numbers in pairs")
        return inputs

    def variables(self, inputs: int) -> tuple[Variable, ...]:
        """Return the variables of LN, then W and b, called `inner`, and V and c, called `outer`."""
        inner, outer = self._product("inner", inputs, 3 * inputs), self._product("outer", inputs, inputs)
        return (*self._normalization(inputs), *inner, *outer)


@dataclass(frozen=True)
class ConvolutionModule(Residual):
    """y = x + swish(LN2(D * (a sigmoid(g)))) V + c, where [a g] = LN(x) W + b.

    D is a depthwise convolution over time, [before + 1 + after, inputs], with a bias: row t depends on the rows from
    t - `before` to t + `after`, with zeros before the first and after the last.
    """

    before: int
    after: int = 0
    dropout: float = only_in_training(0.0)

    @property
    def look_ahead(self) -> int:
        """The rows after each row that it depends on."""
        return self.after

    @property
    def kernel(self) -> int:
        """The number of rows that each row depends on."""
        return self.before + 1 + self.after

    def variables(self, inputs: int) -> tuple[Variable, ...]:
        """Return the variables of LN, W and b (`inner`), D and its bias (`depthwise`), LN2, then V and c (`outer`)."""
        return (
            *self._normalization(inputs),
            *self._product("inner", inputs, 2 * inputs),
            Variable(f"{self.name}/depthwise/kernel", (self.kernel, inputs), GLOROT),
            Variable(f"{self.name}/depthwise/bias", (inputs,), ZEROS),
            *self._normalization(inputs, "second_normalization"),
            *self._product("outer", inputs, inputs),
        )
