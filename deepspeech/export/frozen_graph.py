"""The graph that is exported: features of one window, and a few steps of the network with its state going in and out.

Published clients of DeepSpeech 0.9.3 embed TensorFlow 2.3 with few kernels, so only operations that those have are
used here, and attributes that came later are left out.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import tensorflow as tf

from ..network.variable_names import LSTM_SCOPE
from ..serving.frozen.metadata import GRAPH_VERSION, serialize_alphabet
from ..util.features import FeatureOptions
from ..util.text import Alphabet

v1 = tf.compat.v1
Tensor = Any
Weights = Mapping[str, npt.NDArray[np.float32]]

LATER_ATTRIBUTES = ("grad_a", "grad_b", "bad_indices_policy")
"""Attributes that TensorFlow 2.3 does not know; their defaults are what it does."""


@dataclass(frozen=True)
class InferenceOptions:
    """What an exported graph is to be like, beside its weights."""

    n_steps: int = 16
    batch_size: int = 1
    use_seq_length: bool = True
    beam_width: int = 500
    language: str = ""
    relu_clip: float = 20.0


def inference_graph(weights: Weights, alphabet: Alphabet, features: FeatureOptions, options: InferenceOptions) -> Any:
    """Return the GraphDef of a model: its weights, by variable name, as constants.

    Inputs are `input_samples` float32 [window], `input_node` float32 [batch, n_steps, 2 * context + 1, coefficients],
    `input_lengths` int32 [batch] and `previous_state_c/h` float32 [batch, n_hidden]; outputs are `mfccs` float32
    [1, coefficients], `logits` (probabilities) float32 [n_steps, batch, labels + 1] and `new_state_c/h`.
    """
    with tf.Graph().as_default() as graph, graph.device(""):
        _features(features)
        _network(weights, features, options)
        _metadata(alphabet, features, options)
    definition = graph.as_graph_def()
    for node in definition.node:
        for name in LATER_ATTRIBUTES:
            node.attr.pop(name, None)
    return definition


def _features(options: FeatureOptions) -> None:
    samples = v1.placeholder(tf.float32, [options.window], "input_samples")
    spectrogram = tf.raw_ops.AudioSpectrogram(
        input=tf.expand_dims(samples, -1), window_size=options.window, stride=options.step, magnitude_squared=True
    )
    coefficients = tf.raw_ops.Mfcc(
        spectrogram=spectrogram,
        sample_rate=options.sample_rate,
        upper_frequency_limit=options.sample_rate / 2,
        dct_coefficient_count=options.coefficients,
    )
    tf.reshape(coefficients, [-1, options.coefficients], name="mfccs")


def _network(weights: Weights, features: FeatureOptions, options: InferenceOptions) -> None:
    window = 2 * features.context + 1
    steps, batch = options.n_steps, options.batch_size
    windows = v1.placeholder(tf.float32, [batch, steps, window, features.coefficients], "input_node")
    lengths = v1.placeholder(tf.int32, [batch], "input_lengths")
    constants = {name: tf.constant(value, name=name) for name, value in weights.items()}

    layer = tf.reshape(tf.transpose(windows, [1, 0, 2, 3]), [-1, window * features.coefficients])
    for number in (1, 2, 3):
        layer = _clipped_relu(_dense(layer, constants, number), options)
    layer = _lstm(tf.reshape(layer, [steps, batch, -1]), lengths, constants, options)
    layer = _clipped_relu(_dense(tf.reshape(layer, [steps * batch, -1]), constants, 5), options)
    logits = _dense(layer, constants, 6)
    tf.nn.softmax(tf.reshape(logits, [steps, batch, -1]), name="logits")


def _lstm(inputs: Tensor, lengths: Tensor, constants: Mapping[str, Tensor], options: InferenceOptions) -> Tensor:
    """Hidden states [n_steps, batch, n_hidden], zero beyond each utterance's length; the state goes in and out."""
    steps, batch = options.n_steps, options.batch_size
    kernel, bias = constants[f"{LSTM_SCOPE}/kernel"], constants[f"{LSTM_SCOPE}/bias"]
    n_hidden = bias.shape[0] // 4
    state = [v1.placeholder(tf.float32, [batch, n_hidden], f"previous_state_{part}") for part in "ch"]
    no_peephole = tf.zeros([n_hidden])
    counted = lengths if options.use_seq_length else tf.constant(steps, tf.int32, [batch])
    output = tf.raw_ops.BlockLSTM(
        seq_len_max=tf.cast(tf.reduce_max(counted), tf.int64),
        x=inputs,
        cs_prev=state[0],
        h_prev=state[1],
        w=kernel,
        wci=no_peephole,
        wcf=no_peephole,
        wco=no_peephole,
        b=bias,
        forget_bias=0.0,
        cell_clip=-1.0,
        use_peephole=False,
    )
    last = tf.stack([counted, tf.range(batch)], axis=1)
    for part, before, states in zip("ch", state, (output.cs, output.h), strict=True):
        tf.gather_nd(tf.concat([tf.expand_dims(before, 0), states], axis=0), last, name=f"new_state_{part}")
    inside = tf.less(tf.expand_dims(tf.range(steps), 1), tf.expand_dims(counted, 0))
    return output.h * tf.expand_dims(tf.cast(inside, tf.float32), -1)


def _dense(inputs: Tensor, constants: Mapping[str, Tensor], number: int) -> Tensor:
    product = tf.matmul(inputs, constants[f"layer_{number}/weights"])
    return tf.nn.bias_add(product, constants[f"layer_{number}/bias"])


def _clipped_relu(values: Tensor, options: InferenceOptions) -> Tensor:
    return tf.minimum(tf.nn.relu(values), options.relu_clip)


def _metadata(alphabet: Alphabet, features: FeatureOptions, options: InferenceOptions) -> None:
    for name, value in {
        "version": GRAPH_VERSION,
        "sample_rate": features.sample_rate,
        "feature_win_len": features.window_ms,
        "feature_win_step": features.step_ms,
        "beam_width": options.beam_width,
    }.items():
        tf.constant([value], tf.int32, name=f"metadata_{name}")
    tf.constant([serialize_alphabet(alphabet.labels)], name="metadata_alphabet")
    tf.constant([options.language.encode()], name="metadata_language")
