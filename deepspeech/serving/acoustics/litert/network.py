"""The part of a LiteRT file that computes posteriors: it is checked, and written to a file of its own for LiteRT.

The original file also has operators for features and metadata, for clients that have no other source of them. They are
left out here: LiteRT gets only what was checked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import flatbuffers
from ai_edge_litert import schema_py_generated as schema

from ....errors import GraphError
from ....util.files.flatbuffer import aligned_bytes
from ...frozen.model import MOST_EXPANSION, MOST_UNWRITTEN_BYTES
from ..loading import LITERT_IDENTIFIER
from .file import ABSENT, MOST_DIMENSIONS, LiteFile, Operator, Tensor, damage_is_an_error

INPUTS = ("input_node", "previous_state_c", "previous_state_h")
OUTPUTS = ("logits", "new_state_c", "new_state_h")

OPTIONS: Mapping[str, str] = {
    "ADD": "AddOptions",
    "CONCATENATION": "ConcatenationOptions",
    "DEQUANTIZE": "DequantizeOptions",
    "EXPAND_DIMS": "ExpandDimsOptions",
    "FULLY_CONNECTED": "FullyConnectedOptions",
    "LOGISTIC": "",
    "MAXIMUM": "MaximumMinimumOptions",
    "MINIMUM": "MaximumMinimumOptions",
    "MUL": "MulOptions",
    "PACK": "PackOptions",
    "RELU": "",
    "RESHAPE": "ReshapeOptions",
    "SLICE": "SliceOptions",
    "SOFTMAX": "SoftmaxOptions",
    "SPLIT": "SplitOptions",
    "SPLIT_V": "SplitVOptions",
    "SQUEEZE": "SqueezeOptions",
    "STRIDED_SLICE": "StridedSliceOptions",
    "SUB": "SubOptions",
    "TANH": "",
    "TRANSPOSE": "TransposeOptions",
    "UNPACK": "UnpackOptions",
}
"""The operators that networks of DeepSpeech have, by any conversion, and the table of each operator's settings."""

_SCHEMA_VERSION = 3
_ALIGNMENT = 16


@dataclass(frozen=True)
class NetworkFile:
    """A file of a network alone, whose inputs and outputs have the order of `INPUTS` and `OUTPUTS`."""

    content: bytes
    input_shape: tuple[int, ...]
    """[1, steps, 2 * context + 1, coefficients]."""
    units: int
    """The units of all LSTMs."""
    outputs: int
    """The labels and the blank."""

    @property
    def window_width(self) -> int:
        """The number of values in a frame with its neighbours."""
        return prod(self.input_shape[2:])


def network_file(file: LiteFile) -> NetworkFile:
    """Return the network alone; raise GraphError if it has anything that speech models do not have."""
    shapes = {}
    for names, there in ((INPUTS, file.inputs), (OUTPUTS, file.outputs)):
        for name in names:
            if name not in there:
                raise GraphError(f"is not a speech model, as it has no {name}")
            tensor = file.tensors[there[name]]
            if tensor.type != schema.TensorType.FLOAT32 or tensor.content is not None:
                raise GraphError(f"is not a speech model, as its {name} is not computed")
            shapes[name] = tensor.shape
    windows, logits = shapes["input_node"], shapes["logits"]
    units = shapes["previous_state_c"][-1:]
    states = {shape for name, shape in shapes.items() if "state" in name}
    if len(windows) != 4 or windows[0] != 1 or len(logits) != 2 or logits[0] != windows[1] or states != {(1, *units)}:
        raise GraphError("is not a speech model in the layout of Coqui STT and DeepSpeech 0.9")
    with damage_is_an_error():
        content = _written(file, _needed(file))
    return NetworkFile(content, windows, units[0], logits[1])


def _needed(file: LiteFile) -> list[Operator]:
    """Return the operators that the outputs need, in the file's order, in which it must be possible to run them."""
    wanted = {file.outputs[name] for name in OUTPUTS}
    needed = []
    for operator in reversed(file.operators):
        if wanted.intersection(operator.outputs):
            needed.append(operator)
            wanted.update(operator.inputs)
    needed.reverse()
    known = {number for number, tensor in enumerate(file.tensors) if tensor.content is not None}
    known |= {ABSENT, *(file.inputs[name] for name in INPUTS)}
    total = 0
    for operator in needed:
        if operator.name not in OPTIONS:
            raise GraphError(f"has the operator {operator.name}, which networks of DeepSpeech do not have")
        if ABSENT in operator.inputs[:2] or (ABSENT in operator.inputs and operator.name != "FULLY_CONNECTED"):
            raise GraphError(f"has an operator {operator.name} that is damaged")
        if not known.issuperset(operator.inputs) or known.intersection(operator.outputs) or not operator.outputs:
            raise GraphError("has operators that cannot run in their order")
        known.update(operator.outputs)
        total += sum(file.tensors[number].bytes for number in operator.outputs)
    if not known.issuperset(wanted):
        raise GraphError("has outputs that nothing computes")
    if total > MOST_UNWRITTEN_BYTES + MOST_EXPANSION * file.size:
        raise GraphError(
            f"computes {total:,} bytes in a run, too many for a file of {file.size:,} bytes (fewer with a smaller "
            "--n_steps)"
        )
    return needed


