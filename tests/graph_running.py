"""Exported graphs, run by TensorFlow the way their clients do it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import tensorflow as tf

from deepspeech.serving.feature_windows import ModelFeatures
from deepspeech.serving.frozen.model import ModelInfo

v1 = tf.compat.v1
Array = npt.NDArray[np.float32]


def windows_of(samples: Array, info: ModelInfo) -> Array:
    """Return the windows [time, n_input] that a model gets of float32 [samples]."""
    windows = ModelFeatures(info).windows()
    return np.concatenate([windows.feed(samples), windows.finish()])


def run_graph(path: Path, windows: Array, n_steps: int = 16) -> Array:
    """Return the posteriors [time, labels + 1] of a graph, n_steps windows at a time."""
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(v1.GraphDef.FromString(path.read_bytes()), name="")
    units = graph.get_tensor_by_name("previous_state_c:0").shape[1]
    shape = graph.get_tensor_by_name("input_node:0").shape
    state: Any = [np.zeros((1, units), np.float32)] * 2
    posteriors = []
    with v1.Session(graph=graph) as session:
        for start in range(0, len(windows), n_steps):
            chunk = windows[start : start + n_steps]
            padded = np.zeros((n_steps, windows.shape[1]), np.float32)
            padded[: len(chunk)] = chunk
            feed = {
                "input_node:0": padded.reshape(shape),
                "input_lengths:0": [len(chunk)],
                "previous_state_c:0": state[0],
                "previous_state_h:0": state[1],
            }
            logits, *state = session.run(["logits:0", "new_state_c:0", "new_state_h:0"], feed)
            posteriors.append(logits[: len(chunk), 0])
    return np.concatenate(posteriors)
