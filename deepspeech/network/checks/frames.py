"""The frames that a layer's function returns, compared with those that the layer's record promises."""

from __future__ import annotations

from typing import TYPE_CHECKING

import tensorflow as tf

from ..description import Layer

if TYPE_CHECKING:
    from ..training import Activations, Pass

_FRAMES = {2: ("time * batch",), 3: ("time", "batch"), 4: ("batch", "time")}
"""The axes that hold the frames, for each number of axes of a layer's outputs."""


def with_frames_checked(layer: Layer, outputs: Activations, after: Pass) -> Activations:
    """Return the outputs of a user's layer; a step in which their frames are not those promised names it.

    As many frames in another order, such as [batch, time, width], would mix the frames of several utterances.
    """
    sizes = {"time": after.time, "batch": after.batch, "time * batch": after.time * after.batch}
    axes = _FRAMES[outputs.values.shape.rank]
    found, needed = tf.shape(outputs.values)[: len(axes)], tf.stack([sizes[axis] for axis in axes])
    told = f"layer {layer.name}: its function returns another [{', '.join(axes)}] than its record promises:"
    with tf.control_dependencies([tf.debugging.Assert(tf.reduce_all(tf.equal(found, needed)), [told, found, needed])]):
        return type(outputs)(tf.identity(outputs.values))
