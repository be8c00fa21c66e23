"""Normalization of the features of a tower's input; the equations are in `deepspeech.util.frames.normalization`.

The statistics of the training set are variables, so that checkpoints store them and a cluster shares them. They are not
trained: `deepspeech.training.features.statistics` sets them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import tensorflow as tf

from ...util.features import GLOBAL, RUNNING, UTTERANCE, FeatureOptions
from ...util.frames.normalization import DEVIATION, MEAN, PRIOR_VALUES, SMALLEST_VARIANCE

__all__ = ["COMPUTED", "DEVIATION", "MEAN", "normalized", "statistics_names", "statistics_variables"]

v1 = tf.compat.v1
Tensor = Any


def statistics_names(features: FeatureOptions) -> tuple[str, ...]:
    """Return the names of the variables that normalize these features; none if they are not normalized so."""
    return (MEAN, DEVIATION) if features.normalized else ()


def statistics_variables(features: FeatureOptions) -> dict[str, Any]:
    """Return the variables of the current graph, by name; the first call makes them.

    Until they are known, they are all zeros; a known deviation is never zero.
    """
    with v1.variable_scope(v1.get_variable_scope(), reuse=v1.AUTO_REUSE):
        return {
            name: v1.get_variable(name, [features.coefficients], initializer=v1.zeros_initializer(), trainable=False)
            for name in statistics_names(features)
        }


def normalized(frames: Tensor, lengths: Tensor, features: FeatureOptions) -> Tensor:
    """Return float32 frames [batch, time, width], normalized as `features` say, and zeros beyond the lengths.

    `lengths` is int32 [batch].
    """
    if not features.normalized:
        return frames
    variables = statistics_variables(features)
    batch, time = tf.unstack(tf.shape(frames)[:2])
    shape = [batch, time, features.stack_frames, features.coefficients]
    inside = tf.sequence_mask(lengths, time, dtype=tf.float32)[:, :, None, None]
    values = (tf.reshape(frames, shape) - variables[MEAN]) / variables[DEVIATION]
    values = COMPUTED[features.normalization](values, inside)
    return tf.reshape(values * inside, [batch, time, features.width])


def _by_training_set(values: Tensor, inside: Tensor) -> Tensor:
    """Return values, which the statistics of the training set have normalized."""
    del inside
    return values


def _running(values: Tensor, inside: Tensor) -> Tensor:
    """Normalize values [batch, time, stacked, coefficients] by those up to the same time."""
    del inside
    time, stacked = tf.unstack(tf.shape(values)[1:3])
    counted = tf.cast(PRIOR_VALUES + tf.range(1, time + 1) * stacked, tf.float32)[None, :, None, None]
    mean = tf.cumsum(tf.reduce_sum(values, axis=2, keepdims=True), axis=1) / counted
    squares = tf.cumsum(tf.reduce_sum(tf.square(values), axis=2, keepdims=True), axis=1)
    variance = (PRIOR_VALUES + squares) / counted - tf.square(mean)
    return (values - mean) / tf.sqrt(tf.maximum(variance, SMALLEST_VARIANCE))


def _by_utterance(values: Tensor, inside: Tensor) -> Tensor:
    """Normalize values [batch, time, stacked, coefficients] by those where `inside`, [batch, time, 1, 1], is 1."""
    counted = tf.maximum(tf.reduce_sum(inside, axis=1, keepdims=True) * tf.cast(tf.shape(values)[2], tf.float32), 1.0)
    mean = tf.reduce_sum(values * inside, axis=(1, 2), keepdims=True) / counted
    squares = tf.reduce_sum(tf.square(values) * inside, axis=(1, 2), keepdims=True) / counted
    return (values - mean) / tf.sqrt(tf.maximum(squares - tf.square(mean), SMALLEST_VARIANCE))


COMPUTED: Mapping[str, Callable[[Tensor, Tensor], Tensor]] = {
    GLOBAL: _by_training_set,
    RUNNING: _running,
    UTTERANCE: _by_utterance,
}
"""How each normalization changes values that the statistics of the training set have normalized."""
