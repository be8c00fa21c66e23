"""Models in ONNX, for onnxruntime and this program.

A network of DeepSpeech's layers takes windows of frames, as DeepSpeech's own graphs do. Others take frames, and with
`--export_features` all take samples. Batch and steps are of any size, and the state of a streaming network is an input
and an output.
"""

from __future__ import annotations

import base64
import json

from ..network.frozen.supported import check_frozen, is_for_clients
from ..options import ExportOptions
from ..serving.frozen.metadata import serialize_alphabet, serialize_features, serialize_network
from .formats import TrainedModel
from .onnx_graph.graph import Graph, Rows
from .onnx_graph.layers import computed
from .onnx_graph.model import FLOAT, INT32, Value, add_features, add_network, model_file
from .onnx_graph.runs import Runs, runs_of_frames, runs_of_samples
from .onnx_graph.states import ClientStates, FlatStates

WINDOWS, FRAMES, SAMPLES = "windows", "frames", "samples"
"""The inputs of models, the values of their property `input`."""


def serialized(model: TrainedModel, options: ExportOptions) -> bytes:
    """Return the file of a model. Raise ExportError for a network that is not in the format.

    With DeepSpeech's layers, inputs are `input_node` float32 [batch, steps, 2 * context + 1, coefficients],
    `input_lengths` int32 [batch], at most the number of steps, and `previous_state_c/h` float32 [batch, units]; outputs
    are `logits` (probabilities) float32 [steps, batch, labels + 1] and `new_state_c/h`. The states of several LSTMs are
    side by side.

    With others, inputs are `frames` float32 [batch, frames, width], or `samples` float32 [batch, samples] in [-1, 1],
    and their `lengths` int32 [batch]; outputs are `logits` (probabilities) float32 [rows, batch, labels + 1] and
    `row_lengths` int32 [batch]. If the network streams, there are also `previous_state` and `new_state` float32
    [batch, size], and the properties `shift` and `overlap` are the sizes of a run; see `Runs`.

    The properties of the file are its metadata: see `metadata`.
    """
    check_frozen(model.network)
    if is_for_clients(model.network) and not options.features:
        return _of_windows(model, options)
    runs = runs_of_samples(model.network, model.features) if options.features else runs_of_frames(model.network)
    return _of_signals(model, options, runs)


def metadata(model: TrainedModel, options: ExportOptions) -> dict[str, str]:
    """Return the information for clients, as texts by name.

    `labels` is a JSON list of the labels as texts, without the blank, which comes after the last. `output_unit` is the
    kind of the labels. `features` and `network` are JSON, as in the metadata of exported graphs. `alphabet` has the
    labels in base64, in the format of these graphs, and `unit_data` further data of their alphabet.
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
        "alphabet": base64.b64encode(serialize_alphabet(model.alphabet.output_labels)).decode(),
        "unit_data": base64.b64encode(model.alphabet.unit_data).decode(),
    }


def _of_windows(model: TrainedModel, options: ExportOptions) -> bytes:
    """Return the file of a model that takes windows of frames."""
    network = model.network
    states = ClientStates(network)
    graph = Graph(model.weights, states)
    by_step = graph.add("Transpose", ["input_node"], perm=[1, 0, 2, 3])
    values = graph.add("Reshape", [by_step, graph.integers(0, 0, network.window_width)])
    rows = Rows(values, network.window_width, "input_lengths", "")
    for layer in network.layers_after_window:
        rows = computed(layer, rows, graph)
    graph.add("Softmax", [rows.values], "logits", axis=2)
    parts, units = ("c", "h"), sum(states.units)
    inputs: list[Value] = [
        ("input_node", FLOAT, ["batch", "steps", 2 * network.context + 1, network.coefficients]),
        ("input_lengths", INT32, ["batch"]),
        *[_state(f"previous_state_{part}", units) for part in parts],
    ]
    outputs: list[Value] = [
        ("logits", FLOAT, ["steps", "batch", network.outputs]),
        *[_state(f"new_state_{part}", units) for part in parts],
    ]
    return model_file(network.name, graph, inputs, outputs, {**metadata(model, options), "input": WINDOWS})


def _of_signals(model: TrainedModel, options: ExportOptions, runs: Runs | None) -> bytes:
    """Return the file of a model that takes frames or samples."""
    network, states = model.network, FlatStates() if runs else None
    graph = Graph(model.weights, states)
    name = SAMPLES if options.features else FRAMES
    advance = graph.add("Sub", [graph.size(name, 1), graph.integers(runs.overlap)]) if runs else graph.size(name, 1)
    if options.features:
        rows = add_features(name, "lengths", advance, model.features, model.statistics, graph)
    else:
        by_row = graph.add("Transpose", [name], perm=[1, 0, 2])
        rows = Rows(by_row, network.coefficients, "lengths", advance)
    rows = add_network(network, rows, graph)
    graph.add("Softmax", [rows.values], "logits", axis=2)
    graph.add("Identity", [rows.lengths], "row_lengths")
    inputs: list[Value] = [
        (name, FLOAT, ["batch", name, *([] if options.features else [network.coefficients])]),
        ("lengths", INT32, ["batch"]),
    ]
    outputs: list[Value] = [("logits", FLOAT, ["rows", "batch", network.outputs]), ("row_lengths", INT32, ["batch"])]
    properties = {**metadata(model, options), "input": name}
    if runs and states:
        inputs.append(_state("previous_state", states.size))
        outputs.append(_state("new_state", states.size))
        properties |= {"shift": str(runs.shift), "overlap": str(runs.overlap)}
    return model_file(network.name, graph, inputs, outputs, properties)


def _state(name: str, size: int) -> Value:
    return name, FLOAT, ["batch", size]
