"""Reading frozen TensorFlow graphs, `.pb` and memory-mapped `.pbmm`, without TensorFlow: nodes and constants.

Messages: GraphDef, NodeDef, AttrValue, TensorProto, TensorShapeProto and MemmappedFileSystemDirectory of TensorFlow's
`core/framework` and `core/util`; the comments below name the fields.
"""

import mmap
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import chain, islice
from math import prod
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ...errors import GraphError
from .protobuf import FieldBudget, Value, fields, float32, message, number, varints

Array = npt.NDArray[np.generic]

GRAPH_SUFFIXES = (".pb", ".pbmm")
"""The endings of the files of graphs."""

DTYPES: Mapping[int, str] = {1: "<f4", 2: "<f8", 3: "<i4", 9: "<i8"}
"""The types that are read here, by their numbers in TensorFlow; strings have the type STRING."""
STRING = 7

LARGEST_LISTED = 1 << 22
"""The most elements of a constant whose values are listed; larger constants have `tensor_content`."""

LARGEST_SHAPE = 1 << 40
"""The most elements of a constant; dimensions of size 0 count as 1."""

MOST_DIMENSIONS = 8

MAPPED_GRAPH = b"memmapped_package://."


@dataclass(frozen=True)
class Node:
    """A node of a graph; attributes are parsed when they are read."""

    name: str
    op: str
    inputs: tuple[str, ...]
    attributes: Mapping[str, memoryview]
    budget: FieldBudget = field(repr=False, compare=False)
    """The budget of the file."""

    def attribute(self, name: str, kind: int) -> Value | None:
        """Return the value of an attribute, the last of its fields with the number `kind`; None if there is none."""
        found = None
        for number_of_field, value in fields(self.attributes.get(name, memoryview(b"")), self.budget):
            found = value if number_of_field == kind else found
        return found

    def float_attribute(self, name: str, default: float) -> float:
        """Return a float attribute, or the default if the node does not have it."""
        value = self.attribute(name, 4)  # f
        return default if value is None else float32(value)

    @property
    def shape(self) -> tuple[int, ...]:
        """The attribute `shape`, with -1 for unknown dimensions; empty if the node does not have it."""
        value = self.attribute("shape", 7)  # shape
        return () if value is None else _shape(message(value), self.budget)


class Graph:
    """The nodes of a file, and its constants. The file stays mapped as long as arrays of it are in use."""

    def __init__(
        self, nodes: Mapping[str, Node], regions: Mapping[str, memoryview], file: mmap.mmap, file_size: int
    ) -> None:
        self.nodes = nodes
        self.file_size = file_size
        """Bytes."""
        self._regions = regions
        self._file = file

    def release_memory(self) -> None:
        """Release the memory of pages that were read; the system reads them again when they are used."""
        if hasattr(mmap, "MADV_DONTNEED"):
            self._file.madvise(mmap.MADV_DONTNEED)

    def shape_of(self, name: str) -> tuple[int, ...]:
        """Return the shape that a constant node declares, without its values; raise GraphError as `constant` does.

        The shape of strings is not checked against their number.
        """
        node = self._constant_node(name)
        shape = node.shape if node.op == "ImmutableConst" else _tensor(node).shape
        _check_shape(name, shape)
        return shape

    def constant(self, name: str) -> Array:
        """Return the value of a constant node, read-only; strings are an object array [n] of bytes.

        Raise GraphError if the node is missing, is not a constant, or is damaged.
        """
        node = self._constant_node(name)
        return self._mapped_constant(node) if node.op == "ImmutableConst" else _value(name, _tensor(node))

    def _constant_node(self, name: str) -> Node:
        node = self.nodes.get(name)
        if node is None:
            raise GraphError(f"it has no node {name}")
        if node.op not in ("Const", "ImmutableConst"):
            raise GraphError(f"its node {name} is not a constant")
        return node

    def _mapped_constant(self, node: Node) -> Array:
        region, dtype = node.attribute("memory_region_name", 2), node.attribute("dtype", 6)  # s, type
        name = bytes(message(region)).decode("utf-8", "replace") if region is not None else ""
        kind = number(dtype) if dtype is not None else 0
        if name not in self._regions or kind not in DTYPES:
            raise GraphError(f"its constant {node.name} is not in the file")
        return _from_content(node.name, self._regions[name], DTYPES[kind], node.shape)


def mapped_file(path: Path) -> mmap.mmap:
    """Map a file to be read; raise GraphError, without the file's name, if it is empty or cannot be read."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):  # opening a named pipe would wait forever
            raise GraphError("cannot be read (not a file)")
        with path.open("rb") as file:
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except OSError as error:
        raise GraphError(f"cannot be read ({error.strerror})") from error
    except ValueError as error:
        raise GraphError("is empty" if "empty" in str(error) else f"cannot be read ({error})") from None


def read_graph(path: Path) -> Graph:
    """Map the file of a frozen graph; raise GraphError, without the file's name, for any other file."""
    mapped = mapped_file(path)
    data = memoryview(mapped)
    budget = FieldBudget()
    regions = _regions(data, FieldBudget())
    definition = regions.get(MAPPED_GRAPH.decode(), data)
    nodes = {}
    for number_of_field, value in fields(definition, budget):
        if number_of_field == 1:  # node
            node = _node(message(value), budget)
            nodes[node.name] = node
    if not nodes:
        raise GraphError("holds no graph")
    return Graph(nodes, regions, mapped, len(data))


