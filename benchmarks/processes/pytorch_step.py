"""The acoustic model's training step in PyTorch, as `train_step.py` runs it. Needs only PyTorch and NumPy.

It runs on the first GPU, if there is one, with matrix products in TensorFloat-32, which TensorFlow also uses on GPUs.
"""

import json
import sys
from math import ceil
from typing import Any

import numpy as np
import torch
from torch import nn

from .step import PRODUCT, Geometry, PeakMemory, serve

RELU_CLIP = 20.0
HEADS, CHUNK, LEFT, KERNEL = 4, 16, 64, 15
"""The defaults of the network conformer."""


class DeepSpeech(nn.Module):  # type: ignore[misc]
    """The network deepspeech: features [time, batch, coefficients] to logits [time, batch, labels]."""

    def __init__(self, geometry: Geometry) -> None:
        super().__init__()
        self._context = geometry.context
        n_hidden = geometry.n_hidden
        self.before = nn.Sequential(
            *_clipped(geometry.coefficients * (2 * geometry.context + 1), n_hidden, geometry.dropout),
            *_clipped(n_hidden, n_hidden, geometry.dropout),
            *_clipped(n_hidden, n_hidden, geometry.dropout),
        )
        self.lstm = nn.LSTM(n_hidden, n_hidden)
        self.after = nn.Sequential(
            *_clipped(n_hidden, n_hidden, geometry.dropout), nn.Linear(n_hidden, geometry.labels + 1)
        )

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        """Add the neighbouring frames to each frame, then apply all layers."""
        padded = nn.functional.pad(features, (0, 0, 0, 0, self._context, self._context))
        windows = padded.unfold(0, 2 * self._context + 1, 1).transpose(2, 3).flatten(2)
        logits: torch.Tensor = self.after(self.lstm(self.before(windows))[0])
        return logits


class NormalizedLSTMs(nn.Module):  # type: ignore[misc]
    """The network lstm: features [time, batch, coefficients] to logits [rows, batch, labels]."""

    def __init__(self, geometry: Geometry) -> None:
        super().__init__()
        self.convolutions, width = _subsampling(geometry)
        directions = 2 if geometry.bidirectional else 1
        self.normalized = nn.Sequential(nn.LayerNorm(width), nn.Dropout(geometry.dropout))
        self.layers = nn.ModuleList()
        for _ in range(geometry.layers):
            lstm = nn.LSTM(width, geometry.n_hidden, bidirectional=geometry.bidirectional)
            width = directions * geometry.n_hidden
            self.layers.append(nn.ModuleList([lstm, nn.LayerNorm(width), nn.Dropout(geometry.dropout)]))
        self.labels = nn.Linear(width, geometry.labels + 1)

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        """Reduce the frames, then apply all layers."""
        convolved = self.convolutions(features.transpose(0, 1)[:, None])
        values = self.normalized(convolved.permute(2, 0, 3, 1).flatten(2))
        for lstm, normalization, dropout in self.layers:
            values = dropout(normalization(lstm(values)[0]))
        logits: torch.Tensor = self.labels(values)
        return logits


