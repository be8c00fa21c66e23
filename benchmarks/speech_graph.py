#!/usr/bin/env python3
"""Make an exported graph of any width for measurements.

    benchmarks/speech_graph.py OUT.pb [--trained GRAPH.pb] [--n_hidden 2048]

Of a trained graph, the result hears just what that hears: its units are among the wider graph's, which have random
weights otherwise and which nothing that is trained listens to. So the outputs are those of training, and the work is
that of the width. Without a trained graph, all weights are random, and outputs are as good as noise.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import numpy.typing as npt

from deepspeech.export.frozen_graph import InferenceOptions, inference_graph
from deepspeech.network.training import variable_shapes
from deepspeech.options import ModelOptions
from deepspeech.serving.frozen.model import BIAS, KERNEL, FrozenModel, read_frozen_model
from deepspeech.util.features import FeatureOptions
from deepspeech.util.text import Alphabet

Weights = dict[str, npt.NDArray[np.float32]]
ENGLISH = Alphabet(tuple(" abcdefghijklmnopqrstuvwxyz'"))


def random_weights(alphabet: Alphabet, features: FeatureOptions, n_hidden: int) -> Weights:
    """Weights of any model: values between the layers neither vanish nor grow, and the blank is the likeliest label."""
    random = np.random.default_rng(1)
    shapes = variable_shapes(alphabet.size, ModelOptions(n_hidden=n_hidden), features)
    weights: Weights = {
        name: random.normal(0, 1 / shape[0] ** 0.5 if len(shape) > 1 else 0.01, shape).astype(np.float32)
        for name, shape in shapes.items()
    }
    weights["layer_1/weights"] *= 0.1
    weights["layer_6/bias"][-1] = 2
    return weights


def widened(model: FrozenModel, wide: Weights) -> Weights:
    """Put a trained model's weights in the place of the first units of each layer of a wider one."""
    n_hidden, width = len(model.weights[BIAS]) // 4, len(wide[BIAS]) // 4
    trained = {name: _by_gate(name, value) for name, value in model.weights.items()}
    result = {name: _by_gate(name, value) for name, value in wide.items()}
    for name, value in result.items():
        columns = trained[name].shape[-1]
        if value.ndim == 1 or name == BIAS:
            value[..., :columns] = trained[name]
            continue
        rows = _listened_to(name, n_hidden, width)
        value[..., :columns] = 0
        value[rows, ..., :columns] = trained[name]
    return {name: value.reshape(wide[name].shape) for name, value in result.items()}


def _by_gate(name: str, value: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """The LSTM's weights as [..., 4, units]; all others as they are."""
    return value.reshape(*value.shape[:-1], 4, -1) if name in (KERNEL, BIAS) else value


def _listened_to(name: str, n_hidden: int, width: int) -> npt.NDArray[np.intp]:
    """The rows of a wide layer's weights that belong to the trained units before it."""
    if name == "layer_1/weights":
        return np.arange(FeatureOptions().coefficients * (2 * FeatureOptions().context + 1))
    first = np.arange(n_hidden)
    return np.concatenate([first, width + first]) if name == KERNEL else first


def main() -> None:
    """Write the graph."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--trained", type=Path)
    parser.add_argument("--n_hidden", type=int, default=2048)
    options = parser.parse_args()
    alphabet, features, inference = ENGLISH, FeatureOptions(), InferenceOptions()
    model = read_frozen_model(options.trained) if options.trained else None
    if model:
        alphabet = Alphabet(tuple(str(label) for label in model.info.labels))
        features = model.info.features
        inference = InferenceOptions(relu_clip=model.info.relu_clip)
    weights = random_weights(alphabet, features, options.n_hidden)
    if model:
        weights = widened(model, weights)
    options.out.write_bytes(inference_graph(weights, alphabet, features, inference).SerializeToString())


if __name__ == "__main__":
    main()
