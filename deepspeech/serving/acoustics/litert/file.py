"""Reading files of LiteRT: the tensors and operators of their graph, checked before anything runs them.

Schema: `schema.fbs` of TensorFlow Lite; the package ai-edge-litert has its generated classes. They read nothing beyond
the file, but do not check its values, so every number that leads to work or memory is checked here.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt
from ai_edge_litert import schema_py_generated as schema

from ....errors import GraphError

MOST_TENSORS = 1 << 17
"""The most tensors, operators or buffers; a step of an LSTM has about ten."""

ABSENT = -1
"""Stands for an optional tensor that an operator does not have."""

MOST_DIMENSIONS = 8
MOST_OPERANDS = 1 << 13
LONGEST_NAME = 1 << 10
LARGEST_DIMENSION = 1 << 28

DTYPES: Mapping[int, str] = {
    schema.TensorType.FLOAT32: "<f4",
    schema.TensorType.INT32: "<i4",
    schema.TensorType.INT64: "<i8",
    schema.TensorType.INT8: "i1",
    schema.TensorType.UINT8: "u1",
    schema.TensorType.BOOL: "?",
}
"""The types of tensors that are read, in addition to STRING."""

OPERATOR_NAMES: Mapping[int, str] = {
    value: name for name, value in vars(schema.BuiltinOperator).items() if isinstance(value, int)
}


@dataclass(frozen=True)
class Tensor:
    """A tensor: a constant if it has content, and otherwise a computed value."""

    name: str
    shape: tuple[int, ...]
    type: int
    content: memoryview | None
    scale: npt.NDArray[np.float32] | None
    """The scale of integers: one number, or one for each row."""
    zero_point: npt.NDArray[np.int64] | None
    rows_are: int
    """The dimension of the rows that have a scale each."""

    @property
    def bytes(self) -> int:
        """The size of the value; 0 for strings."""
        return prod(self.shape) * np.dtype(DTYPES[self.type]).itemsize if self.type in DTYPES else 0

    def value(self) -> npt.NDArray[Any]:
        """Return the value of a constant; strings are an object array of bytes. Raise GraphError if it has none."""
        if self.content is None:
            raise GraphError(f"its {self.name} is not a constant, but computed")
        if self.type == schema.TensorType.STRING:
            return _strings(self.name, self.content)
        return np.frombuffer(self.content, DTYPES[self.type]).reshape(self.shape)


@dataclass(frozen=True)
class Operator:
    """An operator: its name in the schema, and its tensors; inputs may be ABSENT."""

    name: str
    version: int
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    options_type: int
    options: Any
    """The table in the file, which is not checked."""


@dataclass(frozen=True)
class LiteFile:
    """The graph of a file."""

    tensors: Sequence[Tensor]
    operators: Sequence[Operator]
    inputs: Mapping[str, int]
    """The input tensors, by name."""
    outputs: Mapping[str, int]
    size: int
    """Bytes of the file."""

    def maker_of(self, tensor: int) -> Operator | None:
        """Return the operator that computes a tensor; None if no operator does."""
        return next((operator for operator in self.operators if tensor in operator.outputs), None)


def read_file(data: memoryview) -> LiteFile:
    """Return the graph of a file; raise GraphError for anything else."""
    with damage_is_an_error():
        model = schema.Model.GetRootAs(data, 0)
        if model.SubgraphsLength() != 1:
            raise GraphError("is not a speech model, as it has not exactly one graph")
        graph = model.Subgraphs(0)
        counts = (graph.TensorsLength(), graph.OperatorsLength(), model.BuffersLength(), model.OperatorCodesLength())
        if max(counts) > MOST_TENSORS:
            raise GraphError("is not a speech model, as it has too many operators")
        codes = [_code(model.OperatorCodes(number)) for number in range(counts[3])]
        named = {*_numbers(graph.InputsAsNumpy(), counts[0]), *_numbers(graph.OutputsAsNumpy(), counts[0])}
        tensors = [_tensor(graph.Tensors(number), model, named=number in named) for number in range(counts[0])]
        operators = [_operator(graph.Operators(number), codes, counts[0]) for number in range(counts[1])]
        inputs, outputs = (
            {tensors[number].name: number for number in _numbers(each, counts[0])}
            for each in (graph.InputsAsNumpy(), graph.OutputsAsNumpy())
        )
    return LiteFile(tensors, operators, inputs, outputs, len(data))


@contextmanager
def damage_is_an_error() -> Iterator[None]:
    """Turn the errors that the schema's classes raise for places outside the file into GraphError."""
    try:
        yield
    except (struct.error, IndexError, ValueError, TypeError, AttributeError, OverflowError, UnicodeDecodeError):
        raise GraphError("is not a model of LiteRT, or a damaged one") from None


