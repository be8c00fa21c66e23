"""Models in ONNX: the network of DeepSpeech over any number of utterances and steps, with its state going in and out.

Operators are those of opset 11 (2019), which runtimes have had since onnxruntime 1.0.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import singledispatch
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
from onnx import TensorProto, helper, numpy_helper

from .. import __version__
from ..network import LSTM, Dense
from ..network.description import Layer
from ..options import ExportOptions
from ..serving.frozen.metadata import serialize_features, serialize_network
from .formats import TrainedModel, check_onnx

Shape = list[str | int | None]
"""Dimensions, of which those of any size have names."""

OPSET = 11
IR_VERSION = 6
"""The version of the file format that came with the opset."""

_OUR_GATES = ("input", "candidate", "forget", "output")
_ONNX_GATES = ("input", "output", "forget", "candidate")
_ORDER = [_OUR_GATES.index(gate) for gate in _ONNX_GATES]


def serialized(model: TrainedModel, options: ExportOptions) -> bytes:
    """Return the file of a model.

    Inputs are `input_node` float32 [batch, steps, 2 * context + 1, coefficients], `input_lengths` int32 [batch], of
    which none is above the steps, and `previous_state_c/h` float32 [batch, units]; outputs are `logits` (probabilities)
    float32 [steps, batch, labels + 1] and `new_state_c/h`. Batch and steps are of any size. The states of several LSTMs
    lie side by side. The properties of the file are its metadata: see `metadata`. Raise ExportError for a network that
    is not in the format.
    """
    check_onnx(model.network)
    network = model.network
    units = sum(layer.units for layer in network.recurrent_layers)
    window: Shape = ["batch", "steps", 2 * network.context + 1, network.coefficients]
    states: dict[str, Shape] = {
        f"{when}_state_{part}": ["batch", units] for when in ("previous", "new") for part in "ch"
    }
    inputs: list[tuple[str, int, Shape]] = [
        ("input_node", TensorProto.FLOAT, window),
        ("input_lengths", TensorProto.INT32, ["batch"]),
    ]
    inputs += [(name, TensorProto.FLOAT, shape) for name, shape in states.items() if name.startswith("previous")]
    outputs: list[tuple[str, int, Shape]] = [("logits", TensorProto.FLOAT, ["steps", "batch", network.outputs])]
    outputs += [(name, TensorProto.FLOAT, shape) for name, shape in states.items() if name.startswith("new")]
    graph = _Graph(model)
    graph.build()
    made = helper.make_model(
        helper.make_graph(
            graph.nodes,
            network.name,
            [helper.make_tensor_value_info(*each) for each in inputs],
            [helper.make_tensor_value_info(*each) for each in outputs],
            graph.constants,
        ),
        producer_name="deepspeech",
        producer_version=__version__,
        opset_imports=[helper.make_opsetid("", OPSET)],
    )
    made.ir_version = IR_VERSION
    helper.set_model_props(made, metadata(model, options))
    onnx.checker.check_model(made)
    content: bytes = made.SerializeToString(deterministic=True)
    return content


def metadata(model: TrainedModel, options: ExportOptions) -> dict[str, str]:
    """Return what clients need to know, as texts by name.

    `labels` is a JSON list, a label as text each, the blank not among them, as it comes after the last; `output_unit`
    says what a label stands for. `features` and `network` are JSON, as in the metadata of exported graphs.
    """
    features = model.features
    return {
        "labels": json.dumps(model.alphabet.labels, ensure_ascii=False),
        "output_unit": model.alphabet.unit,
        "sample_rate": str(features.sample_rate),
        "features": serialize_features(features, model.statistics).decode(),
        "network": serialize_network(model.network).decode(),
        "n_steps": str(options.n_steps),
        "beam_width": str(options.beam_width),
        "language": options.language,
        "version": str(options.version),
    }


class _Graph:
    """The operators and the constants of a model. Values are named by what computes them."""

    def __init__(self, model: TrainedModel) -> None:
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self.weights = model.weights
        self._network = model.network
        self._units = [layer.units for layer in model.network.recurrent_layers]
        self._new_states: list[Sequence[str]] = []

    def build(self) -> None:
        """Add the operators of the whole network."""
        by_step = self.add("Transpose", ["input_node"], "frames", perm=[1, 0, 2, 3])
        shape = self.constant("frames/shape", np.array([0, 0, self._network.window_width], np.int64))
        values = self.add("Reshape", [by_step, shape], "windows")
        if len(self._units) > 1:
            for part in "ch":
                names = [f"previous_state_{part}/{index}" for index in range(len(self._units))]
                self.nodes.append(
                    helper.make_node("Split", [f"previous_state_{part}"], names, axis=1, split=self._units)
                )
        for layer in self._network.layers_after_window:
            values = _computed(layer, values, self)
        self.add("Softmax", [values], "logits", axis=2)
        for part, states in zip("ch", zip(*self._new_states, strict=True), strict=True):
            self.add("Concat", list(states), f"new_state_{part}", axis=1)

    def add(self, operator: str, inputs: Sequence[str], output: str, **attributes: Any) -> str:
        """Add an operator, and return the name of its only output."""
        self.nodes.append(helper.make_node(operator, list(inputs), [output], name=output, **attributes))
        return output

    def constant(self, name: str, values: npt.NDArray[Any]) -> str:
        """Add a constant, and return its name."""
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(values), name))
        return name

    def previous_state(self, part: str) -> str:
        """Return the name of the state, [batch, units] before the first step, of the next LSTM."""
        return f"previous_state_{part}" + (f"/{len(self._new_states)}" if len(self._units) > 1 else "")

    def add_new_state(self, names: Sequence[str]) -> None:
        """Take the names of the cell and the hidden state, [batch, units], after the last step of an LSTM."""
        self._new_states.append(names)


@singledispatch
def _computed(layer: Layer, inputs: str, graph: _Graph) -> str:
    """Add a layer, and return the name of its outputs; these and its inputs are float32 [steps, batch, width]."""
    del inputs, graph
    raise AssertionError(f"{layer} is not in the format, but check_onnx lets it through")


@_computed.register
def _dense(layer: Dense, inputs: str, graph: _Graph) -> str:
    weights, bias = (
        graph.constant(name, graph.weights[name]) for name in (f"{layer.name}/weights", f"{layer.name}/bias")
    )
    product = graph.add("MatMul", [inputs, weights], f"{layer.name}/product")
    outputs = graph.add("Add", [product, bias], f"{layer.name}/sum")
    if layer.clip is None:
        return outputs
    limits = [
        graph.constant(f"{layer.name}/{name}", np.array(value, np.float32))
        for name, value in (("lowest", 0), ("highest", layer.clip))
    ]
    return graph.add("Clip", [outputs, *limits], f"{layer.name}/clipped")


@_computed.register
def _lstm(layer: LSTM, inputs: str, graph: _Graph) -> str:
    """Add an LSTM, whose outputs are zero beyond each utterance's length."""
    name, units = layer.name, layer.units
    kernel = graph.weights[f"{name}/kernel"].reshape(-1, 4, units)[:, _ORDER].reshape(-1, 4 * units)
    bias = graph.weights[f"{name}/bias"].reshape(4, units)[_ORDER].reshape(-1)
    weights = [
        graph.constant(f"{name}/W", kernel[:-units].T[None]),
        graph.constant(f"{name}/R", kernel[-units:].T[None]),
        graph.constant(f"{name}/B", np.concatenate([bias, np.zeros_like(bias)])[None]),
    ]
    hidden, cell = (
        graph.add("Unsqueeze", [graph.previous_state(part)], f"{name}/initial_{part}", axes=[0]) for part in "hc"
    )
    outputs = [f"{name}/Y", f"{name}/Y_h", f"{name}/Y_c"]
    graph.nodes.append(
        helper.make_node(
            "LSTM", [inputs, *weights, "input_lengths", hidden, cell], outputs, name=name, hidden_size=units
        )
    )
    last = {"c": outputs[2], "h": outputs[1]}
    graph.add_new_state([graph.add("Squeeze", [last[part]], f"{name}/last_{part}", axes=[0]) for part in last])
    return graph.add("Squeeze", [outputs[0]], f"{name}/outputs", axes=[1])
