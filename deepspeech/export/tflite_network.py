"""Networks in files of LiteRT: a few steps in each run, with separate operators of an LSTM for each step."""

from __future__ import annotations

from functools import singledispatch

import numpy as np
from tensorflow.lite.python import schema_py_generated as schema

from ..network import LSTM, Dense, IntermediateCTC
from ..network.description import Layer
from ..options import ExportOptions
from .formats import TrainedModel
from .tflite_file import ABSENT, Tensor, TFLiteFile

LARGEST_INT8 = 127


def add_network(file: TFLiteFile, model: TrainedModel, options: ExportOptions) -> None:
    """Add a network; with `options.quantize`, the weights of inner layers are int8.

    Inputs are `input_node` float32 [1, steps, 2 * context + 1, coefficients] and `previous_state_c/h` [1, units];
    outputs are `logits` (probabilities) float32 [steps, labels + 1] and `new_state_c/h`. The states of several LSTMs
    are side by side. There are no lengths: all steps count.
    """
    network = model.network
    steps, window = options.n_steps, 2 * network.context + 1
    windows = file.add_input("input_node", [1, steps, window, network.coefficients])
    values = file.reshape(windows, "windows", [steps, network.window_width])
    layers = _Layers(file, model, steps)
    for number, layer in enumerate(network.layers_after_window):
        # As in the engine of `deepspeech.serving`: features differ widely in size, and logits decide the result.
        layers.quantizes = options.quantize and 0 < number < len(network.layers_after_window) - 1
        values = _computed(layer, values, layers)
    (logits,) = file.add("SOFTMAX", [values], {"logits": file.shape_of(values)}, schema.SoftmaxOptionsT(beta=1.0))
    file.add_output(logits)
    layers.add_new_state()


class _Layers:
    """The weights and the state that the layers of a file share."""

    def __init__(self, file: TFLiteFile, model: TrainedModel, steps: int) -> None:
        self.file = file
        self.steps = steps
        self.quantizes = False
        """Whether the weights of the current layer are rounded to 8 bits."""
        self._weights = model.weights
        self._units = [layer.units for layer in model.network.recurrent_layers]
        self._states = [file.add_input(f"previous_state_{part}", [1, sum(self._units)]) for part in "ch"]
        self._new_states: list[tuple[Tensor, Tensor]] = []

    def weights(self, name: str, rows: slice = slice(None)) -> Tensor:
        """Add weights [inputs, columns], or some of their rows, in the layout of the products, [columns, inputs]."""
        values = self._weights[name][rows].T
        if not self.quantizes:
            return self.file.constant(name, values)
        scale = float(np.abs(values).max()) / LARGEST_INT8 or 1.0
        return self.file.int8_constant(name, np.round(values / scale).astype(np.int8), scale)

    def bias(self, name: str) -> Tensor:
        """Add a bias, which is not rounded."""
        return self.file.constant(name, self._weights[name])

    def previous_state(self) -> tuple[Tensor, Tensor]:
        """Return the cell and the hidden state, [1, units] before the first step, of the next LSTM."""
        number = len(self._new_states)
        if len(self._units) == 1:
            c, h = self._states
            return c, h
        begin, size = (np.array(each, np.int32) for each in ([0, sum(self._units[:number])], [1, self._units[number]]))
        c, h = (
            self.file.add(
                "SLICE",
                [state, self.file.constant("begin", begin), self.file.constant("size", size)],
                {f"previous_state_{part}/{number}": size.tolist()},
                schema.SliceOptionsT(),
            )[0]
            for part, state in zip("ch", self._states, strict=True)
        )
        return c, h

    def new_state_name(self, part: str) -> str:
        """Return the name of the state, [1, units] after the last step, of the next LSTM."""
        return f"new_state_{part}" if len(self._units) == 1 else f"new_state_{part}/{len(self._new_states)}"

    def take_new_state(self, c: Tensor, h: Tensor) -> None:
        """Store the cell and the hidden state, [1, units], after the last step of an LSTM."""
        self._new_states.append((c, h))

    def add_new_state(self) -> None:
        """Make the states of all LSTMs outputs of the graph."""
        for part, states in zip("ch", zip(*self._new_states, strict=True), strict=True):
            alone = len(states) == 1
            self.file.add_output(states[0] if alone else self.file.joined(states, f"new_state_{part}", axis=1))


@singledispatch
def _computed(layer: Layer, inputs: Tensor, layers: _Layers) -> Tensor:
    """Add a layer, and return its outputs; inputs and outputs are float32 [steps, width]."""
    del inputs, layers
    raise AssertionError(f"{layer} is not in the format, but check_tflite lets it through")


@_computed.register
def _intermediate(layer: IntermediateCTC, inputs: Tensor, layers: _Layers) -> Tensor:
    del layer, layers
    return inputs


@_computed.register
def _dense(layer: Dense, inputs: Tensor, layers: _Layers) -> Tensor:
    file, name = layers.file, layer.name
    weights, bias = layers.weights(f"{name}/weights"), layers.bias(f"{name}/bias")
    outputs = file.product(inputs, weights, bias, f"{name}/outputs", relu=layer.clip is not None)
    if layer.clip is None:
        return outputs
    limit = file.constant(f"{name}/limit", np.array(layer.clip, np.float32))
    return file.binary("MINIMUM", outputs, limit, f"{name}/clipped")


@_computed.register
def _lstm(layer: LSTM, inputs: Tensor, layers: _Layers) -> Tensor:
    """Add an LSTM: the products with the inputs are computed for all steps at once, others step by step."""
    file, name = layers.file, layer.name
    kernel = f"{name}/kernel"
    width = file.shape_of(inputs)[1]
    of_inputs, recurrent = layers.weights(kernel, slice(width)), layers.weights(kernel, slice(width, None))
    gates = file.product(inputs, of_inputs, layers.bias(f"{name}/bias"), f"{name}/gates")
    c, h = layers.previous_state()
    hidden = []
    for step, row in enumerate(file.split(gates, f"{name}/gates", layers.steps, axis=0)):
        scope = f"{name}/{step}"
        last = step == layers.steps - 1
        names = [layers.new_state_name(part) if last else f"{scope}/{part}" for part in "ch"]
        sums = file.binary("ADD", row, file.product(h, recurrent, ABSENT, f"{scope}/recurrent"), f"{scope}/sums")
        entered, candidate, forgotten, shown = file.split(sums, f"{scope}/gate", 4, axis=1)
        kept = file.binary("MUL", file.unary("LOGISTIC", forgotten), c, f"{scope}/kept")
        taken = file.binary("MUL", file.unary("LOGISTIC", entered), file.unary("TANH", candidate), f"{scope}/taken")
        c = file.binary("ADD", kept, taken, names[0])
        h = file.binary("MUL", file.unary("LOGISTIC", shown), file.unary("TANH", c), names[1])
        hidden.append(h)
    layers.take_new_state(c, h)
    return file.joined(hidden, f"{name}/outputs", axis=0)
