"""Weights in blocks of 64 columns, the layout of the kernels; see native_client/acoustic/kernels.h and int8.h."""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from .layer import Array

Number = TypeVar("Number", bound=np.number[Any])

COLUMNS = 64
"""Columns of a block."""

LANES = 16
"""Hidden units in a block, with four gates each."""

QUAD, PAIR = 4, 2
"""Rows whose weights are adjacent in memory, of 8 bits and of bfloat16."""

ROW_BYTES = 64
"""Weights of 8 bits and of bfloat16 are padded with rows, so that each column takes a multiple of these bytes."""

CACHE_LINE = 64
"""The alignment of weights, in bytes: loads that cross two cache lines take twice as long."""

LARGEST_INT16, LARGEST_INT8 = 32767, 127
"""The integers to which the largest weight of a column is rounded."""

Blocks = Sequence[Array]
"""Parts of weights, [rows, groups, columns] each. The groups of the last part may have fewer columns than a block."""


class Int16Weights(NamedTuple):
    """Weights as int16 [blocks, rows, 64]; the value of each is its product with its column's scale."""

    integers: npt.NDArray[np.int16]
    scales: Array


class Int8Weights(NamedTuple):
    """Weights as int8 [blocks, quads, 64, 4], with a scale and an int32 sum for each column."""

    integers: npt.NDArray[np.int8]
    scales: Array
    sums: npt.NDArray[np.int32]


def columns_in_blocks(values: Array) -> Blocks:
    """Return the blocks of values [rows, columns]."""
    return [values[:, None, start : start + COLUMNS] for start in range(0, values.shape[1], COLUMNS)]


def gates_in_blocks(values: Array) -> Blocks:
    """Return the blocks of gates [rows, 4 * units], each with all gates of 16 units."""
    by_gate = values.reshape(len(values), COLUMNS // LANES, -1)
    return [by_gate[:, :, start : start + LANES] for start in range(0, by_gate.shape[2], LANES)]


def float32_weights(blocks: Blocks) -> Array:
    """Return the weights as float32 [blocks, rows, 64]."""
    weights = _aligned((len(blocks), len(blocks[0]), COLUMNS), np.float32)
    for of_block, block in zip(weights, blocks, strict=True):
        of_block[:] = _filled(block)
    return weights


def int16_weights(blocks: Blocks) -> Int16Weights:
    """Round the weights to 16 bits, column by column."""
    weights = _aligned((len(blocks), len(blocks[0]), COLUMNS), np.int16)
    scales = np.empty((len(blocks), COLUMNS), np.float32)
    for number, block in enumerate(blocks):
        weights[number], scales[number] = _rounded(block, LARGEST_INT16)
    return Int16Weights(weights, scales.reshape(-1))


def int8_weights(blocks: Blocks) -> Int8Weights:
    """Round the weights to 8 bits, column by column."""
    rows = len(blocks[0])
    filled = np.zeros((_filled_rows(rows, ROW_BYTES), COLUMNS), np.int8)
    weights = _aligned((len(blocks), len(filled) // QUAD, COLUMNS, QUAD), np.int8)
    scales = np.empty((len(blocks), COLUMNS), np.float32)
    sums = np.empty((len(blocks), COLUMNS), np.int32)
    for number, block in enumerate(blocks):
        filled[:rows], scales[number] = _rounded(block, LARGEST_INT8)
        weights[number] = filled.reshape(-1, QUAD, COLUMNS).swapaxes(1, 2)
        sums[number] = filled.sum(axis=0, dtype=np.int32)
    return Int8Weights(weights, scales.reshape(-1), sums.reshape(-1))


def bfloat16_weights(blocks: Blocks) -> npt.NDArray[np.uint16]:
    """Return the weights rounded to bfloat16, ties to even, as uint16 [blocks, pairs, 64, 2]."""
    rows = len(blocks[0])
    filled = np.zeros((_filled_rows(rows, ROW_BYTES // 2), COLUMNS), np.uint16)
    weights = _aligned((len(blocks), len(filled) // PAIR, COLUMNS, PAIR), np.uint16)
    for number, block in enumerate(blocks):
        bits = _filled(block).view(np.uint32)
        filled[:rows] = (bits + np.uint32(0x7FFF) + (bits >> 16 & np.uint32(1))) >> 16
        weights[number] = filled.reshape(-1, PAIR, COLUMNS).swapaxes(1, 2)
    return weights


def _aligned(shape: tuple[int, ...], number: type[Number]) -> npt.NDArray[Number]:
    """Return an uninitialized array that begins at a cache line."""
    size = math.prod(shape) * np.dtype(number).itemsize
    room = np.empty(size + CACHE_LINE, np.uint8)
    start = -room.ctypes.data % CACHE_LINE
    return room[start : start + size].view(number).reshape(shape)


def _filled_rows(rows: int, multiple: int) -> int:
    return -(-rows // multiple) * multiple


def _rounded(block: Array, largest: int) -> tuple[Array, Array]:
    """Return the integers [rows, 64] to which the weights of a block are rounded, and their scales [64]."""
    values = _filled(block)
    scales = np.maximum(np.abs(values).max(axis=0), np.float32(1e-30)) / np.float32(largest)
    return np.rint(values / scales), scales


def _filled(block: Array) -> Array:
    """Return a block [rows, groups, columns] as [rows, 64], padded with zeros."""
    rows, groups, columns = block.shape
    values = np.zeros((rows, groups, COLUMNS // groups), np.float32)
    values[:, :, :columns] = block
    return values.reshape(rows, COLUMNS)
