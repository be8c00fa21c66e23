"""Context windows: each frame together with its neighbours."""

from typing import Any

import tensorflow as tf

Tensor = Any


def context_windows(inputs: Tensor, frames: int) -> Tensor:
    """Return each frame between its `frames` neighbours on either side.

    Inputs are [time, batch, n], the windows [time, batch, (2 * frames + 1) * n] in the same type. Frames before the
    first and after the last are zero.
    """
    time, width = tf.shape(inputs)[0], inputs.shape[2]
    padded = tf.pad(inputs, [[frames, frames], [0, 0], [0, 0]])
    shifted = [padded[offset : offset + time] for offset in range(2 * frames + 1)]
    windows = tf.concat(shifted, axis=2)
    windows.set_shape([None, None, (2 * frames + 1) * width])
    return windows
