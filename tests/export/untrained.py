"""Models with random weights, whose posteriors differ if they are computed differently, and signals for them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from deepspeech.export.formats import TrainedModel
from deepspeech.network import network
from deepspeech.options import ModelOptions, NetworkOptions, with_values
from deepspeech.options.model import PROVIDED
from deepspeech.serving.frozen.model import FrozenModel, ModelInfo
from deepspeech.util.features import FeatureOptions
from deepspeech.util.frames.normalization import FeatureStatistics
from deepspeech.util.text import Alphabet

Array = npt.NDArray[np.float32]

ALPHABET = Alphabet(tuple(" abcde"))
SMALL = ModelOptions(n_hidden=16, settings=NetworkOptions(channels=4))
MFCC = FeatureOptions()
FBANK = FeatureOptions(feature_type="fbank", coefficients=20, normalization="global")
CONFORMER = {"network": "conformer", "conformer_layers": 2, "attention_heads": 2}
MODELS: dict[str, tuple[dict[str, Any], FeatureOptions]] = {
    **{name: ({"network": name}, FBANK) for name in PROVIDED},
    "deepspeech": ({"network": "deepspeech"}, MFCC),
    "deepspeech_of_windows_side_by_side": ({"network": "deepspeech"}, replace(MFCC, window_ms=20)),
    "deepspeech_of_stacked_frames": (
        {"network": "deepspeech"},
        replace(FBANK, normalization="running", stack_frames=3, skip_frames=2),
    ),
    "lstm": ({"network": "lstm", "lstm_layers": 2}, FBANK),
    "lstm_at_8_khz": ({"network": "lstm", "lstm_layers": 1}, replace(FBANK, sample_rate=8000, normalization="none")),
    "lstm_every_10_ms": ({"network": "lstm", "lstm_layers": 1, "output_step": 10, "lstm_projection": 9}, FBANK),
    "lstm_of_running_features": ({"network": "lstm", "lstm_layers": 1}, replace(FBANK, normalization="running")),
    "lstm_of_whole_recordings": ({"network": "lstm", "lstm_layers": 1}, replace(FBANK, normalization="utterance")),
    "bidirectional": ({"network": "lstm", "lstm_layers": 2, "bidirectional": True, "lstm_projection": 9}, MFCC),
    "lstm_in_chunks": ({"network": "lstm", "lstm_layers": 2, "lstm_chunk": 3}, FBANK),
    "lstm_in_shifted_chunks": (
        {"network": "lstm", "convolutions": 4, "lstm_layers": 3, "lstm_chunk": 6, "lstm_chunk_offset": 4},
        FBANK,
    ),
    "conformer": (CONFORMER | {"attention_chunk": 4, "attention_left": 6}, FBANK),
    "whole_conformer": (CONFORMER | {"bidirectional": True}, FBANK),
    "convolutional": (
        {"network": "convolutional", "convolutional_layers": 2, "convolution_kernel": 4, "output_step": 20},
        replace(FBANK, normalization="running"),
    ),
}
"""Flags and features of every kind of exported network, by name."""
WHOLE = ("lstm_of_whole_recordings", "bidirectional", "whole_conformer")
"""The names of those that do not stream."""


def untrained(flags: dict[str, Any], features: FeatureOptions, alphabet: Alphabet = ALPHABET) -> TrainedModel:
    """Return a network with random weights, and normalization that fits the energies of speech."""
    some = network(with_values(SMALL, flags), features.width, alphabet.size, features.network_step_ms)
    generator = np.random.default_rng(3)
    weights = {}
    for name, shape in some.shapes.items():
        deviation = 2 / np.sqrt(shape[0]) if len(shape) == 2 else 0.3
        weights[name] = (generator.normal(size=shape) * deviation + name.endswith("scale")).astype(np.float32)
    mean = generator.normal(-10 if features.feature_type == "fbank" else 0, 1, features.coefficients)
    deviation = generator.uniform(2, 4, features.coefficients)
    statistics = FeatureStatistics(mean.astype(np.float32), deviation.astype(np.float32))
    return TrainedModel(some, weights, alphabet, features, statistics if features.normalized else None)


def frozen(model: TrainedModel) -> FrozenModel:
    """Return the model for the engine."""
    info = ModelInfo(
        path=Path("untrained.pb"),
        labels=model.alphabet.output_labels,
        features=model.features,
        n_steps=16,
        beam_width=500,
        language="",
        network=model.network,
        statistics=model.statistics,
    )
    return FrozenModel(info, model.weights)


def signal(samples: int) -> Array:
    """Return float32 [samples] of noise that swells and fades."""
    noise = np.random.default_rng(samples).normal(size=samples)
    swelling: Array = (0.1 * noise * np.sin(np.arange(samples) / 1500)).astype(np.float32)
    return swelling
