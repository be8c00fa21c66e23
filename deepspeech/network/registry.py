"""Networks by name."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from pathlib import Path

from ..errors import NetworkError
from ..options import ModelOptions
from ..util.files.python_files import load_python_file
from .description import Layer, Network, Sizes

MODULES = ("deepspeech", "lstm", "conformer")
"""The networks of this package, each a module whose function `layers` returns its records."""


LayersOf = Callable[[Sizes], tuple[Layer, ...]]

_registered: dict[str, LayersOf] = {}


def register(name: str) -> Callable[[LayersOf], LayersOf]:
    """Return a decorator that makes a function's layers the network of this name.

    Raise NetworkError for a name that this package's networks have.
    """
    if name in MODULES:
        raise NetworkError(f"there is a network {name!r} already; choose another name")

    def registered(layers: LayersOf) -> LayersOf:
        _registered[name] = layers
        return layers

    return registered


def names() -> tuple[str, ...]:
    """Return the names of all networks."""
    return (*MODULES, *_registered)


def network(options: ModelOptions, coefficients: int, label_count: int, step_ms: int = 20) -> Network:
    """Return the network that the options name, for frames of `coefficients` features and `label_count` labels.

    Frames are `step_ms` apart, which decides how many of them make a row of logits in networks that reduce them.
    Raise NetworkError if no network has that name, or if the layers that its function returns do not fit together.
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
    return Network(options.network.rpartition(":")[2], coefficients, tuple(_layers_of(options.network)(sizes)))


def _layers_of(text: str) -> LayersOf:
    file, colon, name = text.rpartition(":")
    if colon:
        load_python_file(Path(file), f"--network={text}")
    if name in _registered:
        return _registered[name]
    if name in MODULES:
        return _module_layers(name)
    raise NetworkError(f"--network={text}: there is no such network; there are {', '.join(names())}")


@cache
def _module_layers(name: str) -> LayersOf:
    layers: LayersOf = import_module(f".{name}", __package__).layers
    return layers
