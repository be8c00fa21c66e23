"""Networks in exported graphs that compute whole utterances, with any of this program's layers.

Clients of DeepSpeech cannot run such a graph. TensorFlow can, and so can the engine of `deepspeech.serving`: it reads
the weights and the description of the network, and streams if the network does.
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from ..description import Network
from ..layers.compute import Compute, Kernels
from ..training import outputs_after_window
from .clients import Weights
from .supported import check_frozen

v1 = tf.compat.v1
Tensor = Any


def build_whole_network(network: Network, weights: Weights) -> None:
    """Build the network in the current graph, with constants named as the variables.

    Inputs are `input_node` float32 [batch, time, 2 * context + 1, coefficients] and `input_lengths` int32 [batch], in
    frames; the output is `logits` (probabilities) float32 [rows, batch, labels + 1]. Raise ExportError for a network
    that cannot be exported.
    """
    check_frozen(network)
    constants = {name: tf.constant(weights[name], name=name) for name in network.shapes}

    def constant(name: str, **_settings: Any) -> Tensor:
        return constants[name]

    windows = v1.placeholder(tf.float32, [None, None, 2 * network.context + 1, network.coefficients], "input_node")
    lengths = v1.placeholder(tf.int32, [None], "input_lengths")
    batch, time = tf.unstack(tf.shape(windows)[:2])
    values = tf.transpose(tf.reshape(windows, [batch, time, network.window_width]), [1, 0, 2])
    with v1.variable_scope(v1.get_variable_scope(), custom_getter=constant):
        outputs = outputs_after_window(
            network, values, lengths, batch, training=False, compute=Compute(Kernels.TENSORFLOW)
        )
    tf.nn.softmax(outputs.logits, name="logits/")  # exactly this name, even if a layer has it
