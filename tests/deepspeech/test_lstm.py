from typing import Any

import numpy as np
import tensorflow as tf

from deepspeech.lstm import LSTMState, lstm

v1 = tf.compat.v1
TIME, BATCH, INPUT, HIDDEN = 23, 5, 7, 11


def reference(inputs: Any, lengths: Any, kernel: Any, bias: Any, state: LSTMState) -> tuple[Any, LSTMState]:
    """TensorFlow's own BlockLSTM op."""
    peephole = tf.zeros([HIDDEN])
    block = tf.raw_ops.BlockLSTM(
        seq_len_max=TIME,
        x=inputs,
        cs_prev=state.c,
        h_prev=state.h,
        w=kernel,
        wci=peephole,
        wcf=peephole,
        wco=peephole,
        b=bias,
        forget_bias=0,
        cell_clip=-1,
        use_peephole=False,
    )
    inside = tf.transpose(tf.sequence_mask(lengths, TIME, dtype=tf.float32))[:, :, None]
    last = tf.stack([lengths - 1, tf.range(BATCH)], axis=1)
    return block.h * inside, LSTMState(tf.gather_nd(block.cs, last), tf.gather_nd(block.h, last))


def evaluate(layer: Any) -> list[Any]:
    """The outputs, last states and all gradients of a weighted sum of them."""
    random = np.random.default_rng(3)

    def constant(*shape: int) -> Any:
        return tf.constant(random.normal(size=shape).astype(np.float32) * 0.5)

    with tf.Graph().as_default(), v1.Session() as session:
        lengths = tf.constant(random.integers(1, TIME + 1, BATCH), tf.int32)
        sources = [constant(TIME, BATCH, INPUT), constant(INPUT + HIDDEN, 4 * HIDDEN), constant(4 * HIDDEN)]
        state = LSTMState(constant(BATCH, HIDDEN), constant(BATCH, HIDDEN))
        outputs, last = layer(sources[0], lengths, sources[1], sources[2], state)
        total = sum(tf.reduce_sum(value * constant(*value.shape)) for value in (outputs, last.c, last.h))
        return list(session.run([outputs, last.c, last.h, *tf.gradients(total, [*sources, state.c, state.h])]))


def static(inputs: Any, *others: Any) -> tuple[Any, LSTMState]:
    outputs, last = lstm(inputs, *others)
    return tf.ensure_shape(outputs, [TIME, BATCH, HIDDEN]), LSTMState(
        tf.ensure_shape(last.c, [BATCH, HIDDEN]), tf.ensure_shape(last.h, [BATCH, HIDDEN])
    )


def test_outputs_states_and_gradients_are_those_of_the_block_lstm_op() -> None:
    for ours, theirs in zip(evaluate(static), evaluate(reference), strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-4)


def test_an_utterance_without_frames_keeps_its_state() -> None:
    with tf.Graph().as_default(), v1.Session() as session:
        state = LSTMState(tf.ones([1, HIDDEN]), tf.ones([1, HIDDEN]) * 2)
        kernel, bias = tf.ones([INPUT + HIDDEN, 4 * HIDDEN]), tf.zeros([4 * HIDDEN])
        outputs, last = session.run(lstm(tf.ones([3, 1, INPUT]), tf.constant([0]), kernel, bias, state))
    assert not outputs.any()
    assert (last.c == 1).all()
    assert (last.h == 2).all()
