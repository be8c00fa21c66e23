"""Adding a constant to the file of a frozen graph without TensorFlow.

Messages: GraphDef, NodeDef, AttrValue and TensorProto of TensorFlow's `core/framework`; the comments name the fields.
"""

from __future__ import annotations

from ...errors import GraphError
from .graph import MAPPED_GRAPH, STRING
from .protobuf import LENGTH_DELIMITED, VARINT, FieldBudget, fields, message

LARGEST_DIRECTORY = 1 << 16
"""The bytes at the end of a memory-mapped graph that are searched for its directory."""


def with_text(graph: bytes, name: str, text: bytes) -> bytes:
    """Return the bytes of a graph with a text constant added, in place of an existing one of this name.

    Raise GraphError for a memory-mapped graph, to which nothing can be added, and for bytes that are not a graph.
    """
    if MAPPED_GRAPH in graph[-LARGEST_DIRECTORY:]:
        raise GraphError("is memory-mapped, so that nothing can be added to it; give the .pb file it was made from")
    kept, budget = [], FieldBudget()
    for field, value in fields(memoryview(graph), budget):
        if field != 1 or _name_of_node(message(value), budget) != name.encode():  # node
            kept.append(_number(field, value) if isinstance(value, int) else _bytes(field, bytes(value)))
    return b"".join([*kept, _bytes(1, _text_node(name, text))])


def _name_of_node(node: memoryview, budget: FieldBudget) -> bytes:
    return next((bytes(message(value)) for field, value in fields(node, budget) if field == 1), b"")  # name


def _text_node(name: str, text: bytes) -> bytes:
    shape = _bytes(2, _number(1, 1))  # dim, size
    tensor = _number(1, STRING) + _bytes(2, shape) + _bytes(8, text)  # dtype, tensor_shape, string_val
    attributes = {b"dtype": _number(6, STRING), b"value": _bytes(8, tensor)}  # type, tensor
    entries = (_bytes(5, _bytes(1, key) + _bytes(2, value)) for key, value in attributes.items())  # attr
    return _bytes(1, name.encode()) + _bytes(2, b"Const") + b"".join(entries)  # name, op


def _bytes(field: int, value: bytes) -> bytes:
    return _varint(field << 3 | LENGTH_DELIMITED) + _varint(len(value)) + value


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3 | VARINT) + _varint(value)


def _varint(value: int) -> bytes:
    encoded = bytearray()
    while value > 0x7F:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*encoded, value])
