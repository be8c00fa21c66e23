"""The metadata of exported graphs: versions, and the encoding of alphabets, networks and features.

The format is that of DeepSpeech 0.9's clients, which call it graph version 6. This module needs no TensorFlow.
"""

import json
import struct
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...errors import FeatureError, GraphError, NetworkError
from ...network.description import Network
from ...network.serialization import network_from_json
from ...util.features import FeatureOptions
from ...util.frames.normalization import FeatureStatistics

GRAPH_VERSION = 6
"""The version of the graphs that this project exports."""

READABLE_VERSIONS = range(4, 7)
"""The graph versions of DeepSpeech 0.6 (4) to 0.9 (6), which differ in their metadata."""

MOST_LABELS = (1 << 16) - 1
"""The most labels that an alphabet can have in a graph."""

LARGEST_JSON = 1 << 20
"""The most bytes of a description of a network or of features."""

_STATISTICS = ("mean", "deviation")

CALIBRATIONS_NODE = "metadata_confidence"
"""The constant that holds the calibrations of confidences, `serving.confidence.calibration.Calibrations`, as JSON."""

LARGEST_SETTING = 1 << 20
"""The largest number in the settings of features."""


def serialize_alphabet(labels: Sequence[str | bytes]) -> bytes:
    """Return labels as bytes: uint16 count, then for each uint16 index, uint16 length and UTF-8; little-endian."""
    parts = [struct.pack("<H", len(labels))]
    for index, label in enumerate(labels):
        text = label if isinstance(label, bytes) else label.encode()
        parts.append(struct.pack("<HH", index, len(text)) + text)
    return b"".join(parts)


def serialize_network(network: Network) -> bytes:
    """Return a network's name and layers as JSON in UTF-8."""
    return json.dumps({"name": network.name, "layers": network.to_json()}, ensure_ascii=False).encode()


def parse_network(data: bytes, coefficients: int) -> Network:
    """Return the network that `serialize_network` wrote; raise GraphError for anything else."""
    try:
        value = _parsed(data)
        return network_from_json(str(value["name"]), coefficients, value["layers"])
    except (ValueError, KeyError, TypeError, RecursionError):
        raise GraphError("its network is not described in JSON") from None
    except NetworkError as error:
        raise GraphError(f"its network cannot be run: {error}") from None


def serialize_features(options: FeatureOptions, statistics: FeatureStatistics | None) -> bytes:
    """Return the settings of features, and the statistics that they are normalized by, as JSON in UTF-8."""
    value: dict[str, Any] = {"options": options.to_json()}
    if statistics is not None:
        value["statistics"] = {name: getattr(statistics, name).tolist() for name in _STATISTICS}
    return json.dumps(value).encode()


def parse_features(data: bytes) -> tuple[FeatureOptions, FeatureStatistics | None]:
    """Return what `serialize_features` wrote; raise GraphError for anything else."""
    try:
        value = _parsed(data)
        told = value["options"]
        if not all(isinstance(setting, str) or _is_size(setting) for setting in told.values()):
            raise GraphError("its features cannot be computed: a setting is not a number in its range")
        options = FeatureOptions(**told)
        if not options.normalized:
            return options, None
        arrays = [np.array(value["statistics"][name], np.float32) for name in _STATISTICS]
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError):
        raise GraphError("its features are not described in JSON") from None
    except FeatureError as error:
        raise GraphError(f"its features cannot be computed: {error}") from None
    mean, deviation = arrays
    fit = all(array.shape == (options.coefficients,) and np.isfinite(array).all() for array in arrays)
    if not fit or deviation.min() <= 0:
        raise GraphError("the statistics of its features are damaged")
    return options, FeatureStatistics(mean, deviation)


def _parsed(data: bytes) -> Any:
    """Return the value of JSON in UTF-8; raise ValueError or RecursionError for anything else."""
    if len(data) > LARGEST_JSON:
        raise ValueError("too long")
    return json.loads(data.decode())


def _is_size(value: object) -> bool:
    return isinstance(value, int) and 0 < value <= LARGEST_SETTING


def parse_alphabet(data: bytes) -> tuple[bytes, ...]:
    """Return the labels that `serialize_alphabet` wrote, by index; raise GraphError for anything else."""
    try:
        (count,) = struct.unpack_from("<H", data)
        labels: dict[int, bytes] = {}
        offset = 2
        for _ in range(count):
            index, length = struct.unpack_from("<HH", data, offset)
            offset += 4 + length
            labels[index] = data[offset - length : offset]
    except struct.error:
        raise GraphError("its alphabet is truncated") from None
    if offset != len(data) or sorted(labels) != list(range(count)) or not count:
        raise GraphError("its alphabet is damaged")
    return tuple(labels[index] for index in range(count))
