"""Files of ONNX models that this program exported, and their checks before onnxruntime gets them.

Messages: ModelProto, GraphProto, NodeProto, TensorProto and StringStringEntryProto of ONNX; the comments name the
fields. A file may hold only operators that the export uses, and no references to other files, so a model can do nothing
but compute.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from ...errors import GraphError
from ..frozen.graph import mapped_file
from ..frozen.nodes import is_finite
from ..frozen.protobuf import FieldBudget, fields, message, number

OPERATORS = frozenset(
    {
        *("Add", "And", "Cast", "Clip", "Concat", "Constant", "Conv", "Cos", "CumSum", "Div", "Expand", "Gather"),
        *("GatherElements", "Identity", "LSTM", "Less", "Log", "MatMul", "Max", "Mod", "Mul", "Not", "Pad", "Pow"),
        *("Range", "ReduceMean", "ReduceSum", "Reshape", "Shape", "Sigmoid", "Sin", "Slice", "Softmax", "Split"),
        *("Sqrt", "Squeeze", "Sub", "Transpose", "Unsqueeze", "Where"),
    }
)
"""The operators that the export uses. All of them compute; none of them repeats or selects other operators."""

FLOAT = 1
"""The type of tensors of float32."""

LARGEST_FILE = 1 << 31
"""The most bytes of a protocol buffer."""


def read_onnx_file(path: Path) -> tuple[bytes, dict[str, str]]:
    """Return the bytes of a model's file and its properties; raise GraphError for anything else."""
    with mapped_file(path) as mapped:
        if len(mapped) >= LARGEST_FILE:
            raise GraphError("is larger than 2 GiB, which no model in ONNX is")
        content = mapped[:]
    return content, _properties(memoryview(content), FieldBudget())


def _properties(model: memoryview, budget: FieldBudget) -> dict[str, str]:
    properties, graphs = {}, 0
    for field, value in fields(model, budget):
        if field == 7:  # graph
            graphs += 1
            _check_graph(message(value), budget)
        elif field == 14:  # metadata_props
            entry = dict(fields(message(value), budget))
            key, text = (bytes(message(entry.get(each, memoryview(b"")))) for each in (1, 2))
            properties[key.decode("utf-8", "replace")] = text.decode("utf-8", "replace")
        elif field in (20, 25):  # training_info, functions
            raise GraphError("holds functions or training, which --export_format=onnx does not write")
    if graphs != 1:
        raise GraphError("is not a model in ONNX")
    return properties


def _check_graph(graph: memoryview, budget: FieldBudget) -> None:
    for field, value in fields(graph, budget):
        if field == 1:  # node
            _check_node(message(value), budget)
        elif field == 5:  # initializer
            _check_tensor(message(value), budget)
        elif field == 15:  # sparse_initializer
            raise GraphError("holds sparse weights, which --export_format=onnx does not write")


def _check_node(node: memoryview, budget: FieldBudget) -> None:
    for field, value in fields(node, budget):
        if field == 4 and (operator := bytes(message(value)).decode("utf-8", "replace")) not in OPERATORS:  # op_type
            raise GraphError(
                f"has an operator {operator[:40]!r}, which is not one of those that --export_format=onnx writes"
            )
        if field == 7 and len(message(value)):  # domain
            raise GraphError("has operators that are not of ONNX itself")
        if field == 5:  # attribute
            for tensor in _tensors(message(value), budget):
                _check_tensor(tensor, budget)


def _tensors(attribute: memoryview, budget: FieldBudget) -> Iterator[memoryview]:
    for field, value in fields(attribute, budget):
        if field == 5:  # t
            yield message(value)
        elif field in (6, 11):  # g, graphs
            raise GraphError("has operators that run others, which --export_format=onnx does not write")


def _check_tensor(tensor: memoryview, budget: FieldBudget) -> None:
    kind, contents = 0, []
    for field, value in fields(tensor, budget):
        if field == 13 or (field == 14 and number(value)):  # external_data, data_location
            raise GraphError("has weights in other files, which --export_format=onnx does not write")
        if field == 2:  # data_type
            kind = number(value)
        elif field in (4, 9):  # float_data, raw_data
            contents.append(message(value))
    for content in contents if kind == FLOAT else ():
        if len(content) % 4 or not is_finite(np.frombuffer(content, "<f4")):
            raise GraphError("holds numbers that are not finite")
