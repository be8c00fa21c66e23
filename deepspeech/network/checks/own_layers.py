"""Warns of a user's own layers that compute other outputs for an utterance each time, or in another batch.

Without a warning, the results of such a network would change with the batch size of the test, or be random.
"""

from __future__ import annotations

import logging
from typing import Any

import numpy as np
import tensorflow as tf

from ..description import Layer, Network
from ..layers.compute import Compute
from ..training import Activations, Pass, computed, is_own

v1 = tf.compat.v1
logger = logging.getLogger(__name__)

NEARLY = 0.01
"""The largest difference from rounding, as of bfloat16, as a share of the largest output."""


def warn_of_own_layers(network: Network, config: Any) -> None:
    """Log a warning for each such layer of a network; `config` is the ConfigProto of the sessions that compute them."""
    for layer, inputs in network.layers_with_inputs:
        if is_own(layer) and (wrong := _dependence(layer, inputs, config, is_first=layer is network.layers[0])):
            logger.warning("layer %s: %s", layer.name, wrong)


def _dependence(layer: Layer, inputs: int, config: Any, *, is_first: bool) -> str:
    """Return what outputs for an utterance depend on beside its frames; empty if on nothing, or if they fail."""
    short, long = 7 * layer.time_reduction + 1, 16 * layer.time_reduction
    batch = np.random.default_rng(1).normal(size=(long, 2, inputs)).astype(np.float32)
    if is_first:  # only features are zero beyond their utterance
        batch[short:, 0] = 0
    alone = (batch[:short, :1], [short])
    try:
        once, again, beside = _outputs(layer, [alone, alone, (batch, [short, long])], config)
    except Exception:
        return ""
    if not _are_close(once, again):
        return (
            "computes other outputs for the same utterance each time, so validation, test and transcripts are random; "
            "use random numbers only where at.training"
        )
    if not _are_close(once, beside[: len(once)]):
        return (
            "its outputs for an utterance depend on the padding after it or on the rest of its batch, so validation, "
            "test and transcripts do, too; set the frames beyond at.lengths to zero before it combines frames (as with "
            "tf.sequence_mask), and never combine utterances"
        )
    return ""


def _outputs(layer: Layer, batches: list[tuple[Any, list[int]]], config: Any) -> list[Any]:
    """Return the outputs [rows, n] for the first utterance of each batch, with random weights."""
    random = np.random.default_rng(2)
    with tf.Graph().as_default() as graph, v1.Session(config=config) as session:
        values = v1.placeholder(tf.float32, [None, None, batches[0][0].shape[2]])
        lengths = v1.placeholder(tf.int32, [None])
        at = Pass(lengths, tf.shape(values)[0], tf.shape(values)[1], {}, training=False, compute=Compute())
        outputs = tf.cast(computed(layer, Activations(values), at).stacked(at.after(layer)), tf.float32)
        weights = graph.get_collection(v1.GraphKeys.GLOBAL_VARIABLES)
        session.run([v1.assign(each, random.normal(0, 0.4, each.shape)) for each in weights])
        return [session.run(outputs, {values: each, lengths: counted})[:, 0] for each, counted in batches]


def _are_close(first: Any, second: Any) -> bool:
    largest = np.abs(first).max(initial=0)
    return first.shape == second.shape and np.allclose(first, second, rtol=0, atol=NEARLY * largest, equal_nan=True)
