"""The exported graph: the features of one window, and a few steps of the network, with its state as input and output.

Published clients of DeepSpeech 0.9.3 embed TensorFlow 2.3 with few kernels. So the graph uses only their operations,
and omits attributes of later versions.
"""

from typing import Any

import tensorflow as tf

from ..network.frozen.clients import build_frozen_network
from ..network.frozen.supported import is_for_clients
from ..network.frozen.whole import build_whole_network
from ..options import ExportOptions
from ..util.features import FeatureOptions
from .formats import TrainedModel
from .metadata import graph_metadata

v1 = tf.compat.v1

LATER_ATTRIBUTES = ("grad_a", "grad_b", "bad_indices_policy")
"""Attributes that TensorFlow 2.3 does not know; operations do the same without them if they have default values."""


def serialized(model: TrainedModel, options: ExportOptions) -> bytes:
    """Return the file of a model, a serialized GraphDef; see `frozen_graph`, whose errors it raises."""
    content: bytes = frozen_graph(model, options).SerializeToString(deterministic=True)
    return content


def frozen_graph(model: TrainedModel, options: ExportOptions) -> Any:
    """Return the GraphDef of a model with its weights as constants.

    Inputs are `input_samples` float32 [window] and those of `build_frozen_network`; outputs are `mfccs` float32
    [1, coefficients] and those of `build_frozen_network`, or of `build_whole_network` for a network that clients cannot
    run. `metadata_network` describes a network other than `deepspeech`. Raise ExportError for a network that cannot be
    exported.

    The MFCCs are those of TensorFlow's AudioSpectrogram and Mfcc, as in `deepspeech.util.front_ends.mfcc`.
    `metadata_features` describes features that published clients do not compute, with the statistics that normalize
    them. `input_samples`, `mfccs` and the metadata of their windows are then omitted, so these clients refuse the
    graph.
    """
    network, weights = model.network, model.weights
    with tf.Graph().as_default() as graph, graph.device(""):
        if model.features.published:
            _features(model.features)
        if is_for_clients(network):
            build_frozen_network(
                network, weights, steps=options.n_steps, batch=options.batch_size, use_lengths=options.use_seq_length
            )
        else:
            build_whole_network(network, weights)
            tf.constant([options.n_steps], tf.int32, name="metadata_n_steps")
        for name, value in graph_metadata(model, options).items():
            tf.constant([value], tf.int32 if isinstance(value, int) else tf.string, name=name)
    definition = graph.as_graph_def()
    _leave_out_of_process(definition)
    return definition


def _leave_out_of_process(definition: Any) -> None:
    """Remove what depends on later versions or on this process from a graph, so that a model always has the same graph.

    TensorFlow numbers the functions of loops and gradients within a process, and names them by the number.
    """
    functions = sorted(definition.library.function, key=lambda each: _number_and_stem(each.signature.name))
    names = [each.signature.name for each in functions]
    renamed = {name: f"{_number_and_stem(name)[1]}_{place}" for place, name in enumerate(names)}
    for function in functions:
        signature = function.signature
        for argument in signature.input_arg:  # some hold the function's name; it does not use these
            argument.name = argument.name.replace(signature.name, renamed[signature.name])
        signature.name = renamed[signature.name]
    for node in (*definition.node, *(node for function in functions for node in function.node_def)):
        for name in (*LATER_ATTRIBUTES, "_gradient_op_type"):
            node.attr.pop(name, None)
        for value in node.attr.values():
            if value.func.name in renamed:
                value.func.name = renamed[value.func.name]
    definition.library.function.sort(key=lambda each: each.signature.name)


def _number_and_stem(name: str) -> tuple[int, str]:
    """Return the number at the end of a function's name, 0 if there is none, and the part before it."""
    stem = name.rstrip("0123456789")
    return int(name[len(stem) :] or 0), stem.removesuffix("_")


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
