"""Files of LiteRT (TensorFlow Lite), written tensor by tensor and operator by operator.

Schema: `schema.fbs` of TensorFlow Lite; TensorFlow contains its generated classes.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from typing import Any

import flatbuffers
import numpy as np
import numpy.typing as npt
from flatbuffers import flexbuffers
from tensorflow.lite.python import schema_py_generated as schema

from ..util.files.flatbuffer import aligned_bytes

Tensor = int
"""A tensor, by its number in the file."""

Type = type[np.float32] | type[np.int32] | type[np.int8] | type[bytes]
"""The type of a tensor's elements; bytes are strings."""

SCHEMA_VERSION = 3
FILE_IDENTIFIER = b"TFL3"

ALIGNMENT = 16
"""Bytes; kernels read constants in vectors of this size."""

INT8_WEIGHTS_VERSION = 3
"""The version of FULLY_CONNECTED that multiplies numbers of 32 bits by weights of 8 bits."""

ABSENT: Tensor = -1
"""The number of an optional tensor that is absent."""

_TYPES: Mapping[Type, int] = {
    np.float32: schema.TensorType.FLOAT32,
    np.int32: schema.TensorType.INT32,
    np.int8: schema.TensorType.INT8,
    bytes: schema.TensorType.STRING,
}

_OPTIONS_OF_BINARY: Mapping[str, Any] = {
    "ADD": schema.AddOptionsT,
    "MUL": schema.MulOptionsT,
    "MINIMUM": schema.MaximumMinimumOptionsT,
}


