"""The CTC loss of training."""

from typing import Any

import tensorflow as tf

from .layers.compute import Compute, Kernels
from .layers.native_ops import loaded_ops, native_ops

v1 = tf.compat.v1
Tensor = Any


def ctc_loss(labels: Tensor, logits: Tensor, lengths: Tensor, compute: Compute) -> Tensor:
    """Return the CTC loss (Graves et al., 2006) of each utterance in nats, float32 [batch].

    It is -ln of the summed probabilities of all alignments of the labels with the frames, including blanks and
    repetitions. Its gradient by a logit is the posterior of that label in that frame, minus the share of the summed
    probability that belongs to alignments with this label in this frame.

    `labels` is int32 [batch, labels], padded with -1, `logits` float32 [time, batch, labels + 1], `lengths` int32
    [batch] in frames. The last label is the blank.
    """
    # The processor also computes it for a GPU: cuDNN's loss leaves gradients beyond the lengths uninitialized.
    if compute.kernels is not Kernels.TENSORFLOW and native_ops() is not None:
        losses, _ = loaded_ops().deepspeech_ctc(logits, labels, lengths, threads=compute.threads)
        losses.set_shape([None])
        return losses
    present = labels >= 0
    sparse = tf.SparseTensor(tf.where(present), tf.boolean_mask(labels, present), tf.cast(tf.shape(labels), tf.int64))
    return v1.nn.ctc_loss(sparse, logits, lengths)
