"""The training of a network in PyTorch, on batches that `peer_conformer.py` sends. Needs only PyTorch and NumPy."""

import json
import math
import sys
import time
from math import ceil

import numpy as np
import torch
from torch import nn

from . import arrays
from .pytorch_step import NETWORKS
from .step import Geometry

WARM_UP = 0.1
"""The share of the time in which the learning rate rises."""
BETAS = (0.9, 0.98)


def main() -> None:
    """Train on each batch received, or answer with the network's posteriors of it."""
    settings = json.loads(sys.argv[1])
    seconds, learning_rate, decay, clip = (
        settings.pop(name) for name in ("seconds", "learning_rate", "weight_decay", "clip")
    )
    geometry = Geometry(**settings)
    torch.manual_seed(1)
    model = NETWORKS[geometry.network](geometry)
    optimizer = torch.optim.AdamW(model.parameters(), learning_rate, BETAS, weight_decay=decay, fused=True)
    ctc = nn.CTCLoss(blank=geometry.labels, reduction="sum", zero_infinity=True)
    started = time.monotonic()
    while (message := arrays.receive(sys.stdin.buffer)) is not None:
        trains, features, lengths, labels = (message[name] for name in ("trains", "features", "lengths", "labels"))
        rows = torch.from_numpy(np.array([ceil(length / geometry.reduction) for length in lengths]))
        model.train(bool(trains))
        with torch.set_grad_enabled(bool(trains)):
            with torch.autocast("cpu", dtype=torch.bfloat16):
                logits = model(torch.from_numpy(features).transpose(0, 1), rows)
            log_probabilities = logits.float().log_softmax(2)
        if not trains:
            arrays.send(sys.stdout.buffer, posteriors=log_probabilities.exp().transpose(0, 1).numpy())
            continue
        label_lengths = torch.from_numpy((labels >= 0).sum(axis=1))
        loss = ctc(log_probabilities, torch.from_numpy(labels.clip(0)), rows, label_lengths) / len(features)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), clip)
        for group in optimizer.param_groups:
            group["lr"] = learning_rate * _share((time.monotonic() - started) / seconds)
        optimizer.step()


def _share(done: float) -> float:
    """Return the factor of the learning rate after a share of the time, `done`."""
    if done < WARM_UP:
        return done / WARM_UP
    return 0.5 * (1 + math.cos(math.pi * min(1.0, (done - WARM_UP) / (1 - WARM_UP))))


if __name__ == "__main__":
    main()
