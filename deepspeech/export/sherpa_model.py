"""Models for sherpa-onnx (k2-fsa), which computes Kaldi's log-mel energies as `fbank` does, and decodes.

* `model.onnx` takes whole recordings. It has the type `zipformer_ctc` of sherpa-onnx.
* `model-streaming.onnx` exists for networks that stream. It has the type `zipformer2_ctc`.
* `tokens.txt` names the labels.

Models of these types get unchanged energies, while other types get those of other filters or levels. Both models
normalize the features themselves.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from onnx import helper

from ..options import ExportOptions
from ..util.output_units.word_pieces import WORD_BEGIN
from ..util.text import Alphabet
from .formats import SHERPA_BLANK, TrainedModel, check_sherpa_labels
from .onnx_graph.features import stacked
from .onnx_graph.graph import Graph, Rows
from .onnx_graph.model import FLOAT, INT32, INT64, Value, add_network, model_file
from .onnx_graph.normalization import normalized_features
from .onnx_graph.runs import Runs, runs_of_features
from .onnx_graph.states import FlatStates
from .onnx_model import metadata

MODEL, STREAMING_MODEL, TOKENS = "model.onnx", "model-streaming.onnx", "tokens.txt"

_SIZES = {
    "encoder_dims": "4",
    "query_head_dims": "1",
    "value_head_dims": "1",
    "num_heads": "1",
    "num_encoder_layers": "1",
    "cnn_module_kernels": "2",
    "left_context_len": "1",
}
"""The sizes of a zipformer2: one layer, all as small as possible. sherpa-onnx makes caches of zeros from them."""

_UNUSED: Mapping[str, tuple[int, Sequence[str | int]]] = {
    "cached_nonlin_attn": (FLOAT, [1, "N", 1, 3]),
    "cached_val1": (FLOAT, [1, "N", 1]),
    "cached_val2": (FLOAT, [1, "N", 1]),
    "cached_conv1": (FLOAT, ["N", 4, 1]),
    "cached_conv2": (FLOAT, ["N", 4, 1]),
    "embed_states": (FLOAT, ["N", 128, 3, 19]),
    "processed_lens": (INT64, ["N"]),
}
"""The caches of these sizes except for the one that holds the states: types and shapes, in order."""


def files(model: TrainedModel, options: ExportOptions) -> dict[str, bytes]:
    """Return the content of the files by name; raise ExportError for labels that sherpa-onnx cannot name.

    Inputs of `model.onnx` are `x` float32 [batch, frames, coefficients] and `x_lens` int64 [batch], outputs `log_probs`
    float32 [batch, rows, labels + 1] and `log_probs_len` int64 [batch].
    """
    made = {MODEL: _whole(model, options), TOKENS: tokens(model.alphabet).encode()}
    runs = runs_of_features(model.network, model.features)
    return made if runs is None else {**made, STREAMING_MODEL: _streaming(model, options, runs)}


def tokens(alphabet: Alphabet) -> str:
    """Return a line for each label and the blank: its name, where U+2581 begins a word, and its number."""
    check_sherpa_labels(alphabet)
    names = [label.replace(" ", WORD_BEGIN) for label in alphabet.labels]
    return "".join(f"{name} {number}\n" for number, name in enumerate([*names, SHERPA_BLANK]))


def _whole(model: TrainedModel, options: ExportOptions) -> bytes:
    graph = Graph(model.weights, None)
    by_row = graph.add("Transpose", ["x"], perm=[1, 0, 2])
    lengths = graph.add("Cast", ["x_lens"], to=INT32)
    rows = _log_probabilities(model, Rows(by_row, model.features.coefficients, lengths, graph.size("x", 1)), graph)
    graph.add("Identity", [rows.values], "log_probs")
    graph.add("Cast", [rows.lengths], "log_probs_len", to=INT64)
    coefficients, outputs = model.features.coefficients, model.network.outputs
    return model_file(
        model.network.name,
        graph,
        [("x", FLOAT, ["N", "T", coefficients]), ("x_lens", INT64, ["N"])],
        [("log_probs", FLOAT, ["N", "rows", outputs]), ("log_probs_len", INT64, ["N"])],
        {**metadata(model, options), "model_type": "zipformer2_ctc", "vocab_size": str(outputs)},
    )


def _streaming(model: TrainedModel, options: ExportOptions, runs: Runs) -> bytes:
    shift = -(-options.n_steps // runs.shift) * runs.shift
    window, coefficients = shift + runs.overlap, model.features.coefficients
    states = FlatStates()
    graph = Graph(model.weights, states)
    by_row = graph.add("Transpose", ["x"], perm=[1, 0, 2])
    frames, batch = graph.size("x", 1), graph.size("x", 0)
    lengths = graph.add("Cast", [graph.add("Expand", [frames, batch])], to=INT32)
    advance = graph.add("Sub", [frames, graph.integers(runs.overlap)])
    rows = _log_probabilities(model, Rows(by_row, coefficients, lengths, advance), graph)
    graph.add("Identity", [rows.values], "log_probs")
    for name in _UNUSED:
        graph.add("Identity", [name], f"new_{name}")
    before = helper.make_node("Squeeze", ["cached_key"], ["previous_state"], axes=[0])
    after = helper.make_node("Unsqueeze", ["new_state"], ["new_cached_key"], axes=[0])
    caches: list[Value] = [("cached_key", FLOAT, [1, "N", states.size]), *((n, *of) for n, of in _UNUSED.items())]
    return model_file(
        model.network.name,
        graph,
        [("x", FLOAT, ["N", "T", coefficients]), *caches],
        [
            ("log_probs", FLOAT, ["N", "rows", model.network.outputs]),
            *[(f"new_{name}", kind, shape) for name, kind, shape in caches],
        ],
        {
            **metadata(model, options),
            "model_type": "zipformer2",
            "T": str(window),
            "decode_chunk_len": str(shift),
            **_SIZES,
            "query_head_dims": str(states.size),
        },
        around=([before], [after]),
    )


def _log_probabilities(model: TrainedModel, rows: Rows, graph: Graph) -> Rows:
    """Return the logarithms of the probabilities, float32 [batch, rows, labels + 1], for frames of the front end."""
    if model.features.stacked:
        rows = stacked(rows, model.features, graph)
    if model.statistics is not None:
        rows = normalized_features(rows, model.features, model.statistics, graph)
    rows = add_network(model.network, rows, graph)
    logarithms = graph.add("LogSoftmax", [rows.values], axis=2)
    return Rows(graph.add("Transpose", [logarithms], perm=[1, 0, 2]), rows.width, rows.lengths, rows.advance)