class Conformer(nn.Module):  # type: ignore[misc]
    """The network conformer, or convolutional: features [time, batch, coefficients] to logits [rows, batch, labels]."""

    def __init__(self, geometry: Geometry) -> None:
        super().__init__()
        self.convolutions, width = _subsampling(geometry)
        self.projection = nn.Linear(width, geometry.n_hidden)
        self.blocks = nn.ModuleList(Block(geometry) for _ in range(geometry.layers))
        self.labels = nn.Linear(geometry.n_hidden, geometry.labels + 1)
        self._whole = geometry.bidirectional

    def forward(self, features: torch.Tensor, lengths: torch.Tensor | None = None) -> torch.Tensor:
        """Reduce the frames, then apply all blocks; `lengths` are those of the utterances, in rows."""
        convolved = self.convolutions(features.transpose(0, 1)[:, None])
        values = self.projection(convolved.transpose(1, 2).transpose(2, 3).flatten(2))
        rows = torch.arange(values.shape[1], device=values.device)
        begin = (rows // CHUNK * CHUNK)[:, None]
        seen = None if self._whole else (rows >= begin - LEFT) & (rows < begin + CHUNK)
        if lengths is not None:
            spoken = (rows < lengths[:, None])[:, None, None]
            seen = spoken if seen is None else spoken & seen
        for block in self.blocks:
            values = block(values, seen)
        logits: torch.Tensor = self.labels(values).transpose(0, 1)
        return logits


class Block(nn.Module):  # type: ignore[misc]
    """A block over [batch, rows, width] of a conformer, or of the network convolutional, which has no attention."""

    def __init__(self, geometry: Geometry) -> None:
        super().__init__()
        width, self._attends = geometry.n_hidden, geometry.network == "conformer"
        inner = (4 if self._attends else 2) * width
        self.first, self.second = (_feed_forward(width, inner, geometry.dropout) for _ in range(2))
        self.before_convolution = nn.LayerNorm(width)
        if self._attends:
            self.before_attention = nn.LayerNorm(width)
            self.inner, self.outer = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.gates, self.after = nn.Linear(width, 2 * width), nn.Linear(width, width)
        self.depthwise = nn.Conv1d(width, width, KERNEL, groups=width)
        self.inside, self.last = nn.LayerNorm(width), nn.LayerNorm(width)
        self.dropout = nn.Dropout(geometry.dropout)
        near = KERNEL - 1
        both_sides = geometry.bidirectional or not self._attends
        self._padding = (near // 2, near - near // 2) if both_sides else (near, 0)

    def forward(self, values: torch.Tensor, seen: torch.Tensor | None) -> torch.Tensor:
        """Return [batch, rows, width]; the attention mask `seen` is bool [rows, rows], or [batch, 1, 1, rows]."""
        values = values + 0.5 * self.first(values)
        if self._attends:
            values = values + self.dropout(self.outer(self._attend(self.before_attention(values), seen)))
        gated = nn.functional.glu(self.gates(self.before_convolution(values)), 2).transpose(1, 2)
        convolved = self.depthwise(nn.functional.pad(gated, self._padding)).transpose(1, 2)
        values = values + self.dropout(self.after(nn.functional.silu(self.inside(convolved))))
        normalized: torch.Tensor = self.last(values + 0.5 * self.second(values))
        return normalized

    def _attend(self, values: torch.Tensor, seen: torch.Tensor | None) -> torch.Tensor:
        batch, rows, width = values.shape
        queries, keys, of_rows = self.inner(values).view(batch, rows, 3, HEADS, -1).permute(2, 0, 3, 1, 4)
        half = width // HEADS // 2
        frequencies = 10_000.0 ** (-torch.arange(half, device=values.device) / half)
        angles = torch.arange(rows, device=values.device)[:, None] * frequencies
        turns = angles.cos().to(values.dtype), angles.sin().to(values.dtype)
        queries, keys = _rotated(queries, *turns), _rotated(keys, *turns)
        attended = nn.functional.scaled_dot_product_attention(queries, keys, of_rows, seen)
        return attended.transpose(1, 2).reshape(batch, rows, width)


NETWORKS: dict[str, Any] = {
    **{"deepspeech": DeepSpeech, "lstm": NormalizedLSTMs},
    **dict.fromkeys(("conformer", "convolutional"), Conformer),
}


def _subsampling(geometry: Geometry) -> tuple[nn.Module, int]:
    frequencies, made = geometry.coefficients, 1
    convolutions: list[nn.Module] = []
    for taken, made, time_stride, frequency_stride in geometry.convolved:
        convolutions += _convolved(taken, made, time_stride, frequency_stride)
        frequencies = ceil(frequencies / frequency_stride)
    return nn.Sequential(*convolutions), made * frequencies


def _feed_forward(width: int, units: int, dropout: float) -> nn.Module:
    inner, outer = nn.Linear(width, units), nn.Linear(units, width)
    return nn.Sequential(nn.LayerNorm(width), inner, nn.SiLU(), nn.Dropout(dropout), outer, nn.Dropout(dropout))


def _rotated(values: torch.Tensor, cosines: torch.Tensor, sines: torch.Tensor) -> torch.Tensor:
    first, second = values.chunk(2, 3)
    return torch.cat([first * cosines - second * sines, second * cosines + first * sines], 3)


def _convolved(inputs: int, channels: int, time_stride: int, frequency_stride: int) -> list[nn.Module]:
    convolution = nn.Conv2d(inputs, channels, 3, (time_stride, frequency_stride), 1)
    return [convolution, nn.Hardtanh(0.0, RELU_CLIP, inplace=True)]


def _clipped(inputs: int, units: int, dropout: float) -> list[nn.Module]:
    return [nn.Linear(inputs, units), nn.Hardtanh(0.0, RELU_CLIP, inplace=True), nn.Dropout(dropout)]


def main() -> None:
    """Build the model, then run steps on request."""
    geometry = Geometry(**json.loads(sys.argv[1]))
    torch.manual_seed(1)
    if geometry.threads:
        torch.set_num_threads(geometry.threads)
    memory = PeakMemory()
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    torch.set_float32_matmul_precision("high")
    model = NETWORKS[geometry.network](geometry).to(device)
    optimizer = torch.optim.Adam(model.parameters(), fused=True)
    ctc = nn.CTCLoss(blank=geometry.labels, reduction="sum")
    batch = [_tensor(array) for array in geometry.batch(np.random.default_rng(1))]

    def step() -> None:
        features, lengths, labels, label_lengths = (tensor.to(device) for tensor in batch)
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast(device.type, dtype=torch.bfloat16, enabled=geometry.bfloat16):
            logits = model(features.transpose(0, 1))
        log_probabilities = logits.float().log_softmax(2)
        rows = torch.full_like(lengths, len(log_probabilities))
        loss = ctc(log_probabilities, labels, rows, label_lengths) / geometry.batch_size
        loss.backward()
        optimizer.step()
        _finished(device)

    rows, depth, columns = PRODUCT
    kind = {"dtype": torch.bfloat16 if geometry.bfloat16 else torch.float32, "device": device}
    left, right = torch.ones(rows, depth, **kind), torch.ones(depth, columns, **kind)

    def product() -> None:
        torch.mm(left, right)
        _finished(device)

    serve(step, product, memory)


def _finished(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def _tensor(array: Any) -> torch.Tensor:
    return torch.from_numpy(np.ascontiguousarray(array))


if __name__ == "__main__":
    main()
