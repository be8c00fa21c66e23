"""Common parts of the processes that run training steps for `train_step.py`. Needs only NumPy."""

import json
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Geometry:
    """The model, its sizes and the batch of one measurement."""

    n_hidden: int
    bfloat16: bool = False
    batch_size: int = 16
    frames: int = 400
    threads: int = 0  # 0: as many as there are cores
    coefficients: int = 26
    context: int = 9
    labels: int = 28  # without the blank
    transcript: int = 60
    network: str = "deepspeech"
    step_ms: int = 20
    layers: int = 4  # LSTMs of the network lstm, blocks of the conformer
    convolutions: int = 2  # or 4, that they begin with
    channels: int = 32  # of these
    bidirectional: bool = False
    dropout: float = 0.05

    def batch(self, random: np.random.Generator) -> tuple[Any, Any, Any, Any]:
        """Make features [batch, frames, coefficients], lengths, labels [batch, transcript], and their lengths."""
        features = random.standard_normal((self.batch_size, self.frames, self.coefficients), np.float32)
        labels = random.integers(0, self.labels, (self.batch_size, self.transcript), np.int32)
        return (
            features,
            np.full(self.batch_size, self.frames, np.int32),
            labels,
            np.full(self.batch_size, self.transcript, np.int32),
        )

    @property
    def operations(self) -> float:
        """The floating-point operations of a step's matrix products, without the optimizer and the loss.

        The gradient of the first layer's input is neither needed nor counted.
        """
        if self.network != "deepspeech":
            return self._operations_after_convolutions
        n_hidden = self.n_hidden
        window = self.coefficients * (2 * self.context + 1)
        weights = 3 * n_hidden * n_hidden + 8 * n_hidden * n_hidden + n_hidden * (self.labels + 1)
        return 2.0 * self.batch_size * self.frames * (3 * weights + 2 * window * n_hidden)

    @property
    def reduction(self) -> int:
        """Frames in a row of logits in the other networks, whose rows are 40 ms apart."""
        return 40 // self.step_ms

    @property
    def convolved(self) -> list[tuple[int, int, int, int]]:
        """The channels, in and out, and the strides over time and frequency, of each convolution."""
        first = 2 if self.reduction % 2 == 0 else self.reduction
        channels, rest = self.channels, self.reduction // first
        if self.convolutions == 2:
            return [(1, channels, first, 2), (channels, channels, rest, 2)]
        more = 2 * channels
        return [(1, channels, 1, 2), (channels, channels, first, 1), (channels, more, 1, 2), (more, more, rest, 1)]

    @property
    def _operations_after_convolutions(self) -> float:
        width = self.n_hidden * (2 if self.bidirectional and self.network == "lstm" else 1)
        rows, frequencies, inputs, convolutions = self.frames, self.coefficients, 0, 0
        for number, (taken, made, time_stride, frequency_stride) in enumerate(self.convolved):
            rows, frequencies = rows // time_stride, -(-frequencies // frequency_stride)
            inputs = frequencies * made
            convolutions += 9 * taken * inputs * rows * (3 if number else 2)
        weights = (inputs + (self.layers - 1) * width + self.layers * self.n_hidden) * 4 * width
        if self.network == "conformer":  # 16 in the feed-forward layers, 4 in attention, 3 in the convolution module
            weights = inputs * width + self.layers * width * (23 * width + 2 * rows)
        if self.network == "convolutional":  # 8 in the feed-forward layers
            weights = inputs * width + self.layers * width * 11 * width
        return 2.0 * self.batch_size * (convolutions + 3 * rows * (weights + width * (self.labels + 1)))


PRODUCT = (6400, 1024, 4096)
"""Rows, depth and columns of the large matrix product whose speed is the machine's ceiling."""


def serve(step: Callable[[], object], product: Callable[[], object], memory: "PeakMemory") -> None:
    """Carry out the request in each line of standard input, and answer with a line of JSON."""
    for line in sys.stdin:
        if line.strip() == "step":
            answer = {"seconds": _seconds(step), "megabytes": memory.megabytes()}
        else:
            rows, depth, columns = PRODUCT
            answer = {"operations_per_second": 2 * rows * depth * columns / min(_seconds(product) for _ in range(3))}
        print(json.dumps(answer), flush=True)


def _seconds(work: Callable[[], object]) -> float:
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


class PeakMemory:
    """The peak memory of this process since this was created."""

    def __init__(self) -> None:
        Path("/proc/self/clear_refs").write_text("5")
        self._before = _status("VmRSS")

    def megabytes(self) -> float:
        """Return the peak, minus the memory at the beginning."""
        return (_status("VmHWM") - self._before) / 1e3


def _status(name: str) -> int:
    """Return a line of the process's status, in kB."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith(f"{name}:")).split()[1])
