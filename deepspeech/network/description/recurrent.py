"""Records of recurrent layers."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

from ...errors import NetworkError
from .layer import GLOROT, OPEN_FORGET_GATE, Layer, Shape, Variable, only_in_training, recorded_unless


@dataclass(frozen=True)
class LSTM(Layer):
    """An LSTM over time (Hochreiter and Schmidhuber, 1997), without peepholes, projection or clipping.

    With [i g f o] = [x h'] W + b, where x is the input, and h' and c' are the states before:

        c = sigmoid(f) c' + sigmoid(i) tanh(g)        h = sigmoid(o) tanh(c)

    W, the kernel, is [inputs + units, 4 units]; the output is h.
    """

    units: int
    input_dropout: float = only_in_training(0.0)
    output_dropout: float = only_in_training(0.0)
    older_names: tuple[str, str] = only_in_training(("", ""))
    """The names of W and b in the first generation."""

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
        """Return this layer with a unit for every four numbers of the bias."""
        return replace(self, units=math.prod(shapes[f"{self.name}/bias"]) // 4)


@dataclass(frozen=True)
class TwoLSTMs(Layer):
    """Two LSTMs over the same frames, the second one backwards.

    Each is like `LSTM`, with its own kernel and bias. The output of a frame is the concatenation of both hidden states.
    """

    units: int
    """The units of each direction."""

    @property
    def directions(self) -> tuple[LSTM, LSTM]:
        """The forward LSTM and the backward LSTM."""
        return LSTM(f"{self.name}/forward", self.units), LSTM(f"{self.name}/backward", self.units)

    def width(self, inputs: int) -> int:
        """Return the number of units of both directions."""
        del inputs
        return 2 * self.units

    def variables(self, inputs: int) -> tuple[Variable, ...]:
        """Return the kernel and the bias of each direction."""
        return tuple(variable for each in self.directions for variable in each.variables(inputs))


@dataclass(frozen=True)
class BidirectionalLSTM(TwoLSTMs):
    """Two LSTMs, one over the frames in their order, the other from the last frame to the first (Graves, 2005).

    It needs the whole utterance.
    """

    @property
    def streams(self) -> bool:
        """False, as the second LSTM begins at the utterance's end."""
        return False


@dataclass(frozen=True)
class ChunkedLSTM(TwoLSTMs):
    """Two LSTMs; the second one runs from the end of each chunk to its beginning, with an initial state of zeros.

    The first one runs over all frames in order. So a frame depends on all frames before it, and on those after it in
    its chunk (after Zhang et al., "Highway LSTM RNNs for distant speech recognition", 2016, but without frames beyond
    the chunk, so that the chunks of several layers end together).
    """

    chunk: int
    """Frames of a chunk; the last chunk of an utterance may have fewer."""
    offset: int = recorded_unless(0)
    """Frames that the first chunk has fewer. If a layer's chunks end at other frames than those of the layers before,
    it also sees frames after the ends of their chunks."""

    @property
    def group(self) -> int:
        """The frames of a chunk."""
        return self.chunk

    @property
    def missing_in_group(self) -> int:
        """The frames that the first chunk has fewer."""
        return self.offset

    def width(self, inputs: int) -> int:
        """Return the number of units of both directions; raise NetworkError if a chunk has no frames."""
        if self.chunk < 1:
            raise NetworkError(f"layer {self.name}: its chunks have no frames")
        if self.offset >= self.chunk:
            raise NetworkError(
                f"layer {self.name}: its first chunk has no frames: {self.offset} fewer than the others of {self.chunk}"
            )
        return super().width(inputs)
