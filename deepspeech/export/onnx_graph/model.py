"""Complete models: a graph with its inputs, outputs and properties as the bytes of a file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import onnx
from onnx import TensorProto, helper

from ... import __version__
from ...network.description import Network
from ...util.features import FeatureOptions
from ...util.frames.normalization import FeatureStatistics
from . import attention  # noqa: F401 - it adds its layers to `computed`
from .features import frames_of_samples, stacked
from .graph import Graph, Rows
from .layers import computed
from .normalization import normalized_features
from .runs import overlaps_of_inputs

OPSET = 11
IR_VERSION = 6
"""The version of the file format that was released with the opset."""

FLOAT, INT32, INT64 = TensorProto.FLOAT, TensorProto.INT32, TensorProto.INT64

Shape = Sequence[str | int | None]
"""Dimensions; a dimension of any size has a name."""

Value = tuple[str, int, Shape]
"""An input or an output: its name, its type and its shape."""


def add_features(
    samples: str,
    lengths: str,
    advance: str,
    features: FeatureOptions,
    statistics: FeatureStatistics | None,
    graph: Graph,
) -> Rows:
    """Add the computation of a network's frames from float32 [batch, samples]."""
    rows = frames_of_samples(features, samples, lengths, advance, graph)
    if features.stacked:
        rows = stacked(rows, features, graph)
    return rows if statistics is None else normalized_features(rows, features, statistics, graph)


def add_network(network: Network, rows: Rows, graph: Graph) -> Rows:
    """Add the layers of a network, and return its logits."""
    if not graph.states:  # a convolution needs a row; its utterance's length stays 0
        rows = replace(rows, values=graph.at_least_one(rows.values, axis=0, axes=3))
    overlaps = overlaps_of_inputs(network)
    needed = [*[overlaps[layer.name] for layer in network.layers], 0]
    for layer, before, after in zip(network.layers, needed, needed[1:], strict=False):
        rows = computed(layer, replace(rows, overlap=before), graph)
        if graph.states and layer.group > 1 and before > after:  # the last rows are of incomplete chunks
            end = graph.add("Add", [rows.advance, graph.integers(after)])
            rows = graph.rows_of(graph.part(rows.values, graph.integers(0), end), rows.width, rows)
    return rows


def model_file(
    name: str,
    graph: Graph,
    inputs: Iterable[Value],
    outputs: Iterable[Value],
    properties: Mapping[str, str],
    around: tuple[Sequence[Any], Sequence[Any]] = ((), ()),
) -> bytes:
    """Check a model's operators and return the bytes of its file; `around` are those before and after all."""
    nodes = graph.states.finished(graph.nodes) if graph.states else graph.nodes
    made = helper.make_model(
        helper.make_graph(
            [*around[0], *nodes, *around[1]],
            name,
            [helper.make_tensor_value_info(*each) for each in inputs],
            [helper.make_tensor_value_info(*each) for each in outputs],
            graph.constants,
        ),
        producer_name="deepspeech",
        producer_version=__version__,
        opset_imports=[helper.make_opsetid("", OPSET)],
    )
    made.ir_version = IR_VERSION
    helper.set_model_props(made, dict(properties))
    onnx.checker.check_model(made)
    content: bytes = made.SerializeToString(deterministic=True)
    return content
