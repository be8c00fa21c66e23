"""The optimizer's step, for gradients that are means over utterances."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import tensorflow as tf

from ...options import OptimizerOptions
from .averages import Averages

v1 = tf.compat.v1
Tensor = Any


@dataclass(frozen=True)
class Step:
    """A step: the operation, the learning rate to feed, and the averages of the weights, if it keeps them."""

    apply: Any  # operation: changes the weights and counts a step
    learning_rate: Tensor  # float32 scalar; --learning_rate unless it is fed
    averages: Averages | None


def optimizer_step(
    options: OptimizerOptions, gradients: Sequence[tuple[Tensor, Any]], norm: Tensor | None, global_step: Any
) -> Step:
    """Return the step for pairs of a float32 gradient and its variable; `norm` is the norm of all gradients, if known.

    It clips, decays the weights, and applies Adam: with weight decay d, learning rate a and the step s of Adam,

        w = (1 - a d) w - a s

    (Loshchilov and Hutter, "Decoupled Weight Decay Regularization", 2019), for matrices, but not for biases.
    """
    learning_rate = v1.placeholder_with_default(tf.constant(options.learning_rate, tf.float32), [], "learning_rate")
    if options.clip_gradient_norm:
        gradients = _clipped(gradients, options.clip_gradient_norm, norm)
    with tf.control_dependencies(_decays(options, gradients, learning_rate)):
        apply = adam(options, learning_rate).apply_gradients(gradients, global_step=global_step)
    averages = None
    if options.ema_decay:
        averages = Averages([variable for _, variable in gradients])
        with tf.control_dependencies([apply]):
            apply = averages.update(options.ema_decay, global_step)
    return Step(apply, learning_rate, averages)


def adam(options: OptimizerOptions, learning_rate: Tensor) -> Any:
    """Return Adam (Kingma and Ba, 2015) as in DeepSpeech 0.9, so that the slots in checkpoints are the same.

    In step t, with the gradient g of a weight w, learning rate a and m = v = 0 before the first step:

        m = beta1 m + (1 - beta1) g        v = beta2 v + (1 - beta2) g^2
        w = w - a sqrt(1 - beta2^t) / (1 - beta1^t) m / (sqrt(v) + epsilon)
    """
    return v1.train.AdamOptimizer(learning_rate, options.beta1, options.beta2, options.epsilon)


def _clipped(gradients: Sequence[tuple[Tensor, Any]], limit: float, norm: Tensor | None) -> list[tuple[Tensor, Any]]:
    """Return the gradients, scaled to the norm `limit` if their norm is larger (Pascanu et al., 2013)."""
    if norm is None:
        norm = tf.sqrt(2 * tf.add_n([_half_square(gradient) for gradient, _ in gradients]))
    scale = limit / tf.maximum(norm, limit)
    clipped = []
    for gradient, variable in gradients:
        with v1.device(gradient.device):
            clipped.append((gradient * scale, variable))
    return clipped


def _half_square(gradient: Tensor) -> Tensor:
    with v1.device(gradient.device):
        return tf.nn.l2_loss(gradient)


def _decays(options: OptimizerOptions, gradients: Sequence[tuple[Tensor, Any]], learning_rate: Tensor) -> list[Any]:
    """Return operations that shrink the matrices; they run after all gradients are computed."""
    if not options.weight_decay:
        return []
    decays = []
    with tf.control_dependencies([gradient for gradient, _ in gradients]):
        for _, variable in gradients:
            if variable.shape.rank >= 2:
                with v1.device(variable.device):
                    decays.append(variable.assign_sub(learning_rate * options.weight_decay * variable.read_value()))
    return decays
