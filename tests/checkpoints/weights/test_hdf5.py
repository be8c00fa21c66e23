"""HDF5 files of weights: this program's, and those that Keras writes and reads."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
import tensorflow as tf
from models_of_weights import IDENTITIES, weights_of
from running import files_no_larger_than

from deepspeech.checkpoints.weights.hdf5 import read_hdf5, write_hdf5
from deepspeech.checkpoints.weights.model_weights import LayerWeights, read_initial_weights, weights_of_hdf5
from deepspeech.errors import CheckpointError
from deepspeech.options import CheckpointOptions, with_values

keras = tf.keras


def written(path: Path) -> Path:
    source = weights_of()
    write_hdf5(path, source.layers, source.description)
    return path


@pytest.fixture(scope="module")
def keras_model() -> Any:
    layers = keras.layers
    return keras.Sequential(
        [
            keras.Input((10, 4)),
            layers.Dense(6, name="layer_1"),
            layers.Dropout(0.1),
            layers.Bidirectional(layers.LSTM(3, return_sequences=True), name="both"),
            layers.BatchNormalization(name="normalization"),
        ]
    )


@pytest.mark.parametrize("name", IDENTITIES)
def test_what_is_written_is_read_bit_for_bit(name: str, tmp_path: Path) -> None:
    source = weights_of(IDENTITIES[name])
    next(iter(source.values.values())).reshape(-1)[:1].view(np.uint32)[:] = 0x7FC12345  # no number
    write_hdf5(tmp_path / "a.weights.h5", source.layers, source.description)
    read = weights_of_hdf5(tmp_path / "a.weights.h5", "a")
    assert [layer.name for layer in read.layers] == [layer.name for layer in source.layers]
    assert list(read.values) == list(source.values)
    assert all(read.values[each].tobytes() == value.tobytes() for each, value in source.values.items())
    assert read.description == source.description
    assert (read.labels, read.network_name) == (tuple(" abcde"), IDENTITIES[name].network.name)
    assert read.features == IDENTITIES[name].features


def test_h5py_alone_finds_layers_and_weights_by_their_names(tmp_path: Path) -> None:
    with h5py.File(written(tmp_path / "a.weights.h5")) as file:
        assert list(file.attrs["layer_names"])[:2] == ["layer_1", "layer_2"]
        assert list(file["layer_1"].attrs["weight_names"]) == ["layer_1/weights", "layer_1/bias"]
        assert file["layer_6"]["layer_6/weights"].shape == (12, 7)


def test_keras_takes_weights_of_ours_by_the_names_of_its_layers(tmp_path: Path) -> None:
    model = keras.Sequential([keras.Input((12,)), keras.layers.Dense(12, name="layer_2")])
    model.load_weights(written(tmp_path / "ours.h5"), by_name=True)
    values = weights_of().values
    for ours, theirs in zip(("layer_2/weights", "layer_2/bias"), model.get_weights(), strict=True):
        np.testing.assert_array_equal(theirs, values[ours])


@pytest.mark.parametrize("name", ["whole.h5", "new.weights.h5"])
def test_both_layouts_of_keras_are_read(name: str, keras_model: Any, tmp_path: Path) -> None:
    keras_model.compile("adam", "mse")
    save = keras_model.save if name == "whole.h5" else keras_model.save_weights
    save(tmp_path / name)
    layers, description = read_hdf5(tmp_path / name)
    assert description == {}
    found = {layer.name: list(layer.weights.values()) for layer in layers}
    assert {"layer_1", "normalization"} <= set(found)
    for layer in keras_model.layers:
        for expected in layer.get_weights():
            of_layer = [value for each, values in found.items() if each.startswith(layer.name) for value in values]
            assert any(value.shape == expected.shape and (value == expected).all() for value in of_layer)
    assert sum(map(len, found.values())) == len(keras_model.weights)


def test_names_that_keras_cuts_into_several_attributes_are_read(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file.attrs["layer_names0"], file.attrs["layer_names1"] = ["one"], ["two"]
        for name in ("one", "two"):
            file.create_group(name).attrs["weight_names"] = [f"{name}/kernel:0"]
            file[f"{name}/{name}/kernel:0"] = np.ones(3)
    assert list(weights_of_hdf5(tmp_path / "a.h5", "a").values) == ["one/kernel", "two/kernel"]


def test_layers_of_the_same_name_and_a_models_own_weights_are_told_apart(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "a.weights.h5", "w") as file:  # as Keras 3 writes a model with two lists of layers
        for group, name in (("one/dense", "same"), ("other/dense", "same"), (".", "both")):
            file.require_group(group).create_group("vars").attrs["name"] = name
            for number in range(2):
                file[f"{group}/vars/{number}"] = np.full(3, number, np.float32)
    layers, _ = read_hdf5(tmp_path / "a.weights.h5")
    assert len({layer.name for layer in layers}) == 3 and "both" in {layer.name for layer in layers}
    write_hdf5(tmp_path / "ours.h5", layers, {})
    read = weights_of_hdf5(tmp_path / "ours.h5", "ours")
    assert [(layer.name, list(layer.weights)) for layer in read.layers] == [
        (layer.name, list(layer.weights)) for layer in layers
    ]
    assert len(read.values) == 6


def test_bfloat16_is_read_as_float32_of_the_same_values(tmp_path: Path) -> None:
    values = np.array([[1.5, -0.0], [np.inf, 3.0e38]], np.float32)
    halves = tf.cast(values, tf.bfloat16).numpy()
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file.attrs["layer_names"] = ["layer"]
        file.create_group("layer").attrs["weight_names"] = ["weight", "complex"]
        file["layer/weight"] = halves.view("V2")  # as Keras writes it
        file["layer/complex"] = np.ones(2)
    read = weights_of_hdf5(tmp_path / "a.h5", "a").values["weight"]
    assert read.dtype == np.float32 and read.tobytes() == halves.astype(np.float32).tobytes()
    with h5py.File(tmp_path / "a.h5", "r+") as file:
        del file["layer/complex"]
        file["layer/complex"] = np.ones(2, np.complex64)
    with pytest.raises(CheckpointError, match="/layer/complex is not an array of real numbers"):
        read_hdf5(tmp_path / "a.h5")


def test_a_damaged_file_is_an_error(tmp_path: Path) -> None:
    path = written(tmp_path / "a.weights.h5")
    whole = path.read_bytes()
    for content in (b"", b"no weights", whole[:1000], whole[: len(whole) // 2], bytes(len(whole))):
        path.write_bytes(content)
        with pytest.raises(CheckpointError, match=r"a\.weights\.h5: is not an HDF5 file of weights, or it is damaged"):
            read_hdf5(path)
    with pytest.raises(CheckpointError, match="there is no such file"):
        read_hdf5(tmp_path / "b.h5")


def test_a_file_with_zeros_among_its_names_is_an_error(tmp_path: Path) -> None:
    path = written(tmp_path / "a.weights.h5")
    whole = path.read_bytes()
    free = whole.index(bytes(64), whole.index(b"GCOL"))  # two bytes before it say how much is free after the names
    path.write_bytes(whole[: free - 2] + bytes(2) + whole[free:])
    program = (
        "import sys; from pathlib import Path; from deepspeech.checkpoints.weights.hdf5 import read_hdf5; "
        "read_hdf5(Path(sys.argv[1]))"
    )
    command = [sys.executable, "-c", program, str(path)]  # not in this process, as the library would not return
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert "or it is damaged (the texts at byte" in ended.stderr.splitlines()[-1]


def test_a_file_without_weights_or_with_what_is_none_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "a.h5"
    with h5py.File(path, "w") as file:
        file["values"] = np.ones(3)
    with pytest.raises(CheckpointError, match="holds no weights in a layout of Keras"):
        read_hdf5(path)
    for wrong, told in (
        ("text", "/layer/weight is not an array of real numbers"),
        (h5py.Empty("f4"), "/layer/weight is not an array of real numbers"),
        (None, "/layer/weight: .*doesn't exist"),
    ):
        with h5py.File(path, "w") as file:
            file.attrs["layer_names"] = ["layer"]
            file.create_group("layer").attrs["weight_names"] = ["weight"]
            if wrong is not None:
                file["layer/weight"] = wrong
        with pytest.raises(CheckpointError, match=rf"or it is damaged \({told}"):
            read_hdf5(path)


def test_what_keras_2_keeps_of_metrics_is_no_layer(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "a.weights.h5", "w") as file:  # as it writes a compiled model
        for group in ("layers/dense", "metrics/mean", "optimizer"):
            file[f"{group}/vars/0"] = np.ones(3, np.float32)
    (layer,), _ = read_hdf5(tmp_path / "a.weights.h5")
    assert layer.name == "dense"


@pytest.mark.parametrize("kind", ["<f2", ">f2", ">f4"])
def test_numbers_of_16_bits_or_another_order_of_bytes_are_float32_of_the_same_values(kind: str, tmp_path: Path) -> None:
    source = weights_of()
    stored = [
        LayerWeights(layer.name, {name: value.astype(kind) for name, value in layer.weights.items()})
        for layer in source.layers
    ]
    write_hdf5(tmp_path / "a.h5", stored, source.description)
    for layer, read in zip(stored, read_hdf5(tmp_path / "a.h5")[0], strict=True):
        for name, value in layer.weights.items():
            assert read.weights[name].dtype == np.dtype(np.float32) and (read.weights[name] == value).all()


def test_values_of_another_file_are_not_read(tmp_path: Path) -> None:
    written(tmp_path / "other.h5")
    (tmp_path / "secret").write_bytes(bytes(12))
    path = tmp_path / "a.h5"
    for kind in ("link", "external", "virtual", "huge"):
        with h5py.File(path, "w") as file:
            file.attrs["layer_names"] = ["layer"]
            group = file.create_group("layer")
            group.attrs["weight_names"] = ["weight"]
            if kind == "link":
                group["weight"] = h5py.ExternalLink(str(tmp_path / "other.h5"), "/layer_1/layer_1/bias")
            elif kind == "external":
                group.create_dataset("weight", (3,), "f4", external=[(str(tmp_path / "secret"), 0, 12)])
            elif kind == "virtual":
                layout = h5py.VirtualLayout((12,), "f4")
                layout[:] = h5py.VirtualSource(tmp_path / "other.h5", "/layer_1/layer_1/bias", (12,))
                group.create_virtual_dataset("weight", layout)
            else:
                group.create_dataset("weight", (1 << 40,), "f4", chunks=(1 << 20,))
        with pytest.raises(CheckpointError, match=r"another file|larger than its file"):
            read_hdf5(path)


@pytest.mark.parametrize(
    "change", [{"format": 99}, {"alphabet": "abc"}, {"network": {"name": 3}}, {"features": []}, {"output_unit": "x"}]
)
def test_a_description_that_cannot_be_read_is_an_error(change: dict[str, Any], tmp_path: Path) -> None:
    source = weights_of()
    write_hdf5(tmp_path / "a.h5", source.layers, {**source.description, **change})
    with pytest.raises(CheckpointError, match="its description is not one of format 1"):
        weights_of_hdf5(tmp_path / "a.h5", "a")


def test_a_file_that_cannot_be_written_leaves_nothing(tmp_path: Path) -> None:
    source = weights_of()
    with pytest.raises(CheckpointError, match=r"none/a\.weights\.h5: cannot be written"):
        write_hdf5(tmp_path / "none/a.weights.h5", source.layers, {})
    assert not list(tmp_path.iterdir())


def test_a_full_disk_is_said_in_plain_words(tmp_path: Path) -> None:
    source = weights_of()
    written(tmp_path / "a.h5")
    before = (tmp_path / "a.h5").read_bytes()
    told = r"cannot be written \(File too large\); nothing was changed$"
    with files_no_larger_than(4096), pytest.raises(CheckpointError, match=told):
        write_hdf5(tmp_path / "a.h5", source.layers, source.description)
    assert [path.name for path in tmp_path.iterdir()] == ["a.h5"] and (tmp_path / "a.h5").read_bytes() == before


@pytest.mark.parametrize(
    ("flag", "name", "told"),
    [
        (
            "initialize_from_weights",
            "trained",
            "is a folder; start from the weights of its checkpoint with --load_checkpoint_dir",
        ),
        (
            "initialize_from_frozen_model",
            "trained",
            "is a folder; start from the weights of its checkpoint with --load_checkpoint_dir",
        ),
        ("initialize_from_frozen_model", "", "is a folder; name the file in it$"),
        (
            "initialize_from_weights",
            "exported",
            "is an exported graph, and not an HDF5 file; give it with --initialize_from_froz",
        ),
        (
            "initialize_from_weights",
            "a.pb",
            "is an exported graph, and not an HDF5 file; give it with --initialize_from_froz",
        ),
        (
            "initialize_from_frozen_model",
            "a.h5",
            "is an HDF5 file, and not an exported graph; give it with --initialize_from_weights",
        ),
        ("initialize_from_weights", "b.h5", "there is no such file"),
    ],
)
def test_a_file_of_another_kind_is_refused_with_the_flag_that_takes_it(
    flag: str, name: str, told: str, tmp_path: Path
) -> None:
    written(tmp_path / "a.h5")
    for inside in ("trained/best_dev-3.index", "trained/output_graph.pb", "exported/output_graph.pb"):
        (tmp_path / inside).parent.mkdir(exist_ok=True)
        (tmp_path / inside).touch()
    with pytest.raises(CheckpointError, match=told) as caught:
        read_initial_weights(with_values(CheckpointOptions, {flag: tmp_path / name}))
    assert str(caught.value).startswith(f"--{flag}={tmp_path / name}: ")
