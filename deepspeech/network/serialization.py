"""Networks that `Network.to_json` wrote as JSON: reads one, and compares two. No TensorFlow here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..errors import NetworkError
from .description import (
    LSTM,
    BidirectionalLSTM,
    ChunkedLSTM,
    ContextWindow,
    Convolution,
    ConvolutionModule,
    Dense,
    FeedForward,
    Layer,
    LayerNormalization,
    Network,
    Projection,
    SelfAttention,
    may_be_left_out,
    settings_of,
)

LAYERS: Mapping[str, type[Layer]] = {
    kind.__name__: kind
    for kind in (
        *(ContextWindow, Dense, LSTM, BidirectionalLSTM, ChunkedLSTM, Convolution, LayerNormalization, Projection),
        *(FeedForward, SelfAttention, ConvolutionModule),
    )
}
"""The layers that can be read from JSON."""

LARGEST_SIZE = 1 << 20
"""The largest number that is accepted in a record."""

MOST_LAYERS = 1000
"""The most layers that are accepted."""

_CHUNKS = ("chunk", "offset", "left")
"""The settings of layers that divide an utterance into chunks."""


def network_from_json(name: str, coefficients: int, value: Any) -> Network:
    """Return the network that `Network.to_json` described; raise NetworkError for anything else."""
    if not isinstance(value, list) or not all(isinstance(record, dict) for record in value):
        raise NetworkError("its layers are not a list of records")
    if len(value) > MOST_LAYERS:
        raise NetworkError(f"it has {len(value)} layers, more than {MOST_LAYERS}")
    return Network(name, coefficients, tuple(_layer_from_json(dict(record)) for record in value))


def difference(theirs: Sequence[Mapping[str, Any]], ours: Sequence[Mapping[str, Any]]) -> str | None:
    """Return in words where two networks, given as by `Network.to_json`, differ; None if they are equal."""
    for their, our in zip(theirs, ours, strict=False):
        if their != our:
            return f"it has {_told(their)} where this run has {_told(our)}"
    if len(theirs) != len(ours):
        return f"it has {len(theirs)} layers where this run has {len(ours)}"
    return None


def without_chunks(layers: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return layers, as given by `Network.to_json`, without the settings of chunks.

    Layers that are then equal have the same variables for the same purpose, so the weights of a network for whole
    recordings can be the initial weights of one that streams.
    """
    plain = [{name: value for name, value in record.items() if name not in _CHUNKS} for record in layers]
    return [
        record | {"layer": BidirectionalLSTM.__name__} if record.get("layer") == ChunkedLSTM.__name__ else record
        for record in plain
    ]


def _layer_from_json(record: dict[str, Any]) -> Layer:
    named = record.pop("layer", None)
    kind = LAYERS.get(str(named))
    if kind is None:
        name = record.get("name")
        raise NetworkError(f"its layer {name!r:.80} is of the kind {named!r:.80}, which this program does not have")
    wanted = settings_of(kind)
    record = {each.name: each.default for each in wanted if may_be_left_out(each, each.default)} | record
    if set(record) != {each.name for each in wanted} or _wrong_setting(kind, record):
        raise NetworkError(f"a record of its layers is not one of a {kind.__name__}")
    return kind(**record)


def unreadable_setting(layer: Layer) -> str:
    """Return a setting of a layer, as name=value, that could not be read from JSON; nothing if all could."""
    return _wrong_setting(type(layer), vars(layer))


def _wrong_setting(kind: type[Layer], values: Mapping[str, Any]) -> str:
    wrong = (each.name for each in settings_of(kind) if not _is_valid(values[each.name], str(each.type)))
    return next((f"{name}={values[name]}" for name in wrong), "")


def _is_valid(value: object, kind: str) -> bool:
    if kind == "str":
        return isinstance(value, str) and 0 < len(value) <= 1000
    if value is None:
        return kind.endswith("None")
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    allowed = int if kind == "int" else (int, float)
    return isinstance(value, allowed) and 0 <= value <= LARGEST_SIZE


def _told(record: Mapping[str, Any]) -> str:
    settings = ", ".join(f"{name}={value}" for name, value in record.items() if name != "layer")
    return f"{record.get('layer')}({settings})"
