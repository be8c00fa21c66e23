"""Networks by name."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import fields
from functools import cache
from importlib import import_module
from numbers import Real
from pathlib import Path

from ..errors import NetworkError
from ..options import ModelOptions
from ..options.model import PROVIDED
from ..util.files.python_files import errors_of_code, load_python_file
from .description import Layer, Network, Sizes
from .serialization import LAYERS

VARIABLE_SCOPE = re.compile(r"[A-Za-z0-9.][A-Za-z0-9_.\-/]*")
"""The pattern of layers' names, which TensorFlow uses in the names of their variables."""

LayersOf = Callable[[Sizes], tuple[Layer, ...]]

_registered: dict[str, LayersOf] = {}


def register(name: str) -> Callable[[LayersOf], LayersOf]:
    """Return a decorator that registers a function of layers as the network of this name.

    Raise NetworkError for a name that this package's networks have.
    """
    if name in PROVIDED:
        raise NetworkError(f"there is a network {name!r} already; choose another name")

    def registered(layers: LayersOf) -> LayersOf:
        _registered[name] = layers
        return layers

    return registered


def names() -> tuple[str, ...]:
    """Return the names of all networks."""
    return (*PROVIDED, *_registered)


def flag_of(name: str) -> str:
    """Return the value of the flag `network` that chooses the network of a name; a user's file is called FILE.py."""
    return name if name in PROVIDED else f"FILE.py:{name}"


def network(options: ModelOptions, coefficients: int, label_count: int, step_ms: int = 20) -> Network:
    """Return the network that the options name, for frames of `coefficients` features and `label_count` labels.

    Frames are `step_ms` apart, which decides how many frames a network reduces to a row of logits. Raise NetworkError
    if no network has that name, if its function fails, or if the layers that it returns do not fit together.
    """
    sizes = Sizes(
        coefficients=coefficients,
        outputs=label_count + 1,
        n_hidden=options.n_hidden,
        relu_clip=options.relu_clip,
        context=options.context,
        dropout_rates=options.dropout_rates,
        settings=options.settings,
        step_ms=step_ms,
    )
    name = options.network.rpartition(":")[2]
    layers = _layers_made(options.network, _layers_of(options.network), sizes)
    with errors_of_code(f"--network={options.network}", NetworkError):
        return Network(name, coefficients, layers)


def _layers_of(text: str) -> LayersOf:
    file, colon, name = text.rpartition(":")
    if colon:
        load_python_file(Path(file), f"--network={text}")
    if name in _registered:
        return _registered[name]
    if name in PROVIDED and not colon:
        return _module_layers(name)
    known = f"there is no such network; there are {', '.join(names())}"
    if colon:
        known += f"; the decorator @register({name!r}) makes a function of {file} a network"
    elif text.endswith(".py"):
        known += f"; for a network in a file give --network={text}:NAME"
    raise NetworkError(f"--network={text}: {known}")


def _layers_made(text: str, layers_of: LayersOf, sizes: Sizes) -> tuple[Layer, ...]:
    """Return the layers that a function makes; for anything else, raise NetworkError, which names the flag."""
    with errors_of_code(f"--network={text}", NetworkError):
        made = layers_of(sizes)
    if not isinstance(made, Sequence) or not all(isinstance(layer, Layer) for layer in made):
        raise NetworkError(
            f"--network={text}: its function returns no layers, but {made!r:.80}; return a tuple of them"
        )
    for layer in made:
        if wrong := _wrong_setting(layer):
            raise NetworkError(f"--network={text}: layer {layer.name}: {wrong}")
    if alike := _alike_but_for_case(made):
        raise NetworkError(
            f"--network={text}: layers {' and '.join(alike)}: to TensorFlow, names that differ only in case are the "
            "same; choose others"
        )
    return tuple(made)


def _alike_but_for_case(layers: Sequence[Layer]) -> tuple[str, ...]:
    """Return the names of two layers that differ only in case; nothing if there are none."""
    seen: dict[str, str] = {}
    for layer in layers:
        other = seen.setdefault(layer.name.lower(), layer.name)
        if other != layer.name:
            return other, layer.name
    return ()


def _wrong_setting(layer: Layer) -> str:
    """Return what is wrong with the name or a setting of a record; nothing if all are right."""
    if not isinstance(layer.name, str) or not VARIABLE_SCOPE.fullmatch(layer.name):
        return "its name may only have letters, digits and the characters _ . - /"
    for setting in fields(layer):
        value = getattr(layer, setting.name)
        if setting.type in ("int", int) and (isinstance(value, bool) or not isinstance(value, int)):
            return f"its {setting.name} is {value!r}, not a whole number"
        if setting.type in ("float", float, "float | None") and not _is_number(value, str(setting.type)):
            return f"its {setting.name} is {value!r}, not a number"
        if type(layer) in LAYERS.values() and setting.type == "int" and value < 0:
            return f"its {setting.name} is {value}, which must not be negative"
        if setting.name.endswith("dropout") and not (isinstance(value, int | float) and 0 <= value < 1):
            return f"its {setting.name} is {value!r}, not a share from 0 to less than 1"
    try:
        json.dumps(layer.to_json())
    except TypeError as error:
        return f"its settings cannot be saved beside checkpoints ({error}); give it Python's own numbers and texts"
    return ""


def _is_number(value: object, kind: str) -> bool:
    if value is None:
        return kind.endswith("None")
    return isinstance(value, Real) and not isinstance(value, bool)


@cache
def _module_layers(name: str) -> LayersOf:
    layers: LayersOf = import_module(f".{name}", __package__).layers
    return layers
