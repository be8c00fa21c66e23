"""The acoustic model's training step in PyTorch, as `train_step.py` runs it. Needs PyTorch and NumPy alone."""

import json
import sys
from math import ceil
from typing import Any

import numpy as np
import torch
from torch import nn

from .step import PRODUCT, Geometry, PeakMemory, serve

RELU_CLIP = 20.0
DROPOUT = 0.05


class DeepSpeech(nn.Module):  # type: ignore[misc]
    """The network deepspeech: features [time, batch, coefficients] to logits [time, batch, labels]."""

    def __init__(self, geometry: Geometry) -> None:
        super().__init__()
        self._context = geometry.context
        n_hidden = geometry.n_hidden
        self.before = nn.Sequential(
            *_clipped(geometry.coefficients * (2 * geometry.context + 1), n_hidden),
            *_clipped(n_hidden, n_hidden),
            *_clipped(n_hidden, n_hidden),
        )
        self.lstm = nn.LSTM(n_hidden, n_hidden)
        self.after = nn.Sequential(*_clipped(n_hidden, n_hidden), nn.Linear(n_hidden, geometry.labels + 1))

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        """Put frames between their neighbours, then through all layers."""
        padded = nn.functional.pad(features, (0, 0, 0, 0, self._context, self._context))
        windows = padded.unfold(0, 2 * self._context + 1, 1).transpose(2, 3).flatten(2)
        logits: torch.Tensor = self.after(self.lstm(self.before(windows))[0])
        return logits


class NormalizedLSTMs(nn.Module):  # type: ignore[misc]
    """The network lstm: features [time, batch, coefficients] to logits [rows, batch, labels]."""

    def __init__(self, geometry: Geometry) -> None:
        super().__init__()
        first = 2 if geometry.reduction % 2 == 0 else geometry.reduction
        self.convolutions = nn.Sequential(
            *_convolved(1, geometry.channels, first),
            *_convolved(geometry.channels, geometry.channels, geometry.reduction // first),
        )
        directions = 2 if geometry.bidirectional else 1
        width = geometry.channels * ceil(ceil(geometry.coefficients / 2) / 2)
        self.normalized = nn.Sequential(nn.LayerNorm(width), nn.Dropout(DROPOUT))
        self.layers = nn.ModuleList()
        for _ in range(geometry.layers):
            lstm = nn.LSTM(width, geometry.n_hidden, bidirectional=geometry.bidirectional)
            width = directions * geometry.n_hidden
            self.layers.append(nn.ModuleList([lstm, nn.LayerNorm(width), nn.Dropout(DROPOUT)]))
        self.labels = nn.Linear(width, geometry.labels + 1)

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        """Reduce the frames, then through all layers."""
        convolved = self.convolutions(features.transpose(0, 1)[:, None])
        values = self.normalized(convolved.permute(2, 0, 3, 1).flatten(2))
        for lstm, normalization, dropout in self.layers:
            values = dropout(normalization(lstm(values)[0]))
        logits: torch.Tensor = self.labels(values)
        return logits


NETWORKS: dict[str, Any] = {"deepspeech": DeepSpeech, "lstm": NormalizedLSTMs}


def _convolved(inputs: int, channels: int, stride: int) -> list[nn.Module]:
    return [nn.Conv2d(inputs, channels, 3, (stride, 2), 1), nn.Hardtanh(0.0, RELU_CLIP, inplace=True)]


def _clipped(inputs: int, units: int) -> list[nn.Module]:
    return [nn.Linear(inputs, units), nn.Hardtanh(0.0, RELU_CLIP, inplace=True), nn.Dropout(DROPOUT)]


def main() -> None:
    """Build the model, then run steps as they are asked for."""
    geometry = Geometry(**json.loads(sys.argv[1]))
    torch.manual_seed(1)
    if geometry.threads:
        torch.set_num_threads(geometry.threads)
    memory = PeakMemory()
    model = NETWORKS[geometry.network](geometry)
    optimizer = torch.optim.Adam(model.parameters(), fused=True)
    ctc = nn.CTCLoss(blank=geometry.labels, reduction="sum")
    features, lengths, labels, label_lengths = map(_tensor, geometry.batch(np.random.default_rng(1)))

    def step() -> None:
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=geometry.bfloat16):
            logits = model(features.transpose(0, 1))
        log_probabilities = logits.float().log_softmax(2)
        rows = torch.full_like(lengths, len(log_probabilities))
        loss = ctc(log_probabilities, labels, rows, label_lengths) / geometry.batch_size
        loss.backward()
        optimizer.step()

    rows, depth, columns = PRODUCT
    precision = torch.bfloat16 if geometry.bfloat16 else torch.float32
    left, right = torch.ones(rows, depth, dtype=precision), torch.ones(depth, columns, dtype=precision)
    serve(step, lambda: torch.mm(left, right), memory)


def _tensor(array: Any) -> torch.Tensor:
    return torch.from_numpy(np.ascontiguousarray(array))


if __name__ == "__main__":
    main()