class TFLiteFile:
    """A graph of operators, which run in the order of their addition."""

    def __init__(self) -> None:
        self._tensors: list[Any] = []
        self._buffers: list[_Buffer] = [_Buffer(b"")]  # the first one is for tensors without a value
        self._operators: list[Any] = []
        self._codes: dict[tuple[int, str, int], int] = {}
        self._inputs: list[Tensor] = []
        self._outputs: list[Tensor] = []

    def add_input(self, name: str, shape: Sequence[int]) -> Tensor:
        """Add a float32 input of the graph."""
        self._inputs.append(self._tensor(name, shape, np.float32))
        return self._inputs[-1]

    def add_output(self, tensor: Tensor) -> None:
        """Make a tensor an output of the graph."""
        self._outputs.append(tensor)

    def constant(self, name: str, values: npt.NDArray[np.float32] | npt.NDArray[np.int32]) -> Tensor:
        """Add a constant."""
        return self._tensor(name, values.shape, values.dtype.type, np.ascontiguousarray(values).tobytes())

    def int8_constant(self, name: str, values: npt.NDArray[np.int8], scale: float) -> Tensor:
        """Add a constant whose values are multiples of `scale`."""
        made = self._tensor(name, values.shape, np.int8, np.ascontiguousarray(values).tobytes())
        self._tensors[made].quantization = schema.QuantizationParametersT(scale=[scale], zeroPoint=[0])
        return made

    def text(self, name: str, value: bytes) -> Tensor:
        """Add a constant of one string, of shape [1]."""
        header = struct.pack("<iii", 1, 12, 12 + len(value))  # the number of strings, their beginnings, their end
        return self._tensor(name, [1], bytes, header + value)

    def shape_of(self, tensor: Tensor) -> tuple[int, ...]:
        """Return the shape of a tensor."""
        return tuple(self._tensors[tensor].shape)

    def add(
        self,
        operator: str,
        inputs: Sequence[Tensor],
        outputs: Mapping[str, Sequence[int]],
        options: Any = None,
        *,
        kind: Type = np.float32,
        version: int = 1,
    ) -> list[Tensor]:
        """Add an operator of the schema, such as `ADD`, and return its outputs, which have names and shapes.

        `options` are those of the schema, `kind` is the type of the outputs' elements.
        """
        builtin = getattr(schema.BuiltinOperator, operator)
        made = [self._tensor(name, shape, kind) for name, shape in outputs.items()]
        added = schema.OperatorT(self._code(builtin, "", version), list(inputs), made)
        if options is not None:
            added.builtinOptionsType = getattr(schema.BuiltinOptions, type(options).__name__.removesuffix("T"))
            added.builtinOptions = options
        self._operators.append(added)
        return made

    def add_custom(
        self, operator: str, inputs: Sequence[Tensor], name: str, shape: Sequence[int], options: Mapping[str, Any]
    ) -> Tensor:
        """Add an operator that the schema does not have, and return its float32 output."""
        made = self._tensor(name, shape, np.float32)
        added = schema.OperatorT(self._code(schema.BuiltinOperator.CUSTOM, operator, 1), list(inputs), [made])
        added.customOptions = np.frombuffer(flexbuffers.Dumps(dict(options)), np.uint8)
        self._operators.append(added)
        return made

    def reshape(self, tensor: Tensor, name: str, shape: Sequence[int], kind: Type = np.float32) -> Tensor:
        """Add RESHAPE."""
        wanted = self.constant(f"{name}/shape", np.array(shape, np.int32))
        options = schema.ReshapeOptionsT(list(shape))
        (made,) = self.add("RESHAPE", [tensor, wanted], {name: shape}, options, kind=kind)
        return made

    def product(self, rows: Tensor, weights: Tensor, bias: Tensor, name: str, *, relu: bool = False) -> Tensor:
        """Add FULLY_CONNECTED: products [n, columns] of rows [n, inputs] with weights [columns, inputs], plus a bias.

        The weights may be int8.
        """
        activation = schema.ActivationFunctionType.RELU if relu else schema.ActivationFunctionType.NONE
        int8 = self._tensors[weights].type == schema.TensorType.INT8
        (made,) = self.add(
            "FULLY_CONNECTED",
            [rows, weights, bias],
            {name: [self.shape_of(rows)[0], self.shape_of(weights)[0]]},
            schema.FullyConnectedOptionsT(activation),
            version=INT8_WEIGHTS_VERSION if int8 else 1,
        )
        return made

    def unary(self, operator: str, values: Tensor) -> Tensor:
        """Add an elementwise operator with one input."""
        name = f"{self._tensors[values].name}/{operator.lower()}"
        (made,) = self.add(operator, [values], {name: self.shape_of(values)})
        return made

    def binary(self, operator: str, one: Tensor, other: Tensor, name: str) -> Tensor:
        """Add ADD, MUL or MINIMUM; `other` may be a single number."""
        (made,) = self.add(operator, [one, other], {name: self.shape_of(one)}, _OPTIONS_OF_BINARY[operator]())
        return made

    def split(self, values: Tensor, name: str, count: int, *, axis: int) -> list[Tensor]:
        """Add SPLIT into equal parts."""
        shape = list(self.shape_of(values))
        shape[axis] //= count
        outputs = {f"{name}/{number}": shape for number in range(count)}
        dimension = self.constant(f"{name}/axis", np.array(axis, np.int32))
        return self.add("SPLIT", [dimension, values], outputs, schema.SplitOptionsT(count))

    def joined(self, parts: Sequence[Tensor], name: str, *, axis: int) -> Tensor:
        """Add CONCATENATION."""
        shape = list(self.shape_of(parts[0]))
        shape[axis] = sum(self.shape_of(part)[axis] for part in parts)
        (made,) = self.add("CONCATENATION", parts, {name: shape}, schema.ConcatenationOptionsT(axis))
        return made

    def serialized(self, description: str) -> bytes:
        """Return the content of the file."""
        codes = [
            # Readers from before 2020 know only the first field, which is a byte.
            schema.OperatorCodeT(builtin, custom or None, version, builtin)
            for builtin, custom, version in self._codes
        ]
        graph = schema.SubGraphT(self._tensors, self._inputs, self._outputs, self._operators, "main")
        model = schema.ModelT(SCHEMA_VERSION, codes, [graph], description, self._buffers)
        size = sum(len(buffer.content) for buffer in self._buffers)
        builder = flatbuffers.Builder(min(size + size // 16 + (1 << 16), flatbuffers.Builder.MAX_BUFFER_SIZE))
        builder.Finish(model.Pack(builder), FILE_IDENTIFIER)
        return bytes(builder.Output())

    def _tensor(self, name: str, shape: Sequence[int], kind: Type, content: bytes = b"") -> Tensor:
        made = schema.TensorT(list(shape), _TYPES[kind], name=name)
        if content:
            made.buffer = len(self._buffers)
            self._buffers.append(_Buffer(content))
        self._tensors.append(made)
        return len(self._tensors) - 1

    def _code(self, builtin: int, custom: str, version: int) -> int:
        return self._codes.setdefault((builtin, custom, version), len(self._codes))


class _Buffer(schema.BufferT):  # type: ignore[misc] # the schema has no types
    """The content of constants, with the alignment that kernels need."""

    def __init__(self, content: bytes) -> None:
        super().__init__()
        self.content = content

    def Pack(self, builder: Any) -> Any:  # noqa: N802 - the name in the schema
        """Write the content into a file, and return its position there."""
        place = aligned_bytes(builder, self.content, ALIGNMENT) if self.content else None
        schema.BufferStart(builder)
        if place is not None:
            schema.BufferAddData(builder, place)
        return schema.BufferEnd(builder)
