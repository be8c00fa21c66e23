"""Reading frozen TensorFlow graphs, `.pb` and memory-mapped `.pbmm`, without TensorFlow: nodes and constants.

Messages: GraphDef, NodeDef, AttrValue, TensorProto, TensorShapeProto and MemmappedFileSystemDirectory of TensorFlow's
`core/framework` and `core/util`; the comments below give the field numbers' names.
"""

import mmap
from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ...errors import GraphError
from .protobuf import Value, fields, float32, message, number, varints

Array = npt.NDArray[np.generic]

DTYPES: Mapping[int, str] = {1: "<f4", 2: "<f8", 3: "<i4", 9: "<i8"}
"""The types that are read here, by TensorFlow's numbers; strings are STRING."""
STRING = 7

LARGEST_LISTED = 1 << 26
"""The largest number of elements of a constant whose values are listed; larger ones have `tensor_content`."""

MAPPED_GRAPH = b"memmapped_package://."


@dataclass(frozen=True)
class Node:
    """A node of a graph; attributes are parsed when they are read."""

    name: str
    op: str
    inputs: tuple[str, ...]
    attributes: Mapping[str, memoryview]

    def float_attribute(self, name: str, default: float) -> float:
        """Return an attribute that is a float, or the default if the node does not have it."""
        for field, value in fields(self.attributes.get(name, memoryview(b""))):
            if field == 4:  # f
                return float32(value)
        return default

    @property
    def shape(self) -> tuple[int, ...]:
        """The attribute `shape`, with -1 for dimensions that are not known; empty if the node does not have it."""
        for field, value in fields(self.attributes.get("shape", memoryview(b""))):
            if field == 7:  # shape
                return _shape(message(value))
        return ()


class Graph:
    """The nodes of a file, and its constants. The file stays mapped as long as arrays of it are in use."""

    def __init__(self, nodes: Mapping[str, Node], regions: Mapping[str, memoryview], file: mmap.mmap) -> None:
        self.nodes = nodes
        self._regions = regions
        self._file = file

    def release_memory(self) -> None:
        """Give the memory of what was read back to the system, which reads it again when it is used again."""
        if hasattr(mmap, "MADV_DONTNEED"):
            self._file.madvise(mmap.MADV_DONTNEED)

    def constant(self, name: str) -> Array:
        """Return the value of a constant node, read-only; strings are an object array [n] of bytes.

        Raise GraphError if the node is missing, is not a constant, or is damaged.
        """
        node = self.nodes.get(name)
        if node is None:
            raise GraphError(f"it has no node {name}")
        if node.op == "ImmutableConst":
            return self._mapped_constant(node)
        if node.op != "Const":
            raise GraphError(f"its node {name} is not a constant")
        for field, value in fields(node.attributes.get("value", memoryview(b""))):
            if field == 8:  # tensor
                return _tensor(name, message(value))
        raise GraphError(f"its constant {name} has no value")

    def _mapped_constant(self, node: Node) -> Array:
        region, dtype = b"", 0
        for field, value in fields(node.attributes.get("memory_region_name", memoryview(b""))):
            region = bytes(message(value)) if field == 2 else region  # s
        for field, value in fields(node.attributes.get("dtype", memoryview(b""))):
            dtype = number(value) if field == 6 else dtype  # type
        name = region.decode("utf-8", "replace")
        if name not in self._regions or dtype not in DTYPES:
            raise GraphError(f"its constant {node.name} is not in the file")
        return _from_content(node.name, self._regions[name], DTYPES[dtype], node.shape)


def read_graph(path: Path) -> Graph:
    """Map the file of a frozen graph; raise GraphError, without the file's name, for any other file."""
    try:
        with path.open("rb") as file:
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except OSError as error:
        raise GraphError(f"cannot be read ({error.strerror})") from error
    except ValueError:
        raise GraphError("is empty") from None
    data = memoryview(mapped)
    regions = _regions(data)
    definition = regions.get(MAPPED_GRAPH.decode(), data)
    nodes = {}
    for field, value in fields(definition):
        if field == 1:  # node
            node = _node(message(value))
            nodes[node.name] = node
    if not nodes:
        raise GraphError("holds no graph")
    return Graph(nodes, regions, mapped)


