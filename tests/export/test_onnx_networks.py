"""Every network in ONNX, with and without features in the graph, whole and streamed, compared with the engine."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import onnxruntime
import pytest
from untrained import FBANK, MODELS, frozen, signal, untrained

from deepspeech import Model
from deepspeech.cli.flags import parse
from deepspeech.errors import ExportError, FlagError, ModelError
from deepspeech.export.formats import FORMATS, TrainedModel
from deepspeech.export.onnx_graph import model as onnx_model
from deepspeech.export.onnx_graph.features import COMPUTED
from deepspeech.export.onnx_graph.layers import computed
from deepspeech.network import (
    ContextWindow,
    Convolution,
    Dense,
    FeedForward,
    Layer,
    Network,
    SelfAttention,
    training,
)
from deepspeech.network.checks.rounding import ROUNDED, WITHOUT_PRODUCTS
from deepspeech.network.serialization import LAYERS
from deepspeech.options import ExportOptions
from deepspeech.options.model import PROVIDED
from deepspeech.serving.acoustics.loading import AcousticModel, load_acoustic_model
from deepspeech.serving.engine import LAYERS as LAYERS_OF_ENGINE
from deepspeech.serving.engine import Engine, Piece
from deepspeech.serving.feature_windows import ModelFeatures
from deepspeech.util.features import exportable_front_ends

Array = npt.NDArray[np.float32]

LENGTHS = (0, 100, 700, 8000, 24_013)
TAKES = {"frames": False, "samples": True}


def exported(model: TrainedModel, folder: Path, *, features: bool) -> AcousticModel:
    content = FORMATS["onnx"].serialized(model, ExportOptions(features=features, language="xx", beam_width=32))
    (folder / "model.onnx").write_bytes(content)
    return load_acoustic_model(folder / "model.onnx", "float32")


def windows_of(model: AcousticModel, samples: Array) -> Array:
    windows = model.features.windows()
    return np.concatenate([windows.feed(samples), windows.finish()])


@pytest.mark.parametrize("takes", TAKES)
@pytest.mark.parametrize("name", MODELS)
def test_it_computes_what_the_engine_does(name: str, takes: str, tmp_path: Path) -> None:
    trained = untrained(*MODELS[name])
    model = exported(trained, tmp_path, features=TAKES[takes])
    told = model.info
    assert (told.labels, told.language, told.beam_width) == (trained.alphabet.labels, "xx", 32)
    assert told.network.to_json() == trained.network.to_json()
    assert told.features == trained.features
    of_engine = frozen(trained)
    engine = AcousticModel(of_engine.info, Engine(of_engine), ModelFeatures(of_engine.info))
    signals = [signal(samples) for samples in LENGTHS]
    expected = [engine.engine.posteriors(windows_of(engine, each)) for each in signals]
    pieces = [Piece(windows_of(model, each), model.engine.initial_state(), last=True) for each in signals]
    for (found, _), one in zip(model.engine.run_batch(pieces), expected, strict=True):
        np.testing.assert_allclose(found, one, atol=1e-4)
    if not model.engine.streams:
        session = onnxruntime.InferenceSession(tmp_path / "model.onnx")
        nothing = np.zeros((1, 0) if TAKES[takes] else (1, 0, trained.network.coefficients), np.float32)
        (lengths,) = session.run(["row_lengths"], {takes: nothing, "lengths": np.zeros(1, np.int32)})
        assert lengths.tolist() == [len(expected[0]) if TAKES[takes] else 0]
        return
    for samples, one in zip(signals, expected, strict=True):
        np.testing.assert_allclose(streamed(model, samples), one, atol=1e-4)


def streamed(model: AcousticModel, samples: Array) -> Array:
    """Return the posteriors of a signal in pieces, in a batch with a stream without input and one that had begun."""
    states = [model.engine.initial_state() for _ in range(3)]
    windows, parts, other = model.features.windows(), [], windows_of(model, signal(3000))
    for start in range(0, len(samples), 1111):
        fed = windows.feed(samples[start : start + 1111])
        taken = (fed, fed[:0], other[:1] if start else other)
        results = model.engine.run_batch([Piece(*each, last=False) for each in zip(taken, states, strict=True)])
        states = [state for _, state in results]
        parts.append(results[0][0])
    ((last, _),) = model.engine.run_batch([Piece(windows.finish(), states[0], last=True)])
    return np.concatenate([*parts, last])


def own_model(folder: Path, *layers: Layer) -> tuple[AcousticModel, TrainedModel]:
    """Write a network of these layers and the labels."""
    some = Network("own", 20, (*layers, Dense("labels", units=7)))
    generator = np.random.default_rng(4)
    weights = {name: generator.normal(size=shape).astype(np.float32) for name, shape in some.shapes.items()}
    trained = replace(untrained({"network": "lstm"}, FBANK), network=some, weights=weights)
    return exported(trained, folder, features=False), trained


@pytest.mark.parametrize("name", [name for name in PROVIDED[1:] if name != "conformer"])
def test_a_network_that_looks_ahead_after_its_other_layers_streams(name: str, tmp_path: Path) -> None:
    layers = untrained({"network": name}, FBANK).network.layers[:-1]
    model, trained = own_model(tmp_path, *layers, Convolution("late", channels=2))
    assert model.engine.streams
    samples = signal(8000)
    expected = Engine(frozen(trained)).posteriors(windows_of(model, samples))
    np.testing.assert_allclose(streamed(model, samples), expected, atol=1e-3)


def test_a_network_that_computes_each_row_by_itself_streams(tmp_path: Path) -> None:
    model, trained = own_model(tmp_path, FeedForward("first", units=9))
    assert model.engine.streams
    samples = signal(8000)
    expected = Engine(frozen(trained)).posteriors(windows_of(model, samples))
    np.testing.assert_allclose(streamed(model, samples), expected, atol=1e-4)


def test_a_network_that_looks_ahead_after_attention_takes_whole_recordings(tmp_path: Path) -> None:
    attention = SelfAttention("first", heads=2, chunk=3, left=3)
    model, trained = own_model(tmp_path, attention, Convolution("late", channels=2))
    windows = windows_of(model, signal(8000))
    np.testing.assert_allclose(model.engine.posteriors(windows), Engine(frozen(trained)).posteriors(windows), atol=1e-4)
    with pytest.raises(ModelError, match="models in ONNX that depend on later rows of attention"):
        Model(model.info.path).createStream()


def test_features_are_part_of_models_in_onnx_alone() -> None:
    with pytest.raises(FlagError, match="--export_features: needs --export_format=onnx"):
        parse(["--export_dir=model", "--export_features"])


def test_models_compute_no_features_that_the_export_does_not_know(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(COMPUTED, "fbank")
    flags = ["--export_dir=model", "--export_format=onnx", "--feature_type=fbank"]
    with pytest.raises(FlagError, match=r"a model in ONNX computes audio_ops.*, but not --feature_type=fbank; leave"):
        parse([*flags, "--export_features"])
    parse(flags)


def test_without_the_package_that_writes_them_features_in_onnx_are_refused_in_one_line(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(ExportError, match=r"writing model\.onnx needs onnx: .* extra `onnx`"):
        parse(["--export_dir=model", "--export_format=onnx", "--export_features"])


def test_features_that_are_not_served_are_refused_with_those_that_are() -> None:
    with pytest.raises(FlagError, match=r"--feature_type=psf: cannot be exported.*; train a model with ") as refused:
        parse(["--export_dir=model", "--feature_type=psf"])
    assert [name for name in exportable_front_ends() if f"={name}" not in str(refused.value)] == []


def test_all_features_that_models_in_onnx_compute_are_compared_with_the_engine() -> None:
    compared = {features.feature_type for _, features in MODELS.values()}
    assert {*COMPUTED} - compared == set(), "add models of these features to MODELS in untrained.py"


@pytest.mark.parametrize("kind", [*LAYERS.values()])
def test_a_layer_of_the_format_is_computed_in_training_in_the_engine_and_in_onnx(kind: type[Layer]) -> None:
    assert onnx_model  # which imports all modules that add layers to `computed`
    assert kind in training.computed.registry and issubclass(kind, ROUNDED | WITHOUT_PRODUCTS)
    assert kind is ContextWindow or (kind in LAYERS_OF_ENGINE and kind in computed.registry)
