"""Reading protocol buffers without their library: fields by number, directly from the bytes.

Encoding: https://protobuf.dev/programming-guides/encoding/. This module has only what TensorFlow's graphs need.
"""

import struct
from collections.abc import Iterator

from ...errors import GraphError

VARINT, FIXED_64, LENGTH_DELIMITED, FIXED_32 = 0, 1, 2, 5

MOST_FIELDS = 1 << 18
"""The most fields that are read of a file; the largest graphs of speech models have some thousands."""

Value = int | memoryview
"""A varint as an unsigned number, anything else as its bytes."""


class FieldBudget:
    """The number of fields of a file that may still be read, which bounds the time and memory that it can take."""

    def __init__(self) -> None:
        self._left = MOST_FIELDS

    def spend(self) -> None:
        """Count one more field; raise GraphError if the budget is spent."""
        self._left -= 1
        if self._left < 0:
            raise GraphError("is not a speech model, as it has too many fields")


def fields(message: memoryview, budget: FieldBudget) -> Iterator[tuple[int, Value]]:
    """Yield each field's number and value, in the message's order.

    Raise GraphError if the bytes are not a message, or if the budget of their file is spent.
    """
    position, end = 0, len(message)
    while position < end:
        budget.spend()
        key, position = _varint(message, position)
        number, wire_type = key >> 3, key & 7
        if not number:
            raise GraphError("not a protocol buffer")
        if wire_type == VARINT:
            value, position = _varint(message, position)
            yield number, value
            continue
        if wire_type == LENGTH_DELIMITED:
            length, position = _varint(message, position)
        elif wire_type in (FIXED_32, FIXED_64):
            length = 4 if wire_type == FIXED_32 else 8
        else:
            raise GraphError("not a protocol buffer")
        if length > end - position:
            raise GraphError("not a protocol buffer, or a truncated one")
        yield number, message[position : position + length]
        position += length


def varints(packed: memoryview) -> Iterator[int]:
    """Yield the unsigned numbers of a packed field."""
    position = 0
    while position < len(packed):
        value, position = _varint(packed, position)
        yield value


def message(value: Value) -> memoryview:
    """Return the bytes of a length-delimited field; raise GraphError for any other field."""
    if isinstance(value, int):
        raise GraphError("not a protocol buffer of the expected kind")
    return value


def number(value: Value) -> int:
    """Return the signed value, of 64 bits in two's complement, of a varint field; raise GraphError for any other."""
    if not isinstance(value, int):
        raise GraphError("not a protocol buffer of the expected kind")
    return value - (1 << 64) if value >> 63 else value


def float32(value: Value) -> float:
    """Return the value of a float field; raise GraphError for any other field."""
    data = message(value)
    if len(data) != 4:
        raise GraphError("not a protocol buffer of the expected kind")
    (decoded,) = struct.unpack("<f", data)
    return float(decoded)


def _varint(data: memoryview, position: int) -> tuple[int, int]:
    value = shift = 0
    while position < len(data) and shift < 64:
        byte = data[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & 0xFFFF_FFFF_FFFF_FFFF, position
        shift += 7
    raise GraphError("not a protocol buffer, or a truncated one")
