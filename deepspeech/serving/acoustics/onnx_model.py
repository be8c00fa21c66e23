"""Models in ONNX that this program exported, with the interface of graphs. They need onnxruntime."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ...decoder import CLIENT_BEAM_WIDTH
from ...errors import GraphError, ModelError
from ...options.export import LARGEST_BEAM_WIDTH, LARGEST_N_STEPS
from ...util.output_units import ByteAlphabet
from ...util.parallel import usable_cores
from ...util.web.libraries import needs
from ..feature_windows import ModelFeatures
from ..frozen.features import check_sizes
from ..frozen.metadata import parse_alphabet, parse_features, parse_network
from ..frozen.model import ModelInfo
from ..layers.precision import AUTO, Precision
from .loading import AcousticModel
from .onnx_engine import INPUTS, SAMPLES, WINDOWS, OnnxEngine, Run, first_line
from .onnx_file import read_onnx_file
from .onnxruntime_import import import_onnxruntime
from .sample_windows import SampleFeatures

LARGEST_RUN = 1 << 24
"""The most samples that a model takes at once."""


def load_onnx_model(path: Path, precision: str) -> AcousticModel:
    """Load a model; raise GraphError, which names the file and what is wrong with it.

    Raise ModelError if onnxruntime is not installed, and for a precision other than the file's.
    """
    if precision not in (Precision.FLOAT32.value, AUTO):
        raise ModelError(f"{path}: precision {precision!r} is for graphs; models in ONNX have float32")
    try:
        onnxruntime = import_onnxruntime()
    except ImportError:
        raise ModelError(needs(str(path), ["onnxruntime"], "onnx")) from None
    try:
        content, properties = read_onnx_file(path)
        info = _info(path, properties)
        run = _run(properties)
        session = _session(onnxruntime, content)
        engine = OnnxEngine(session, info, run)
    except UnicodeDecodeError:  # raised by onnxruntime when names are read
        raise GraphError(f"{path}: has names that are not UTF-8; give a model that --export_format=onnx made") from None
    except GraphError as error:
        raise GraphError(f"{path}: {error}; give a model that --export_format=onnx made") from None
    if run.takes == SAMPLES:
        return AcousticModel(info, engine, SampleFeatures())
    return AcousticModel(info, engine, ModelFeatures(info, context=None if run.takes == WINDOWS else 0))


def _session(library: Any, content: bytes) -> Any:
    """Return the session that runs a model; raise GraphError if it cannot be run."""
    options = library.SessionOptions()
    options.intra_op_num_threads = usable_cores()
    options.log_severity_level = 4  # fatal: the exceptions say what is wrong
    try:
        return library.InferenceSession(
            content,
            options,
            providers=["CPUExecutionProvider"],
            enable_fallback=0,  # which prints each error to stdout, and tries the same again
        )
    except Exception as error:  # onnxruntime's errors have no common base
        raise GraphError(f"cannot be run by onnxruntime ({first_line(error)})") from None


def _info(path: Path, properties: Mapping[str, str]) -> ModelInfo:
    """Return the metadata in a file's properties; raise GraphError for anything else."""
    missing = [name for name in ("alphabet", "features", "network", "input") if name not in properties]
    if missing:
        raise GraphError(f"is not a speech model of this program, as it has no property {missing[0]}")
    labels = parse_alphabet(_bytes(properties, "alphabet"))
    features, statistics = parse_features(properties["features"].encode())
    check_sizes(features)
    network = parse_network(properties["network"].encode(), features.width)
    if network.outputs != len(labels) + 1:
        raise GraphError(f"its alphabet has {len(labels)} labels, but the network has {network.outputs} outputs")
    unit = properties.get("output_unit", "")
    return ModelInfo(
        path=path,
        labels=labels if unit == ByteAlphabet.unit else _texts(labels),
        features=features,
        n_steps=_integer(properties, "n_steps", 16, LARGEST_N_STEPS),
        beam_width=_integer(properties, "beam_width", CLIENT_BEAM_WIDTH, LARGEST_BEAM_WIDTH),
        language=properties.get("language", ""),
        network=network,
        output_unit=unit,
        unit_data=_bytes(properties, "unit_data"),
        statistics=statistics,
    )


def _run(properties: Mapping[str, str]) -> Run:
    """Return the input of a run; raise GraphError if the properties do not describe it."""
    takes = properties["input"]
    if takes not in INPUTS:
        raise GraphError(f"takes {takes[:40]!r}, not one of {', '.join(INPUTS)}")
    if takes == WINDOWS:
        return Run(takes, 1, 0)
    if "shift" not in properties:
        return Run(takes)
    overlap = _integer(properties, "overlap", 0, LARGEST_RUN, least=0)
    return Run(takes, _integer(properties, "shift", 1, LARGEST_RUN), overlap)


def _integer(properties: Mapping[str, str], name: str, default: int, most: int, *, least: int = 1) -> int:
    text = properties.get(name, str(default))
    if not (text.isascii() and text.isdecimal() and len(text) < 12 and least <= int(text) <= most):
        raise GraphError(f"its property {name} is {text[:40]!r}, not a number from {least} to {most}")
    return int(text)


def _bytes(properties: Mapping[str, str], name: str) -> bytes:
    try:
        return base64.b64decode(properties.get(name, ""), validate=True)
    except (binascii.Error, ValueError):
        raise GraphError(f"its property {name} is damaged") from None


def _texts(labels: tuple[bytes, ...]) -> tuple[str, ...]:
    try:
        return tuple(label.decode() for label in labels)
    except UnicodeDecodeError:
        raise GraphError("its alphabet is not UTF-8") from None
