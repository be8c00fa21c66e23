"""Weights in HDF5, in the layouts of Keras. This module needs no TensorFlow.

It writes the layout with names: the attribute `layer_names` of the file lists groups, the attribute `weight_names` of
each group lists the datasets in it. A further dataset, `deepspeech_description`, which Keras ignores, describes the
model as JSON. It also reads a whole Keras model in that layout, whose groups are in `model_weights`, and the layout of
Keras 3, where groups `vars` hold numbered datasets.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator, Mapping, Sequence
from io import BytesIO
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import numpy.typing as npt

from ...errors import CheckpointError
from ...util.files.whole_files import write_whole
from ...util.files.writable import reason_of
from .model_weights import LayerWeights

DESCRIPTION = "deepspeech_description"
_OF_TRAINING = ("optimizer", "optimizer_weights", "metrics")
"""Groups that hold no weights of a model."""
_BFLOAT16 = np.dtype("V2")
"""The type of bfloat16 in HDF5, which has no such type."""
_LARGEST_COMPRESSION = 1100
"""No dataset is larger than its file by this factor: DEFLATE, which Keras may use, reaches 1,032."""
_HEAP = b"GCOL\x01\0\0\0"
"""The beginning of a heap, where HDF5 stores the texts of attributes."""
_HEADER = 16
"""The bytes of a heap before its first object, and of an object before its content."""


def read_hdf5(path: Path, origin: str | None = None) -> tuple[tuple[LayerWeights, ...], Mapping[str, Any]]:
    """Return the layers that have weights, and the description of their model, which is empty if there is none.

    Values of an optimizer and of metrics are skipped, and 16-bit values are converted to float32. Raise CheckpointError
    for a file that does not hold weights, is damaged, or refers to other files; the error names the file `origin`, by
    default its path.
    """
    origin = origin or str(path)
    try:
        with h5py.File(path, "r") as file:
            _check_heaps(path)
            layers = tuple(layer for layer in _layers(file) if layer.weights)
            description = _description(file)
    except FileNotFoundError:
        raise CheckpointError(f"{origin}: there is no such file") from None
    except (OSError, RuntimeError, KeyError, TypeError, ValueError, AttributeError) as error:
        raise CheckpointError(
            f"{origin}: is not an HDF5 file of weights, or it is damaged ({' '.join(str(error).split())})"
        ) from error
    if not layers:
        raise CheckpointError(f"{origin}: holds no weights in a layout of Keras")
    return layers, description


def write_hdf5(path: Path, layers: Sequence[LayerWeights], description: Mapping[str, Any]) -> None:
    """Write the file, whole or not at all; raise CheckpointError."""
    if not path.parent.is_dir():
        raise CheckpointError(
            f"{path}: cannot be written, as there is no folder {path.parent}; make it, or name another file"
        )
    try:
        content = BytesIO()  # in memory, as the library's errors do not identify a full disk
        with h5py.File(content, "w") as file:
            _write(file, layers, description)
        write_whole(path, content.getvalue())
    except (OSError, RuntimeError, ValueError) as error:
        raise CheckpointError(f"{path}: cannot be written ({reason_of(error)}); nothing was changed") from error


def _write(file: Any, layers: Sequence[LayerWeights], description: Mapping[str, Any]) -> None:
    file.attrs["backend"] = "tensorflow"
    _write_names(file, "layer_names", [layer.name for layer in layers])
    for layer in layers:
        group = file.require_group(layer.name)
        _write_names(group, "weight_names", list(layer.weights))
        for name, values in layer.weights.items():
            group.create_dataset(name, data=values)
    if description:
        file[DESCRIPTION] = json.dumps(description, ensure_ascii=False)


def _write_names(group: Any, attribute: str, names: Sequence[str]) -> None:
    group.attrs.create(attribute, names, dtype=h5py.string_dtype())


def _check_heaps(path: Path) -> None:
    """Raise ValueError for a heap in which the library would read the same object again and again."""
    with path.open("rb") as file, mmap(file.fileno(), 0, access=ACCESS_READ) as content:
        heap = content.find(_HEAP)
        while heap >= 0:
            end = min(heap + int.from_bytes(content[heap + 8 : heap + _HEADER], "little"), len(content))
            place = heap + _HEADER
            while place + _HEADER <= end:
                index, size = struct.unpack_from("<H6xQ", content, place)
                step = (_HEADER + size + -size % 8 if index else size) % (1 << 64)  # object 0 is what is free
                if not step:
                    raise ValueError(f"the texts at byte {place} are damaged")
                place += step
            heap = content.find(_HEAP, heap + 1)


def _layers(file: Any) -> Iterator[LayerWeights]:
    root = _inside(file, "model_weights") if "model_weights" in file else file
    if "layer_names" in root.attrs or "layer_names0" in root.attrs:
        for name in dict.fromkeys(_names(root, "layer_names")):
            group = _inside(root, name)
            yield LayerWeights(name, {each: _values(group, each) for each in _names(group, "weight_names")})
    else:
        yield from _numbered(file, "", set())


def _numbered(group: Any, place: str, taken: set[str]) -> Iterator[LayerWeights]:
    """Yield the layers of Keras 3's layout in a group, with their users' names after those of the layers around them.

    If a name is `taken`, as two lists of layers may hold the same name, the layer is named after its path in the file.
    """
    for name in group:
        if name in _OF_TRAINING or group.get(name, getclass=True) is not h5py.Group:
            continue
        below = _inside(group, name)
        if name == "vars":
            named = place or str(below.attrs.get("name", name))
            own = below.name.strip("/") if named in taken else named
            taken.add(own)
            yield LayerWeights(own, {f"{own}/{each}": _values(below, each) for each in sorted(below, key=_number)})
        elif "vars" in below:
            own = str(_inside(below, "vars").attrs.get("name", name))
            yield from _numbered(below, f"{place}/{own}" if place else own, taken)
        else:
            yield from _numbered(below, place, taken)


def _number(name: str) -> int:
    return int(name) if name.isdecimal() else -1


def _names(group: Any, attribute: str) -> list[str]:
    """Return the names in an attribute; Keras splits long lists into numbered attributes."""
    found = [attribute] if attribute in group.attrs else []
    while f"{attribute}{len(found)}" in group.attrs and found[:1] != [attribute]:
        found.append(f"{attribute}{len(found)}")
    if not found:
        raise ValueError(f"{group.name} lacks the attribute {attribute}")
    names = [each for part in found for each in np.atleast_1d(group.attrs[part])]
    return [name.decode() if isinstance(name, bytes) else str(name) for name in names]


def _inside(group: Any, name: str) -> Any:
    """Return a member of a group; raise ValueError if it is missing, or is in another file."""
    try:
        found = group[name]
    except KeyError as error:
        raise ValueError(f"{group.name.rstrip('/')}/{name}: {error.args[0]}") from None
    if found.file.filename != group.file.filename:
        raise ValueError(f"{name} is in another file")
    return found


def _values(group: Any, name: str) -> npt.NDArray[Any]:
    dataset = _inside(group, name)
    if not isinstance(dataset, h5py.Dataset) or dataset.shape is None or not _of_numbers(dataset.dtype):
        raise ValueError(f"{dataset.name} is not an array of real numbers")
    if dataset.external or dataset.is_virtual:
        raise ValueError(f"{dataset.name} is in another file")
    if dataset.nbytes > _LARGEST_COMPRESSION * Path(dataset.file.filename).stat().st_size:
        raise ValueError(f"{dataset.name} is larger than its file can hold")
    values = np.asarray(dataset[()])
    if values.dtype == _BFLOAT16:  # the upper half of a float32
        return (values.view(np.uint16).astype(np.uint32) << 16).view(np.float32)
    if np.issubdtype(values.dtype, np.floating) and values.itemsize <= np.dtype(np.float32).itemsize:
        return values.astype(np.float32, copy=False)  # of 16 bits, or with the other order of bytes
    return values


def _of_numbers(kind: np.dtype[Any]) -> bool:
    return kind == _BFLOAT16 or any(np.issubdtype(kind, each) for each in (np.integer, np.floating, np.bool_))


def _description(file: Any) -> Mapping[str, Any]:
    if DESCRIPTION not in file:
        return {}
    text = _inside(file, DESCRIPTION)[()]
    description = json.loads(text.decode() if isinstance(text, bytes) else text)
    if not isinstance(description, dict):
        raise ValueError(f"{DESCRIPTION} is not a JSON object")
    return description