def _code(code: Any) -> tuple[str, int]:
    number = max(code.BuiltinCode(), code.DeprecatedBuiltinCode())  # files from before 2020 have only the second
    return OPERATOR_NAMES.get(number, f"operator {number}"), code.Version()


def _numbers(values: Any, limit: int) -> tuple[int, ...]:
    """Return the numbers of tensors in a vector of the file; the schema's classes give 0 for a missing vector."""
    if isinstance(values, int):
        return ()
    if len(values) > MOST_OPERANDS or (len(values) and not ABSENT <= values.min() <= values.max() < limit):
        raise GraphError("names tensors that it does not have")
    return tuple(values.tolist())


def _operator(operator: Any, codes: Sequence[tuple[str, int]], tensors: int) -> Operator:
    name, version = codes[operator.OpcodeIndex()]
    return Operator(
        name,
        version,
        _numbers(operator.InputsAsNumpy(), tensors),
        _numbers(operator.OutputsAsNumpy(), tensors),
        operator.BuiltinOptionsType(),
        operator.BuiltinOptions(),
    )


def _tensor(tensor: Any, model: Any, *, named: bool) -> Tensor:
    shape = () if tensor.ShapeIsNone() or not tensor.ShapeLength() else tensor.ShapeAsNumpy()
    if len(shape) > MOST_DIMENSIONS or any(not 0 < size <= LARGEST_DIMENSION for size in shape):
        raise GraphError("has a tensor whose shape is not known")
    kind = tensor.Type()
    if (kind not in DTYPES and kind != schema.TensorType.STRING) or tensor.Sparsity() or tensor.IsVariable():
        raise GraphError("has a tensor of a kind that speech models do not have")
    number = tensor.Buffer()
    if not 0 <= number < model.BuffersLength():
        raise GraphError("has a tensor without its value")
    content = model.Buffers(number).DataAsNumpy() if number else 0
    scale, zero_point, rows_are = _quantization(tensor.Quantization())
    made = Tensor(
        name=_name(tensor) if named else "",
        shape=tuple(int(size) for size in shape),
        type=kind,
        content=None if isinstance(content, int) or not len(content) else content.data,
        scale=scale,
        zero_point=zero_point,
        rows_are=rows_are,
    )
    if made.content is not None and kind in DTYPES and made.bytes != len(made.content):
        raise GraphError("has a constant whose size is not that of its shape")
    return made


def _name(tensor: Any) -> str:
    name = tensor.Name() or b""
    return "" if len(name) > LONGEST_NAME else name.decode()


def _quantization(parameters: Any) -> tuple[Any, Any, int]:
    """Return scale, zero point and dimension of integers; the first two are None if there are none."""
    if parameters is None or not parameters.ScaleLength():
        return None, None, 0
    scale, zero_point = parameters.ScaleAsNumpy(), parameters.ZeroPointAsNumpy()
    if isinstance(zero_point, int) or len(zero_point) != len(scale) or len(scale) > LARGEST_DIMENSION:
        raise GraphError("has integers of an unknown scale")
    if not np.isfinite(scale).all() or scale.min() < 0 or not -128 <= zero_point.min() <= zero_point.max() <= 255:
        raise GraphError("has integers of an unknown scale")
    return scale, zero_point, parameters.QuantizedDimension()


def _strings(name: str, content: memoryview) -> npt.NDArray[Any]:
    """Return the strings of a constant: how many there are, where each begins, where they end, then their bytes."""
    try:
        (count,) = struct.unpack_from("<i", content)
        places = struct.unpack_from(f"<{count + 1}i", content, 4) if 0 < count <= MOST_OPERANDS else ()
    except struct.error:
        places = ()
    if not places or places[-1] > len(content) or list(places) != sorted(places) or places[0] < 0:
        raise GraphError(f"its {name or 'text'} is damaged")
    values = np.empty(len(places) - 1, object)
    values[:] = [bytes(content[begin:end]) for begin, end in pairwise(places)]
    return values
