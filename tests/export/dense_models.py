"""Small models of dense layers and LSTMs, which all formats support, with random weights."""

from __future__ import annotations

import numpy as np

from deepspeech.export.formats import TrainedModel
from deepspeech.network import LSTM, ContextWindow, Dense, IntermediateCTC, Network, network
from deepspeech.options import ModelOptions
from deepspeech.util.features import FeatureOptions
from deepspeech.util.text import Alphabet

ALPHABET = Alphabet(tuple(" abcde"))
TWO_LSTMS = Network(
    "two_lstms",
    26,
    (
        ContextWindow("context", frames=2),
        Dense("first", units=8, clip=5.0),
        LSTM("lstm_1", units=7),
        IntermediateCTC("inner"),
        LSTM("lstm_2", units=7),
        Dense("labels", units=7),
    ),
)
NETWORKS = [network(ModelOptions(n_hidden=12), 26, ALPHABET.size), TWO_LSTMS]


def trained_model(described: Network, features: FeatureOptions | None = None, scale: float = 0.5) -> TrainedModel:
    """Return a network with random weights."""
    generator = np.random.default_rng(3)
    shapes = described.shapes.items()
    weights = {name: generator.normal(scale=scale, size=shape).astype(np.float32) for name, shape in shapes}
    return TrainedModel(described, weights, ALPHABET, features or FeatureOptions())
