"""Graphs for tests: read with TensorFlow, changed, and written again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import tensorflow as tf

GraphDef = Any
Edit = Callable[[Any], None]
"""Changes the node that it is given."""


def definition_of(path: Path) -> GraphDef:
    return tf.compat.v1.GraphDef.FromString(path.read_bytes())


def write(path: Path, definition: GraphDef) -> Path:
    path.write_bytes(definition.SerializeToString())
    return path


def edited(definition: GraphDef, **edits: Edit) -> GraphDef:
    """Return the definition with the nodes of these names changed; `__` stands for `/` in a name."""
    for name, edit in edits.items():
        (node,) = (node for node in definition.node if node.name == name.replace("__", "/"))
        edit(node)
    return definition


def value(content: Any, dtype: Any = None) -> Edit:
    """Return an edit that gives a constant another value."""
    return lambda node: node.attr["value"].tensor.CopyFrom(tf.make_tensor_proto(content, dtype))


def repeated(number: float, shape: list[int]) -> Edit:
    """Return an edit that makes a constant of this shape, with its only number written once."""

    def edit(node: Any) -> None:
        tensor = tf.make_tensor_proto(number, tf.float32)
        for size in shape:
            tensor.tensor_shape.dim.add(size=size)
        node.attr["value"].tensor.CopyFrom(tensor)

    return edit


def length_delimited(field: int, data: bytes) -> bytes:
    length, encoded = len(data), b""
    while length > 0x7F:
        encoded += bytes([length & 0x7F | 0x80])
        length >>= 7
    return bytes([field << 3 | 2]) + encoded + bytes([length]) + data


def varint(field: int, value: int) -> bytes:
    encoded = b""
    while value > 0x7F:
        encoded += bytes([value & 0x7F | 0x80])
        value >>= 7
    return bytes([field << 3]) + encoded + bytes([value])