def _written(file: LiteFile, operators: Sequence[Operator]) -> bytes:
    used = {number for each in operators for number in (*each.inputs, *each.outputs)} - {ABSENT}
    used |= {named[name] for names, named in ((INPUTS, file.inputs), (OUTPUTS, file.outputs)) for name in names}
    places = {number: place for place, number in enumerate(sorted(used))}
    places[ABSENT] = ABSENT
    names = {file.inputs[name]: name for name in INPUTS} | {file.outputs[name]: name for name in OUTPUTS}
    buffers: list[_Buffer] = [_Buffer(b"")]
    tensors = [_tensor(file.tensors[number], names.get(number, ""), buffers) for number in sorted(used)]
    codes = {code: place for place, code in enumerate(dict.fromkeys((each.name, each.version) for each in operators))}
    graph = schema.SubGraphT(
        tensors=tensors,
        inputs=[places[file.inputs[name]] for name in INPUTS],
        outputs=[places[file.outputs[name]] for name in OUTPUTS],
        operators=[_operator(each, codes, places) for each in operators],
    )
    numbers = [(getattr(schema.BuiltinOperator, name), version) for name, version in codes]
    model = schema.ModelT(
        version=_SCHEMA_VERSION,
        operatorCodes=[schema.OperatorCodeT(min(number, 127), None, version, number) for number, version in numbers],
        subgraphs=[graph],
        buffers=buffers,
    )
    builder = flatbuffers.Builder(sum(len(buffer.content) + 64 for buffer in buffers) + (1 << 16))
    builder.Finish(model.Pack(builder), LITERT_IDENTIFIER)
    return bytes(builder.Output())


def _tensor(tensor: Tensor, name: str, buffers: list[_Buffer]) -> Any:
    made = schema.TensorT(list(tensor.shape), tensor.type, name=name)
    if tensor.content is not None:
        made.buffer = len(buffers)
        buffers.append(_Buffer(tensor.content))
    if tensor.scale is not None:
        if len(tensor.scale) not in (1, *tensor.shape[tensor.rows_are : tensor.rows_are + 1]) or tensor.rows_are < 0:
            raise GraphError("has integers of an unknown scale")
        made.quantization = schema.QuantizationParametersT(
            scale=tensor.scale, zeroPoint=tensor.zero_point, quantizedDimension=tensor.rows_are
        )
    return made


def _operator(operator: Operator, codes: Mapping[tuple[str, int], int], places: Mapping[int, int]) -> Any:
    inputs, outputs = ([places[number] for number in numbers] for numbers in (operator.inputs, operator.outputs))
    made = schema.OperatorT(codes[operator.name, operator.version], inputs, outputs)
    kind = OPTIONS[operator.name]
    if kind and operator.options is not None:
        made.builtinOptionsType = getattr(schema.BuiltinOptions, kind)
        if operator.options_type != made.builtinOptionsType:
            raise GraphError(f"has an operator {operator.name} with the settings of another")
        options = getattr(schema, f"{kind}T").InitFromBuf(operator.options.Bytes, operator.options.Pos)
        lists = [value for value in vars(options).values() if value is not None and not isinstance(value, (int, float))]
        if any(len(value) > MOST_DIMENSIONS for value in lists):
            raise GraphError(f"has an operator {operator.name} that is damaged")
        made.builtinOptions = options
    counted = {"SPLIT": "numSplits", "SPLIT_V": "numSplits", "UNPACK": "num"}.get(operator.name)
    if counted and getattr(made.builtinOptions, counted, 0) != len(outputs):
        raise GraphError(f"has an operator {operator.name} that is damaged")
    return made


class _Buffer(schema.BufferT):  # type: ignore[misc] # the schema has no types
    """The content of a constant."""

    def __init__(self, content: bytes | memoryview) -> None:
        super().__init__()
        self.content = content

    def Pack(self, builder: Any) -> Any:  # noqa: N802 - the name in the schema
        """Write the content into a file, and return its place there."""
        place = aligned_bytes(builder, self.content, _ALIGNMENT) if len(self.content) else None
        schema.BufferStart(builder)
        if place is not None:
            schema.BufferAddData(builder, place)
        return schema.BufferEnd(builder)
