"""The construction of a graph of ONNX operators."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from onnx import TensorProto, helper, numpy_helper

from .states import States

LAST = np.iinfo(np.int64).max
"""The end of a slice that has no end."""


@dataclass(frozen=True)
class Rows:
    """The outputs of a layer, or of a front end.

    `values` names a float32 [rows, batch, width]. `lengths` names an int32 [batch], the number of rows of each
    utterance. `advance` names an int64 [1]: the next run of a stream begins after this number of rows. The rows from
    there on, at least `overlap`, are for layers that depend on later rows.
    """

    values: str
    width: int
    lengths: str
    advance: str
    overlap: int = 0


class Graph:
    """The operators and the constants of a model. A value has the name of the operator that computes it."""

    def __init__(self, weights: Mapping[str, npt.NDArray[np.float32]], states: States | None) -> None:
        """Store the weights, and the states between two runs; None for a graph of whole recordings."""
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self.weights = weights
        self.states = states
        self._numbers: dict[tuple[str, bytes], str] = {}

    def add(self, operator: str, inputs: Sequence[str], output: str = "", **attributes: Any) -> str:
        """Add an operator, and return the name of its only output."""
        output = output or f"{operator}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, list(inputs), [output], name=output, **attributes))
        return output

    def add_several(self, operator: str, inputs: Sequence[str], outputs: int, **attributes: Any) -> list[str]:
        """Add an operator, and return the names of its outputs."""
        name = f"{operator}_{len(self.nodes)}"
        names = [f"{name}/{number}" for number in range(outputs)]
        self.nodes.append(helper.make_node(operator, list(inputs), names, name=name, **attributes))
        return names

    def constant(self, name: str, values: npt.NDArray[Any]) -> str:
        """Add a constant, and return its name."""
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(values), name))
        return name

    def integers(self, *values: int) -> str:
        """Return the name of a constant int64 [values]."""
        return self._number(np.array(values, np.int64))

    def integer(self, value: int) -> str:
        """Return the name of a constant int64 []."""
        return self._number(np.array(value, np.int64))

    def number(self, value: float) -> str:
        """Return the name of a constant float32 []."""
        return self._number(np.array(value, np.float32))

    def size(self, values: str, axis: int) -> str:
        """Return the size of one of a value's dimensions, int64 [1]."""
        return self.add("Gather", [self.add("Shape", [values]), self.integers(axis)], axis=0)

    def range(self, start: str, end: str) -> str:
        """Return the integers from `start` to before `end`, both int64 [1], as int64 [end - start]."""
        ends = [self.add("Squeeze", [each], axes=[0]) for each in (start, end)]
        return self.add("Range", [*ends, self.integer(1)])

    def minimum(self, one: str, other: str) -> str:
        """Return the smaller of integers; opset 11 has no operator for this."""
        return self.add("Where", [self.add("Less", [one, other]), one, other])

    def maximum(self, one: str, other: str) -> str:
        """Return the larger of integers."""
        return self.add("Where", [self.add("Less", [one, other]), other, one])

    def whole(self, values: str) -> str:
        """Return integers of any width as int64."""
        return self.add("Cast", [values], to=TensorProto.INT64)

    def part(self, values: str, start: str, end: str, axis: int = 0) -> str:
        """Return the part of a value from `start` to `end`, both int64 [1], along an axis."""
        return self.add("Slice", [values, start, end, self.integers(axis)])

    def at_least_one(self, values: str, axis: int, axes: int) -> str:
        """Return values of some axes, with one 0 along an axis that has none."""
        missing = self.maximum(self.add("Sub", [self.integers(1), self.size(values, axis)]), self.integers(0))
        places = [self.integers(0)] * 2 * axes
        places[axes + axis] = missing
        return self.add("Pad", [values, self.add("Concat", places, axis=0)])

    def after_those_before(self, owner: str, values: str, count: int, width: int, advance: str) -> str:
        """Return rows [rows, batch, width] after the last `count` rows of the previous run, zeros in the first run."""
        assert self.states
        previous = self.states.previous(owner, (count, width))
        joined = self.add("Concat", [self.add("Transpose", [previous], perm=[1, 0, 2]), values], axis=0)
        kept = self.part(joined, advance, self.add("Add", [advance, self.integers(count)]))
        self.states.add_new(previous, self.add("Transpose", [kept], perm=[1, 0, 2]))
        return joined

    def masked(self, rows: Rows) -> str:
        """Return the values with zeros after each utterance's end."""
        return self.add("Mul", [rows.values, self.mask(rows)])

    def mask(self, rows: Rows) -> str:
        """Return 1 where an utterance has a row and 0 after its end, float32 [rows, batch, 1]."""
        places = self.add("Unsqueeze", [self.range(self.integers(0), self.size(rows.values, 0))], axes=[1, 2])
        lengths = self.add("Unsqueeze", [self.whole(rows.lengths)], axes=[0, 2])
        return self.add("Cast", [self.add("Less", [places, lengths])], to=TensorProto.FLOAT)

    def rows_of(self, values: str, width: int, rows: Rows, stride: int = 1) -> Rows:
        """Return a layer's outputs as rows; every `stride` input rows make one."""
        lengths, advance = self.whole(rows.lengths), rows.advance
        if stride > 1:
            lengths = self.add("Div", [self.add("Add", [lengths, self.integers(stride - 1)]), self.integers(stride)])
            advance = self.add("Div", [advance, self.integers(stride)])
        shortened = self.minimum(lengths, self.size(values, 0))
        return Rows(values, width, self.add("Cast", [shortened], to=TensorProto.INT32), advance)

    def _number(self, values: npt.NDArray[Any]) -> str:
        key = f"{values.dtype}{values.shape}", values.tobytes()
        if key not in self._numbers:
            self._numbers[key] = self.constant(f"constant_{len(self._numbers)}", values)
        return self._numbers[key]
