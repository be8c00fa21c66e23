"""The LSTM's recurrence in TensorFlow's own operations, with a hand-written gradient.

This is the reference for the native operations, and their replacement if they cannot be loaded. With the gates' inputs
z = z_x + h' W, the activated gates [i g f o], and dx for the gradient of the loss by x, the loop runs back over the
frames with

    dc = dc + dh o (1 - tanh(c)^2)
    dz = [dc g i (1 - i)    dc i (1 - g^2)    dc c' f (1 - f)    dh tanh(c) o (1 - o)]
    dc' = dc f        dh' = dz W^T

where dh and dc include the gradients by the frame's outputs. dW, the sum of h'^T dz over the frames, is one product
after the loop. TensorFlow's own gradient of such a loop would accumulate a matrix of the weights' size in every frame.
"""

from typing import Any

import tensorflow as tf

Tensor = Any


@tf.custom_gradient  # type: ignore[untyped-decorator]
def recurrence(gate_inputs: Tensor, weights: Tensor, c_before: Tensor, h_before: Tensor) -> Any:
    """Return hidden and cell states [time, batch, n_hidden] for gate inputs [time, batch, 4 * n_hidden].

    All float32; `weights` are the hidden state's, [n_hidden, 4 * n_hidden], and the states before [batch, n_hidden].
    """
    hidden, cells, gates = _forward(gate_inputs, weights, c_before, h_before)

    def gradient(hidden_gradient: Tensor, cells_gradient: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        earlier_cells = tf.concat([c_before[None], cells[:-1]], axis=0)
        earlier_hidden = tf.concat([h_before[None], hidden[:-1]], axis=0)
        gate_gradients, c_gradient, h_gradient = _backward(
            hidden_gradient, cells_gradient, gates, cells, earlier_cells, weights
        )
        n_hidden = weights.shape[0]
        weights_gradient = tf.matmul(
            tf.reshape(earlier_hidden, [-1, n_hidden]), tf.reshape(gate_gradients, [-1, 4 * n_hidden]), transpose_a=True
        )
        return gate_gradients, weights_gradient, c_gradient, h_gradient

    return (hidden, cells), gradient


def _forward(gate_inputs: Tensor, weights: Tensor, c: Tensor, h: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Return hidden states, cell states and activated gates, each stacked over time."""
    time = tf.shape(gate_inputs)[0]
    gate_inputs_at = _unstacked(gate_inputs, time)

    def step(t: Tensor, c: Tensor, h: Tensor, outputs: tuple[Any, ...]) -> tuple[Any, ...]:
        i, g, f, o = tf.split(gate_inputs_at.read(t) + tf.matmul(h, weights), 4, axis=1)
        i, g, f, o = tf.sigmoid(i), tf.tanh(g), tf.sigmoid(f), tf.sigmoid(o)
        c = f * c + i * g
        h = o * tf.tanh(c)
        written = (h, c, tf.concat([i, g, f, o], axis=1))
        return t + 1, c, h, tuple(array.write(t, value) for array, value in zip(outputs, written, strict=True))

    empty = (_array(time), _array(time), _array(time))
    _, _, _, (hidden, cells, gates) = tf.while_loop(lambda t, *_: t < time, step, (0, c, h, empty))
    return _stacked(hidden, h.shape), _stacked(cells, c.shape), _stacked(gates, gate_inputs.shape[1:])


def _backward(
    hidden_gradient: Tensor,
    cells_gradient: Tensor,
    gates: Tensor,
    cells: Tensor,
    earlier_cells: Tensor,
    weights: Tensor,
) -> tuple[Tensor, Tensor, Tensor]:
    """Return the gradients of the gate inputs [time, batch, 4 * n_hidden] and of the states before the first frame."""
    time = tf.shape(gates)[0]
    over_time = [_unstacked(x, time) for x in (hidden_gradient, cells_gradient, gates, cells, earlier_cells)]

    def step(t: Tensor, dc: Tensor, dh: Tensor, output: Any) -> tuple[Any, ...]:
        dh_at, dc_at, gates_at, c, c_before = (array.read(t) for array in over_time)
        i, g, f, o = tf.split(gates_at, 4, axis=1)
        tanh_c = tf.tanh(c)
        dh = dh + dh_at
        dc = dc + dc_at + dh * o * (1 - tanh_c * tanh_c)
        gate_gradient = tf.concat(
            [dc * g * i * (1 - i), dc * i * (1 - g * g), dc * c_before * f * (1 - f), dh * tanh_c * o * (1 - o)], axis=1
        )
        return t - 1, dc * f, tf.matmul(gate_gradient, weights, transpose_b=True), output.write(t, gate_gradient)

    zero = tf.zeros_like(hidden_gradient[0])
    _, dc, dh, output = tf.while_loop(lambda t, *_: t >= 0, step, (time - 1, zero, zero, _array(time)))
    return _stacked(output, gates.shape[1:]), dc, dh


def _array(time: Tensor) -> Any:
    return tf.TensorArray(tf.float32, size=time)


def _unstacked(values: Tensor, time: Tensor) -> Any:
    return tf.TensorArray(tf.float32, size=time, clear_after_read=False).unstack(values)


def _stacked(array: Any, shape: Any) -> Tensor:
    stacked = array.stack()
    stacked.set_shape([None, *shape])
    return stacked
