"""Compares onnxruntime with this program's engine: the same networks, with random weights, on the same noise, in turns.

    python -m benchmarks.serving.onnx_runtime [--seconds 10] [--rounds 5]

Both compute each network's posteriors of a whole recording, and of one in pieces of 160 ms. The engine uses a graph's
weights, onnxruntime the file that `--export_format=onnx` writes. A second comparison includes the features: onnxruntime
with `--export_features`, the engine with its own features. Times are those of the fastest round.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from deepspeech.export.formats import FORMATS, TrainedModel
from deepspeech.network import network
from deepspeech.options import ExportOptions, ModelOptions, with_values
from deepspeech.serving.acoustics.loading import AcousticModel, load_acoustic_model
from deepspeech.serving.engine import Engine, Piece
from deepspeech.serving.feature_windows import ModelFeatures
from deepspeech.serving.frozen.model import FrozenModel, ModelInfo
from deepspeech.util.features import FeatureOptions
from deepspeech.util.text import Alphabet

from ..processes.arguments import above_zero, at_least

Array = npt.NDArray[np.float32]
Compute = Callable[[AcousticModel, Array, float], None]

RATE = 16_000
PIECE_SECONDS = 0.16
ALPHABET = Alphabet(tuple(" 'abcdefghijklmnopqrstuvwxyz"))
MFCC, FBANK = FeatureOptions(), FeatureOptions(feature_type="fbank")
NETWORKS: dict[str, tuple[dict[str, Any], FeatureOptions]] = {
    "deepspeech, 512": ({"n_hidden": 512}, MFCC),
    "deepspeech, 2048": ({"n_hidden": 2048}, MFCC),
    "lstm, 3 x 384": ({"network": "lstm", "n_hidden": 384}, FBANK),
    "lstm, 3 x 256, bidirectional": ({"network": "lstm", "n_hidden": 256, "bidirectional": True}, FBANK),
    "conformer, 8 x 144": ({"network": "conformer", "n_hidden": 144}, FBANK),
}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=above_zero, default=10.0)
    parser.add_argument("--rounds", type=at_least(1), default=5)
    options = parser.parse_args()
    noise = np.random.default_rng(1).normal(scale=0.1, size=int(options.seconds * RATE)).astype(np.float32)
    print("| network | audio | engine | onnxruntime | with its features: engine | onnxruntime |")
    print("| --- | --- | ---: | ---: | ---: | ---: |")
    for name, (flags, features) in NETWORKS.items():
        model = untrained(flags, features)
        ours = of_engine(model)
        with tempfile.TemporaryDirectory() as folder:
            plain, inside = (of_onnx(model, Path(folder), features=each) for each in (False, True))
        for kind, compute in {"whole": whole_recording, "stream": streamed}.items():
            if kind == "whole" or ours.engine.streams:
                times = measured(compute, (ours, plain, inside), noise, features, options.rounds)
                print(f"| {name} | {kind} |", " | ".join(f"{1000 * each:.0f} ms" for each in times), "|", flush=True)


def measured(
    compute: Compute, models: Sequence[AcousticModel], noise: Array, features: FeatureOptions, rounds: int
) -> list[float]:
    """Return the seconds of the engine and of onnxruntime from windows, and of both from samples."""
    ours, plain, inside = models
    step = features.network_step_ms / 1000
    ready, framed = windows_of(ours, noise), windows_of(plain, noise)
    tasks: list[Callable[[], None]] = [
        lambda: compute(ours, ready, step),
        lambda: compute(plain, framed, step),
        lambda: compute(ours, windows_of(ours, noise), step),
        lambda: compute(inside, windows_of(inside, noise), 1 / RATE),
    ]
    return fastest(tasks, rounds)


def untrained(flags: dict[str, Any], features: FeatureOptions) -> TrainedModel:
    """Return a network with small random weights."""
    some = network(with_values(ModelOptions(), flags), features.width, ALPHABET.size, features.network_step_ms)
    generator = np.random.default_rng(2)
    weights = {name: generator.normal(scale=0.03, size=shape).astype(np.float32) for name, shape in some.shapes.items()}
    return TrainedModel(some, weights, ALPHABET, features)


def of_engine(model: TrainedModel) -> AcousticModel:
    """Return a model that this program's engine runs."""
    info = ModelInfo(Path("graph.pb"), ALPHABET.labels, model.features, 16, 500, "", model.network)
    return AcousticModel(info, Engine(FrozenModel(info, model.weights)), ModelFeatures(info))


def of_onnx(model: TrainedModel, folder: Path, *, features: bool) -> AcousticModel:
    """Return a model that onnxruntime runs."""
    path = folder / "model.onnx"
    path.write_bytes(FORMATS["onnx"].serialized(model, ExportOptions(features=features)))
    return load_acoustic_model(path, "float32")


def windows_of(model: AcousticModel, signal: Array) -> Array:
    """Return the input of a model's engine for a signal."""
    windows = model.features.windows()
    return np.concatenate([windows.feed(signal), windows.finish()])


def whole_recording(model: AcousticModel, windows: Array, step: float) -> None:
    """Compute a whole recording."""
    del step
    model.engine.posteriors(windows)


def streamed(model: AcousticModel, windows: Array, step: float) -> None:
    """Compute a recording in pieces; `step` is the seconds from one window to the next."""
    state, size = model.engine.initial_state(), round(PIECE_SECONDS / step)
    for start in range(0, len(windows), size):
        last = start + size >= len(windows)
        ((_, state),) = model.engine.run_batch([Piece(windows[start : start + size], state, last)])


def fastest(tasks: list[Callable[[], None]], rounds: int) -> list[float]:
    """Return the seconds of the fastest round of each task; tasks take turns, after one warm-up round."""
    times: list[list[float]] = [[] for _ in tasks]
    for _ in range(rounds + 1):
        for task, measured in zip(tasks, times, strict=True):
            start = time.perf_counter()
            task()
            measured.append(time.perf_counter() - start)
    return [min(each[1:]) for each in times]


if __name__ == "__main__":
    main()
