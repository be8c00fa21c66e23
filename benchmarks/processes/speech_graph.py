"""Makes an exported graph of any width for measurements.

    python -m benchmarks.processes.speech_graph OUT.pb [--trained GRAPH.pb] [--n_hidden 2048]

The outputs are those of the trained graph, but the computation is that of the wider one: the trained units are the
first units of each layer, and have zero weights for the other units, whose own weights are random. Without a trained
graph, all weights are random and the outputs are noise.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import numpy.typing as npt

from deepspeech.export.formats import TrainedModel
from deepspeech.network import Dense, Network, network
from deepspeech.network.deepspeech import LSTM_NAME
from deepspeech.options import ExportOptions, ModelOptions
from deepspeech.serving.frozen.model import FrozenModel, read_frozen_model
from deepspeech.util.features import FeatureOptions
from deepspeech.util.text import Alphabet

from .arguments import at_least

Weights = dict[str, npt.NDArray[np.float32]]
KERNEL, BIAS = f"{LSTM_NAME}/kernel", f"{LSTM_NAME}/bias"
ENGLISH = Alphabet(tuple(" abcdefghijklmnopqrstuvwxyz'"))


def random_weights(model: Network) -> Weights:
    """Return weights with which activations neither vanish nor explode; the blank is the most likely label."""
    random = np.random.default_rng(1)
    weights: Weights = {
        name: random.normal(0, 1 / shape[0] ** 0.5 if len(shape) > 1 else 0.01, shape).astype(np.float32)
        for name, shape in model.shapes.items()
    }
    weights["layer_1/weights"] *= 0.1
    weights["layer_6/bias"][-1] = 2
    return weights


def widened(model: FrozenModel, wide: Weights) -> Weights:
    """Replace the weights of the first units of each wide layer by those of a trained model."""
    n_hidden, width = len(model.weights[BIAS]) // 4, len(wide[BIAS]) // 4
    trained = {name: _by_gate(name, value) for name, value in model.weights.items()}
    result = {name: _by_gate(name, value) for name, value in wide.items()}
    for name, value in result.items():
        columns = trained[name].shape[-1]
        if value.ndim == 1 or name == BIAS:
            value[..., :columns] = trained[name]
            continue
        rows = _trained_rows(name, n_hidden, width, model.info.network.window_width)
        value[..., :columns] = 0
        value[rows, ..., :columns] = trained[name]
    return {name: value.reshape(wide[name].shape) for name, value in result.items()}


def _by_gate(name: str, value: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """Return the LSTM's weights as [..., 4, units]; all others as they are."""
    return value.reshape(*value.shape[:-1], 4, -1) if name in (KERNEL, BIAS) else value


def _trained_rows(name: str, n_hidden: int, width: int, inputs: int) -> npt.NDArray[np.intp]:
    """Return the rows of a wide layer's weights that belong to the trained units of the layer before."""
    if name == "layer_1/weights":
        return np.arange(inputs)
    first = np.arange(n_hidden)
    return np.concatenate([first, width + first]) if name == KERNEL else first


def main() -> None:
    """Write the graph."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--trained", type=Path)
    parser.add_argument("--n_hidden", type=at_least(1), default=2048)
    options = parser.parse_args()
    alphabet, features, relu_clip = ENGLISH, FeatureOptions(), ModelOptions().relu_clip
    trained = read_frozen_model(options.trained) if options.trained else None
    if trained:
        units = len(trained.weights[BIAS]) // 4
        if options.n_hidden < units:
            parser.error(f"--n_hidden: must be {units} or more, as in {options.trained}, not {options.n_hidden}")
        alphabet = Alphabet(tuple(str(label) for label in trained.info.labels))
        features = trained.info.features
        first = trained.info.network.weighted_layers[0]
        relu_clip = first.clip if isinstance(first, Dense) and first.clip else relu_clip
    model = network(ModelOptions(n_hidden=options.n_hidden, relu_clip=relu_clip), features.width, alphabet.size)
    weights = random_weights(model)
    if trained:
        weights = widened(trained, weights)
    from deepspeech.export.frozen_graph import frozen_graph  # which takes seconds: it imports TensorFlow

    graph = frozen_graph(TrainedModel(model, weights, alphabet, features), ExportOptions(options.out.parent))
    options.out.write_bytes(graph.SerializeToString())


if __name__ == "__main__":
    main()
