"""The record of a convolution over time and frequency."""

from __future__ import annotations

from dataclasses import dataclass

from ...errors import NetworkError
from .layer import GLOROT, ZEROS, Layer, Variable


@dataclass(frozen=True)
class Convolution(Layer):
    """A convolution over time and frequency, with a clipped ReLU: y = min(max(x * W + b, 0), clip).

    The numbers of a frame are those of its first frequency, one for each of `input_channels`, then those of the second,
    and so on; the `channels` of the output have the same order. W is [time, frequency, input_channels, channels].
    Output t depends on `time` frames from `time_stride` t - `before` on, with zeros before the first and after the
    last; an utterance of n frames has ceil(n / `time_stride`) outputs. The same applies to the frequencies. With `clip`
    None, there is no ReLU.
    """

    channels: int
    input_channels: int = 1
    time: int = 3
    frequency: int = 3
    time_stride: int = 1
    frequency_stride: int = 1
    clip: float | None = None

    @property
    def before(self) -> int:
        """The number of frames before `time_stride` t that output t depends on."""
        return (self.time - 1) // 2

    @property
    def lower(self) -> int:
        """The number of frequencies below `frequency_stride` f that output f depends on."""
        return (self.frequency - 1) // 2

    @property
    def look_ahead(self) -> int:
        """The number of frames after `time_stride` t that output t depends on."""
        return self.time - 1 - self.before

    @property
    def time_reduction(self) -> int:
        """The stride over time."""
        return self.time_stride

    def input_frequencies(self, inputs: int) -> int:
        """Return the number of frequencies in frames of `inputs` numbers; raise NetworkError if they do not fit."""
        sizes = (self.channels, self.input_channels, self.time, self.frequency, self.time_stride, self.frequency_stride)
        if min(sizes) < 1:
            raise NetworkError(f"layer {self.name}: its sizes and strides must be 1 or more")
        if self.time < self.time_stride:
            raise NetworkError(f"layer {self.name}: its stride of {self.time_stride} frames skips some")
        if inputs % self.input_channels:
            raise NetworkError(f"layer {self.name}: {inputs} numbers are not those of {self.input_channels} channels")
        return inputs // self.input_channels

    def frequencies(self, inputs: int) -> int:
        """Return the number of frequencies of the output; raise NetworkError as above."""
        return -(-self.input_frequencies(inputs) // self.frequency_stride)

    def width(self, inputs: int) -> int:
        """Return the frequencies times the channels; raise NetworkError for sizes that do not fit."""
        return self.frequencies(inputs) * self.channels

    def variables(self, inputs: int) -> tuple[Variable, ...]:
        """Return the kernel W and the bias b."""
        del inputs
        shape = (self.time, self.frequency, self.input_channels, self.channels)
        return (
            Variable(f"{self.name}/kernel", shape, GLOROT),
            Variable(f"{self.name}/bias", (self.channels,), ZEROS),
        )