def _regions(data: memoryview, budget: FieldBudget) -> dict[str, memoryview]:
    """Return the named regions of a memory-mapped file, from the directory at its end; none for any other file."""
    end = len(data) - 8
    start = int.from_bytes(data[max(end, 0) :], "little")
    if not 0 < start < end:
        return {}
    regions = {}
    try:
        for number_of_field, element in fields(data[start:end], budget):
            if number_of_field == 1:  # element
                name, region = _region(message(element), data, start, budget)
                regions[name] = region
    except (GraphError, UnicodeDecodeError):
        return {}
    return regions if MAPPED_GRAPH.decode() in regions else {}


def _region(element: memoryview, data: memoryview, end: int, budget: FieldBudget) -> tuple[str, memoryview]:
    """Return the name and the bytes of an element of the directory; the last region stops at `end`."""
    offset, name, length = 0, b"", None
    for part, value in fields(element, budget):
        offset = number(value) if part == 1 else offset
        name = bytes(message(value)) if part == 2 else name
        length = number(value) if part == 3 else length
    return name.decode(), data[offset : end if length is None else offset + length]


def _node(data: memoryview, budget: FieldBudget) -> Node:
    name = op = ""
    inputs, attributes = [], {}
    for number_of_field, value in fields(data, budget):
        if number_of_field == 1:
            name = _text(value)
        elif number_of_field == 2:
            op = _text(value)
        elif number_of_field == 3:
            inputs.append(_text(value))
        elif number_of_field == 5:  # attr, a map
            entry = dict(fields(message(value), budget))
            attributes[_text(entry.get(1, memoryview(b"")))] = message(entry.get(2, memoryview(b"")))
    return Node(name, op, tuple(inputs), attributes, budget)


def _text(value: Value) -> str:
    try:
        return bytes(message(value)).decode()
    except UnicodeDecodeError:
        raise GraphError("is not a graph, as its names are not text") from None


@dataclass
class _Tensor:
    """A TensorProto: its values are not read yet."""

    dtype: int = 0
    shape: tuple[int, ...] = ()
    content: memoryview | None = None
    floats: list[memoryview] = field(default_factory=list)
    integers: list[Value] = field(default_factory=list)
    strings: list[memoryview] = field(default_factory=list)


def _tensor(node: Node) -> _Tensor:
    data, tensor = node.attribute("value", 8), _Tensor()  # tensor
    if data is None:
        raise GraphError(f"its constant {node.name} has no value")
    for number_of_field, value in fields(message(data), node.budget):
        if number_of_field == 1:  # dtype
            tensor.dtype = number(value)
        elif number_of_field == 2:  # tensor_shape
            tensor.shape = _shape(message(value), node.budget)
        elif number_of_field == 4:  # tensor_content
            tensor.content = message(value)
        elif number_of_field == 5:  # float_val
            tensor.floats.append(message(value))
        elif number_of_field in (7, 10):  # int_val, int64_val
            tensor.integers.append(value)
        elif number_of_field == 8:  # string_val
            tensor.strings.append(message(value))
    return tensor


def _shape(data: memoryview, budget: FieldBudget) -> tuple[int, ...]:
    sizes = []
    for number_of_field, dimension in fields(data, budget):
        if number_of_field == 2:  # dim
            of_dimension = fields(message(dimension), budget)
            sizes.append(next((number(value) for part, value in of_dimension if part == 1), 0))
    return tuple(sizes)


def _check_shape(name: str, shape: tuple[int, ...]) -> None:
    if (
        len(shape) > MOST_DIMENSIONS
        or min(shape, default=0) < 0
        or prod(max(1, size) for size in shape) > LARGEST_SHAPE
    ):
        raise GraphError(f"its constant {name} has an impossible shape")


def _value(name: str, tensor: _Tensor) -> Array:
    if tensor.dtype == STRING:
        return np.array([*map(bytes, tensor.strings), None], dtype=object)[:-1]
    if tensor.dtype not in DTYPES:
        raise GraphError(f"its constant {name} has a type that is not supported")
    dtype, shape = DTYPES[tensor.dtype], tensor.shape
    if tensor.content is not None:
        return _from_content(name, tensor.content, dtype, shape)
    _check_shape(name, shape)
    count = prod(shape)
    if count > LARGEST_LISTED:
        raise GraphError(f"its constant {name} has an impossible shape")
    listed = _listed(name, tensor, count)
    if not len(listed):
        return np.zeros(shape, dtype)
    # Omitted values are equal to the last one that is listed.
    filled = np.concatenate([listed[:count], np.repeat(listed[-1:], max(0, count - len(listed)))])
    return filled.astype(dtype).reshape(shape)


def _listed(name: str, tensor: _Tensor, count: int) -> Array:
    """Return the values that are listed; of integers, at most `count`."""
    if tensor.floats:
        values = b"".join(tensor.floats)
        if len(values) % 4:
            raise GraphError(f"its constant {name} is truncated")
        return np.frombuffer(values, "<f4")
    each = chain.from_iterable([value] if isinstance(value, int) else varints(value) for value in tensor.integers)
    return np.array(list(islice(each, count)), "<u8").astype("<i8")


def _from_content(name: str, content: memoryview, dtype: str, shape: tuple[int, ...]) -> Array:
    _check_shape(name, shape)
    wanted = prod(shape) * np.dtype(dtype).itemsize
    if len(content) < wanted:
        raise GraphError(f"its constant {name} is truncated")
    return np.frombuffer(content[:wanted], dtype).reshape(shape)
