"""The comparison of two models: which weights differ, and by how much."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from .model_weights import ModelWeights


def differences(one: ModelWeights, other: ModelWeights) -> Iterator[str]:
    """Yield a line if the labels differ, then one for each weight that is not the same in both, bit for bit."""
    if one.labels is not None and other.labels is not None and one.labels != other.labels:
        ours, theirs = set(one.labels), set(other.labels)
        told = "the same, in another order" if ours == theirs else f"of which both have {len(ours & theirs)}"
        yield f"labels: {len(one.labels)} | {len(other.labels)}, {told}"
    for name in dict.fromkeys((*one.values, *other.values)):
        if name not in other.values:
            yield f"{name}: {one.values[name].shape} | absent"
        elif name not in one.values:
            yield f"{name}: absent | {other.values[name].shape}"
        else:
            difference = _difference(one.values[name], other.values[name])
            if difference:
                yield f"{name}: {difference}"


def _difference(one: npt.NDArray[Any], other: npt.NDArray[Any]) -> str:
    if (one.shape, one.dtype) != (other.shape, other.dtype):
        return f"{one.dtype} {one.shape} | {other.dtype} {other.shape}"
    if one.tobytes() == other.tobytes():
        return ""
    differ = (_bytes(one) != _bytes(other)).any(axis=1)
    with np.errstate(all="ignore"):
        apart = np.abs(one.astype(np.float64) - other.astype(np.float64)).reshape(-1)
    apart[~differ] = 0
    known = apart[~np.isnan(apart)]
    told = f"{np.count_nonzero(differ):,} of {one.size:,} differ"
    if known.size < one.size:
        told += f", {one.size - known.size:,} of them by NaN"
    if known.any() or known.size == one.size:
        told += f", by {known.max():.4g} at most, {known.mean():.4g} on average"
    return told


def _bytes(values: npt.NDArray[Any]) -> npt.NDArray[np.uint8]:
    """Return the bytes of each value, [values, bytes]."""
    return np.frombuffer(values.tobytes(), np.uint8).reshape(values.size, values.itemsize)
