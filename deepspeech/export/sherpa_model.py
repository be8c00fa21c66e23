"""Models for sherpa-onnx (k2-fsa), which computes Kaldi's log-mel energies as `fbank` does, and decodes.

`model.onnx` takes whole recordings, as a CTC model of its type `zipformer_ctc`: it asks least of the file, and hands
over energies as they are. `model-streaming.onnx`, of networks that stream, is of its type `nemo_ctc` for streams, whose
states may be of any size. Both normalize the features themselves. `tokens.txt` names the labels.
"""

from __future__ import annotations

from collections.abc import Sequence

from onnx import helper

from ..errors import ExportError
from ..options import ExportOptions
from ..util.output_units import WordPieceAlphabet
from ..util.output_units.word_pieces import WORD_BEGIN
from ..util.text import Alphabet
from .formats import TrainedModel
from .onnx_graph.features import stacked
from .onnx_graph.graph import Graph, Rows
from .onnx_graph.model import FLOAT, INT32, INT64, Value, add_network, model_file
from .onnx_graph.normalization import normalized_features
from .onnx_graph.runs import Runs, runs_of_features
from .onnx_graph.states import FlatStates
from .onnx_model import metadata

MODEL, STREAMING_MODEL, TOKENS = "model.onnx", "model-streaming.onnx", "tokens.txt"

BLANK = "<blk>"
"""The name by which sherpa-onnx finds the blank."""


def files(model: TrainedModel, options: ExportOptions) -> dict[str, bytes]:
    """Return the content of the files by their names; raise ExportError for labels that sherpa-onnx has no names for.

    Inputs of `model.onnx` are `x` float32 [batch, frames, coefficients] and `x_lens` int64 [batch], outputs `log_probs`
    float32 [batch, rows, labels + 1] and `log_probs_len` int64 [batch].
    """
    made = {MODEL: _whole(model, options), TOKENS: tokens(model.alphabet).encode()}
    runs = runs_of_features(model.network, model.features)
    return made if runs is None else {**made, STREAMING_MODEL: _streaming(model, options, runs)}


def tokens(alphabet: Alphabet) -> str:
    """Return the labels and the blank, a line each: its name, in which U+2581 begins a word, and its number."""
    if alphabet.unit not in (Alphabet.unit, WordPieceAlphabet.unit):
        raise ExportError(
            f"--output_unit={alphabet.unit}: sherpa-onnx writes characters and word pieces; export another format"
        )
    names = [label.replace(" ", WORD_BEGIN) for label in alphabet.labels]
    for label, name in zip(alphabet.labels, names, strict=True):
        if WORD_BEGIN in label or name == BLANK or any(map(str.isspace, name)) or WORD_BEGIN in name[1:]:
            raise ExportError(f"label {label!r} has no name in tokens.txt of sherpa-onnx; export another format")
    return "".join(f"{name} {number}\n" for number, name in enumerate([*names, BLANK]))


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
    states = FlatStates()
    graph = Graph(model.weights, states)
    by_row = graph.add("Transpose", ["audio_signal"], perm=[2, 0, 1])
    lengths = graph.add("Cast", ["length"], to=INT32)
    advance = graph.add("Sub", [graph.size("audio_signal", 2), graph.integers(runs.overlap)])
    rows = _log_probabilities(model, Rows(by_row, model.features.coefficients, lengths, advance), graph)
    graph.add("Identity", [rows.values], "logprobs")
    graph.add("Cast", [rows.lengths], "encoded_lengths", to=INT64)
    graph.add("Identity", ["cache_last_time"], "cache_last_time_next")
    graph.add("Add", ["cache_last_channel_len", graph.integers(shift)], "cache_last_channel_next_len")
    flat, cache = graph.integers(0, states.size), graph.integers(0, 1, 1, states.size)
    before = helper.make_node("Reshape", ["cache_last_channel", flat], ["previous_state"])
    after = helper.make_node("Reshape", ["new_state", cache], ["cache_last_channel_next"])
    caches = [("channel", [1, 1, states.size]), ("time", [1, 1, 1])]
    reduction = model.network.time_reduction * model.features.skip_frames
    return model_file(
        model.network.name,
        graph,
        [
            ("audio_signal", FLOAT, ["batch", model.features.coefficients, "frames"]),
            ("length", INT64, ["batch"]),
            *_caches(caches, ""),
            ("cache_last_channel_len", INT64, ["batch"]),
        ],
        [
            ("logprobs", FLOAT, ["batch", "rows", model.network.outputs]),
            ("encoded_lengths", INT64, ["batch"]),
            *_caches(caches, "_next"),
            ("cache_last_channel_next_len", INT64, ["batch"]),
        ],
        {
            **metadata(model, options),
            "model_type": "EncDecCTCModelBPE",
            "vocab_size": str(model.alphabet.size),
            "window_size": str(shift + runs.overlap),
            "chunk_shift": str(shift),
            "subsampling_factor": str(reduction),
            "normalize_type": "",
            **{f"cache_last_{name}_dim{place}": str(n) for name, shape in caches for place, n in enumerate(shape, 1)},
        },
        around=([before], [after]),
    )


def _caches(caches: Sequence[tuple[str, Sequence[int]]], end: str) -> list[Value]:
    return [(f"cache_last_{name}{end}", FLOAT, ["batch", *shape]) for name, shape in caches]


def _log_probabilities(model: TrainedModel, rows: Rows, graph: Graph) -> Rows:
    """Return the logarithms of the probabilities, float32 [batch, rows, labels + 1], of frames as the front end's."""
    if model.features.stacked:
        rows = stacked(rows, model.features, graph)
    if model.statistics is not None:
        rows = normalized_features(rows, model.features, model.statistics, graph)
    rows = add_network(model.network, rows, graph)
    logarithms = graph.add("LogSoftmax", [rows.values], axis=2)
    return Rows(graph.add("Transpose", [logarithms], perm=[1, 0, 2]), rows.width, rows.lengths, rows.advance)
