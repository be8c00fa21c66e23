"""An LSTM layer over time; its equations are in `deepspeech.network.LSTM`.

The product with the inputs is computed for all frames at once, the product with the state in the recurrence.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import tensorflow as tf

from ..description import LSTM, BidirectionalLSTM, ChunkedLSTM
from ..rounding import rounded_rows
from .compute import Compute, Kernels
from .lstm_loop import recurrence
from .native_ops import loaded_ops
from .variables import kernel_factors, variables_of

Tensor = Any


class LSTMState(NamedTuple):
    """Cell and hidden state, each float32 [batch, n_hidden]."""

    c: Tensor
    h: Tensor


def lstm(
    inputs: Tensor, lengths: Tensor, kernel: Tensor, bias: Tensor, state: LSTMState, compute: Compute
) -> tuple[Tensor, LSTMState]:
    """Run an LSTM over inputs [time, batch, n_input], float32 or, as `compute` says, bfloat16.

    `lengths` is int32 [batch] in frames, `kernel` [n_input + n_hidden, 4 * n_hidden], in the inputs' type, with the
    gates in the order input, candidate, forget, output, `bias` float32 [4 * n_hidden], and `state` the one before the
    first frame. Return the hidden states [time, batch, n_hidden] in the inputs' type, zero beyond each utterance's
    length, and the state after each one's last frame.
    """
    n_input, n_gates = inputs.shape[2], kernel.shape[1]
    inputs = rounded_rows(inputs, compute.quantize_after)
    if compute.kernels is Kernels.CUDNN:
        states = LSTMState(state.c[None], state.h[None])
        hidden, last = _on_gpu(inputs, lengths, [(kernel, bias)], states)
        return hidden, LSTMState(last.c[0], last.h[0])
    time, batch = tf.unstack(tf.shape(inputs)[:2])
    input_weights, weights = tf.split(kernel, [n_input, n_gates // 4], axis=0)
    products = tf.matmul(tf.reshape(inputs, [time * batch, n_input]), input_weights)
    products = tf.reshape(products, [time, batch, n_gates])
    if compute.kernels is Kernels.NATIVE:
        return _native(products, lengths, weights, bias, state, compute)
    return _loop(products, lengths, weights, bias, state)


def bidirectional_lstm(layer: BidirectionalLSTM, inputs: Tensor, lengths: Tensor, compute: Compute) -> Tensor:
    """Return the hidden states of both directions side by side, [time, batch, 2 * units], in the inputs' type.

    `inputs` are [time, batch, n_input], `lengths` int32 [batch] in frames; beyond them, the outputs are zero.
    """
    forward, backward = layer.directions
    if compute.kernels is Kernels.CUDNN:
        zeros = tf.zeros([2, tf.shape(inputs)[1], forward.units])
        directions = [_factors(direction, inputs, compute) for direction in layer.directions]
        inputs = rounded_rows(inputs, compute.quantize_after)
        return _on_gpu(inputs, lengths, directions, LSTMState(zeros, zeros))[0]
    outputs = [_without_state(forward, inputs, lengths, compute), _backwards(backward, inputs, lengths, compute)]
    return tf.concat(outputs, axis=2)


def chunked_lstm(layer: ChunkedLSTM, inputs: Tensor, lengths: Tensor, compute: Compute) -> Tensor:
    """Return what `bidirectional_lstm` does, but the second direction treats each chunk as an utterance."""
    forward, backward = layer.directions
    time, batch = tf.unstack(tf.shape(inputs)[:2])
    before = layer.offset  # this many frames of zeros, the last ones for the second direction, fill the first chunk
    count = -(-(before + time) // layer.chunk)
    filled = tf.pad(inputs, [[before, count * layer.chunk - before - time], [0, 0], [0, 0]])
    chunks = tf.reshape(_exchanged(filled, [count, layer.chunk, batch]), [layer.chunk, count * batch, inputs.shape[2]])
    begins = tf.range(count)[:, None] * layer.chunk
    lengths_of_chunks = tf.reshape(tf.clip_by_value(before + lengths - begins, 0, layer.chunk), [-1])
    hidden = _exchanged(_backwards(backward, chunks, lengths_of_chunks, compute), [layer.chunk, count, batch])
    of_chunks = tf.reshape(hidden, [count * layer.chunk, batch, layer.units])[before : before + time]
    return tf.concat([_without_state(forward, inputs, lengths, compute), of_chunks], axis=2)


def _exchanged(values: Tensor, sizes: list[Any]) -> Tensor:
    """Return values [..., width], with rows of the `sizes` [a, b, batch], as [b, a, batch, width]."""
    return tf.transpose(tf.reshape(values, [*sizes, values.shape[-1]]), [1, 0, 2, 3])


def _backwards(layer: LSTM, inputs: Tensor, lengths: Tensor, compute: Compute) -> Tensor:
    return _reversed(_without_state(layer, _reversed(inputs, lengths), lengths, compute), lengths)


def _reversed(values: Tensor, lengths: Tensor) -> Tensor:
    """Return values [time, batch, width] with the frames of each utterance in reverse order.

    Frames beyond the utterances' `lengths` stay where they are. It copies whole rows; TensorFlow's `reverse_sequence`
    copies number by number, which takes a tenth of a training step.
    """
    time, batch = tf.unstack(tf.shape(values)[:2])
    frames = tf.range(time)[:, None]
    rows = tf.where(frames < lengths, lengths - 1 - frames, frames) * batch + tf.range(batch)

    def in_reverse(values: Tensor) -> Tensor:
        return tf.gather(tf.reshape(values, [time * batch, values.shape[2]]), rows)

    @tf.custom_gradient  # type: ignore[untyped-decorator]
    def reverse(values: Tensor) -> tuple[Tensor, Callable[[Tensor], Tensor]]:
        return in_reverse(values), in_reverse  # it is its own inverse, and so its own gradient

    return reverse(values)


def _without_state(layer: LSTM, inputs: Tensor, lengths: Tensor, compute: Compute) -> Tensor:
    """Return the hidden states [time, batch, units] of an LSTM that begins with zeros."""
    zero = tf.zeros([tf.shape(inputs)[1], layer.units])
    kernel, bias = _factors(layer, inputs, compute)
    return lstm(inputs, lengths, kernel, bias, LSTMState(zero, zero), compute)[0]


def _factors(layer: LSTM, inputs: Tensor, compute: Compute) -> tuple[Tensor, Tensor]:
    """Return the kernel and the bias of a layer for inputs [time, batch, n_input], as arguments of `lstm`."""
    kernel, bias = variables_of(layer, inputs.shape[2])
    return kernel_factors(kernel, inputs.shape[2], compute), bias


def _native(
    products: Tensor, lengths: Tensor, weights: Tensor, bias: Tensor, state: LSTMState, compute: Compute
) -> tuple[Tensor, LSTMState]:
    hidden, _, _, c, h = loaded_ops().deepspeech_lstm(
        products, weights, bias, state.c, state.h, lengths, threads=compute.threads
    )
    n_hidden = weights.shape[0]
    hidden.set_shape([None, None, n_hidden])
    c.set_shape([None, n_hidden])
    h.set_shape([None, n_hidden])
    return hidden, LSTMState(c, h)


def _loop(
    products: Tensor, lengths: Tensor, weights: Tensor, bias: Tensor, state: LSTMState
) -> tuple[Tensor, LSTMState]:
    hidden, cells = recurrence(tf.cast(products, tf.float32) + bias, tf.cast(weights, tf.float32), state.c, state.h)
    inside = tf.transpose(tf.sequence_mask(lengths, tf.shape(hidden)[0], dtype=hidden.dtype))[:, :, None]
    final = LSTMState(_at_length(cells, lengths, state.c), _at_length(hidden, lengths, state.h))
    return tf.cast(hidden * inside, products.dtype), final


def _at_length(states: Tensor, lengths: Tensor, initial: Tensor) -> Tensor:
    """Return each utterance's state after its last frame, the initial one if it has no frames: [batch, n_hidden].

    `states` are [time, batch, n_hidden], `initial` is [batch, n_hidden].
    """
    all_states = tf.concat([initial[None], states], axis=0)
    return tf.gather_nd(all_states, tf.stack([lengths, tf.range(tf.shape(lengths)[0])], axis=1))


def _on_gpu(
    inputs: Tensor, lengths: Tensor, directions: Sequence[tuple[Tensor, Tensor]], states: LSTMState
) -> tuple[Tensor, LSTMState]:
    """Run one or both directions with cuDNN, which treats an utterance without frames as one of a single frame.

    `directions` are the kernel and the bias of each, as for `lstm`, `states` float32 [directions, batch, n_hidden].
    Return the hidden states [time, batch, directions * n_hidden], and the last states.
    """
    attributes = {
        "rnn_mode": "lstm",
        "direction": "bidirectional" if len(directions) == 2 else "unidirectional",
        "time_major": True,
    }
    lengths = tf.maximum(lengths, 1)
    parameters = cudnn_parameters(*((tf.cast(kernel, tf.float32), bias) for kernel, bias in directions))
    if inputs.dtype == tf.bfloat16:
        hidden, h, c = _in_float16([inputs, states.h, states.c, parameters], lengths, attributes)
    else:
        hidden, h, c, _, _ = tf.raw_ops.CudnnRNNV3(
            input=inputs, input_h=states.h, input_c=states.c, params=parameters, sequence_lengths=lengths, **attributes
        )
    return hidden, LSTMState(c, h)


def _in_float16(values: Sequence[Tensor], lengths: Tensor, attributes: dict[str, Any]) -> Sequence[Tensor]:
    """Run cuDNN's LSTM in float16, and return the hidden states in the inputs' type, the last h and c in float32.

    `values` are inputs, h, c and parameters. In bfloat16, cuDNN as called by TensorFlow 2.21 gives no gradient of the
    inputs. Gradients of the outputs are scaled, as the range of float16 is from 6e-8 to 65504.
    """
    names = ("input", "input_h", "input_c", "params")

    @tf.custom_gradient  # type: ignore[untyped-decorator]
    def run(*values: Tensor) -> tuple[Sequence[Tensor], Callable[..., list[Tensor]]]:
        given = {name: tf.cast(value, tf.float16) for name, value in zip(names, values, strict=True)}
        made = tf.raw_ops.CudnnRNNV3(**given, sequence_lengths=lengths, **attributes)
        outputs = {name: getattr(made, name) for name in ("output", "output_h", "output_c")}

        def gradient(*by_outputs: Tensor) -> list[Tensor]:
            by_outputs = tuple(tf.cast(by_output, tf.float32) for by_output in by_outputs)
            scale = power_of_two_to_one(by_outputs)
            scaled = {
                f"{name}_backprop": tf.cast(by_output * scale, tf.float16)
                for name, by_output in zip(outputs, by_outputs, strict=True)
            }
            reserved = {"reserve_space": made.reserve_space, "host_reserved": made.host_reserved}
            by_values = tf.raw_ops.CudnnRNNBackpropV3(
                **given, **outputs, **scaled, **reserved, sequence_lengths=lengths, **attributes
            )
            unscaled = [tf.cast(by_value, tf.float32) / scale for by_value in by_values]
            return [tf.cast(by_value, value.dtype) for by_value, value in zip(unscaled, values, strict=True)]

        hidden, *last = outputs.values()
        return (tf.cast(hidden, values[0].dtype), *(tf.cast(state, tf.float32) for state in last)), gradient

    return run(*values)  # type: ignore[no-any-return]


def power_of_two_to_one(values: Sequence[Tensor]) -> Tensor:
    """Return the power of two, a float32 scalar, that scales the largest of the values to between a half and one.

    Sums of 65504 such values are within float16. It is 1 if all values are 0. If some are not finite, it is 0 or NaN,
    so that results that are scaled back by it are not finite either.
    """
    largest = tf.reduce_max([tf.reduce_max(tf.abs(value)) for value in values])
    exponent = -tf.math.ceil(tf.math.log(largest) / math.log(2))
    return tf.where(tf.equal(largest, 0), 1.0, tf.pow(2.0, tf.minimum(exponent, 126.0)))


def cudnn_parameters(*directions: tuple[Tensor, Tensor]) -> Tensor:
    """Return the kernel and bias of `lstm` for each direction in cuDNN's order, [parameters] in their type.

    First come, for each direction, the gates' weights of the input, each transposed, then those of the hidden state.
    Then follow, for each direction, the biases of its eight products. cuDNN's order of the gates is input, forget,
    candidate, output.
    """

    def in_order(values: Tensor, axis: int) -> list[Tensor]:
        i, g, f, o = tf.split(values, 4, axis=axis)
        return [i, f, g, o]

    weights, biases = [], []
    for kernel, bias in directions:
        n_hidden = kernel.shape[1] // 4
        products = tf.split(kernel, [kernel.shape[0] - n_hidden, n_hidden], axis=0)
        weights += [tf.reshape(tf.transpose(gate), [-1]) for part in products for gate in in_order(part, 1)]
        biases += [*in_order(bias, 0), tf.zeros_like(bias)]
    return tf.concat([*weights, *biases], axis=0)