def _regions(data: memoryview) -> dict[str, memoryview]:
    """Return the named parts of a memory-mapped file, whose directory is at its end; none for any other file."""
    end = len(data) - 8
    start = int.from_bytes(data[max(end, 0) :], "little")
    if not 0 < start < end:
        return {}
    regions = {}
    try:
        for field, element in fields(data[start:end]):
            if field == 1:  # element
                offset, name, length = 0, b"", None
                for part, value in fields(message(element)):
                    offset = number(value) if part == 1 else offset
                    name = bytes(message(value)) if part == 2 else name
                    length = number(value) if part == 3 else length
                stop = start if length is None else offset + length
                regions[name.decode()] = data[offset:stop]
    except (GraphError, UnicodeDecodeError):
        return {}
    return regions if MAPPED_GRAPH.decode() in regions else {}


def _node(data: memoryview) -> Node:
    name = op = ""
    inputs, attributes = [], {}
    for field, value in fields(data):
        if field == 1:
            name = _text(value)
        elif field == 2:
            op = _text(value)
        elif field == 3:
            inputs.append(_text(value))
        elif field == 5:  # attr, a map
            entry = dict(fields(message(value)))
            attributes[_text(entry.get(1, memoryview(b"")))] = message(entry.get(2, memoryview(b"")))
    return Node(name, op, tuple(inputs), attributes)


def _text(value: Value) -> str:
    try:
        return bytes(message(value)).decode()
    except UnicodeDecodeError:
        raise GraphError("is not a graph, as its names are not text") from None


def _shape(data: memoryview) -> tuple[int, ...]:
    sizes = []
    for field, dimension in fields(data):
        if field == 2:  # dim
            sizes.append(next((number(value) for part, value in fields(message(dimension)) if part == 1), 0))
    return tuple(sizes)


def _tensor(name: str, data: memoryview) -> Array:
    dtype, content = 0, None
    shape: tuple[int, ...] = ()
    floats: list[memoryview] = []
    integers: list[int] = []
    strings: list[bytes] = []
    for field, value in fields(data):
        if field == 1:  # dtype
            dtype = number(value)
        elif field == 2:  # tensor_shape
            shape = _shape(message(value))
        elif field == 4:  # tensor_content
            content = message(value)
        elif field == 5:  # float_val
            floats.append(message(value))
        elif field in (7, 10):  # int_val, int64_val
            integers += [value] if isinstance(value, int) else varints(value)
        elif field == 8:  # string_val
            strings.append(bytes(message(value)))
    if dtype == STRING:
        return np.array([*strings, None], dtype=object)[:-1]
    if dtype not in DTYPES:
        raise GraphError(f"its constant {name} has a type that is not supported")
    if content is not None:
        return _from_content(name, content, DTYPES[dtype], shape)
    count = prod(shape)
    if not 0 <= count <= LARGEST_LISTED:
        raise GraphError(f"its constant {name} has an impossible shape")
    listed = np.frombuffer(b"".join(floats), "<f4") if floats else np.array(integers, "<u8").astype("<i8")
    if not len(listed):
        return np.zeros(shape, DTYPES[dtype])
    # Values that are left out are equal to the last one.
    filled = np.concatenate([listed[:count], np.repeat(listed[-1:], max(0, count - len(listed)))])
    return filled.astype(DTYPES[dtype]).reshape(shape)


def _from_content(name: str, content: memoryview, dtype: str, shape: tuple[int, ...]) -> Array:
    wanted = prod(shape) * np.dtype(dtype).itemsize
    if min(shape, default=0) < 0 or len(content) < wanted:
        raise GraphError(f"its constant {name} is truncated")
    return np.frombuffer(content[:wanted], dtype).reshape(shape)
