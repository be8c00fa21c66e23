from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from deepspeech.network.layers.compute import Compute, Kernels
from deepspeech.network.layers.lstm import LSTMState, cudnn_parameters, lstm, power_of_two_to_one

v1 = tf.compat.v1
TIME, BATCH, INPUT, HIDDEN = 23, 5, 7, 11


def reference(inputs: Any, lengths: Any, kernel: Any, bias: Any, state: LSTMState) -> tuple[Any, LSTMState]:
    """Return the results of TensorFlow's own BlockLSTM op."""
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
    """Return the outputs, the last states and all gradients of a weighted sum of them."""
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


def layer_of(compute: Compute) -> Any:
    def layer(inputs: Any, lengths: Any, kernel: Any, bias: Any, state: LSTMState) -> tuple[Any, LSTMState]:
        inputs, kernel = tf.cast(inputs, compute.dtype), tf.cast(kernel, compute.dtype)
        outputs, last = lstm(inputs, lengths, kernel, bias, state, compute)
        outputs = tf.ensure_shape(tf.cast(outputs, tf.float32), [TIME, BATCH, HIDDEN])
        return outputs, LSTMState(*(tf.ensure_shape(value, [BATCH, HIDDEN]) for value in last))

    return layer


@pytest.mark.parametrize("kernels", [Kernels.NATIVE, Kernels.TENSORFLOW])
def test_outputs_states_and_gradients_are_those_of_the_block_lstm_op(kernels: Kernels) -> None:
    for ours, theirs in zip(evaluate(layer_of(Compute(kernels))), evaluate(reference), strict=True):
        assert np.abs(theirs).max() > 0.1
        np.testing.assert_allclose(ours, theirs, atol=1e-4)


@pytest.mark.parametrize("kernels", [Kernels.NATIVE, Kernels.TENSORFLOW])
def test_in_bfloat16_they_are_so_within_its_precision(kernels: Kernels) -> None:
    for ours, theirs in zip(evaluate(layer_of(Compute(kernels, bfloat16=True))), evaluate(reference), strict=True):
        assert np.linalg.norm(ours - theirs) < 0.01 * np.linalg.norm(theirs)


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_the_number_of_threads_changes_nothing(threads: int) -> None:
    alone = evaluate(layer_of(Compute(Kernels.NATIVE, threads=1)))
    for ours, theirs in zip(evaluate(layer_of(Compute(Kernels.NATIVE, threads=threads))), alone, strict=True):
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("kernels", [Kernels.NATIVE, Kernels.TENSORFLOW])
def test_an_utterance_without_frames_keeps_its_state(kernels: Kernels) -> None:
    with tf.Graph().as_default(), v1.Session() as session:
        state = LSTMState(tf.ones([1, HIDDEN]), tf.ones([1, HIDDEN]) * 2)
        kernel, bias = tf.ones([INPUT + HIDDEN, 4 * HIDDEN]), tf.zeros([4 * HIDDEN])
        inputs = tf.ones([3, 1, INPUT])
        outputs, last = session.run(lstm(inputs, tf.constant([0]), kernel, bias, state, Compute(kernels)))
    assert not outputs.any()
    assert (last.c == 1).all()
    assert (last.h == 2).all()


def test_cudnn_gets_the_transposed_weights_of_each_gate_in_its_order_and_one_bias_for_each_direction() -> None:
    kernel = np.arange((INPUT + HIDDEN) * 4 * HIDDEN, dtype=np.float32).reshape(INPUT + HIDDEN, 4 * HIDDEN)
    bias = np.arange(4 * HIDDEN, dtype=np.float32)
    directions = [(kernel, bias), (-kernel, -bias)]
    parameters = cudnn_parameters(*((tf.constant(kernel), tf.constant(bias)) for kernel, bias in directions)).numpy()
    first, second = INPUT * HIDDEN, HIDDEN * HIDDEN
    weights = parameters[: -2 * 8 * HIDDEN].reshape(2, 4 * (first + second))
    biases = parameters[-2 * 8 * HIDDEN :].reshape(2, 2, 4, HIDDEN)
    candidate = slice(HIDDEN, 2 * HIDDEN)  # the second gate of ours, the third of cuDNN's
    for sign, of_direction in zip((1, -1), weights, strict=True):
        of_input = of_direction[2 * first : 3 * first].reshape(HIDDEN, INPUT)
        np.testing.assert_array_equal(of_input, sign * kernel[:INPUT, candidate].T)
        recurrent = of_direction[4 * first + 2 * second : 4 * first + 3 * second].reshape(HIDDEN, HIDDEN)
        np.testing.assert_array_equal(recurrent, sign * kernel[INPUT:, candidate].T)
    for sign, of_direction in zip((1, -1), biases, strict=True):
        np.testing.assert_array_equal(of_direction[0, [0, 2, 1, 3]].reshape(-1), sign * bias)
        assert not of_direction[1].any()


@pytest.mark.parametrize("largest", [3e-38, 6e-8, 0.5, 0.75, 1.0, 65504.0, 1e30])
def test_gradients_are_scaled_by_the_power_of_two_that_takes_the_largest_between_a_half_and_one(largest: float) -> None:
    scale = power_of_two_to_one([tf.constant([[largest / 3, -largest]]), tf.constant([0.0])]).numpy()
    assert np.frexp(scale)[0] == 0.5
    assert 0.49 <= largest * scale <= 1


def test_gradients_that_are_all_zero_stay_and_those_that_are_not_finite_do_not_become_so() -> None:
    assert power_of_two_to_one([tf.zeros([3])]).numpy() == 1
    for largest in (np.inf, np.nan):
        values = tf.constant([1.0, largest])
        scale = power_of_two_to_one([values])
        assert not np.isfinite((values * scale / scale).numpy()).all()
