"""Weights that are converted from checkpoints to HDF5 and back."""

from __future__ import annotations

import logging
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf
from checkpoint_sessions import IDENTITY, STATE, session_of, values
from models_of_weights import IDENTITIES, weights_of
from running import files_no_larger_than

from deepspeech.checkpoints.lock import locked_for_training
from deepspeech.checkpoints.store import Kind
from deepspeech.checkpoints.weights.hdf5 import write_hdf5
from deepspeech.checkpoints.weights.model_weights import LayerWeights, ModelWeights, weights_of_hdf5
from deepspeech.checkpoints.weights.of_checkpoint import weights_of_checkpoint_file, write_checkpoint
from deepspeech.errors import CheckpointError
from deepspeech.network.deepspeech import LSTM_NAME
from deepspeech.options import CheckpointOptions, ModelOptions
from deepspeech.schedule.state import TrainingState
from deepspeech.util.frames.normalization import DEVIATION, MEAN
from deepspeech.util.text import Alphabet

v1 = tf.compat.v1


@pytest.mark.parametrize("name", IDENTITIES)
def test_a_checkpoint_is_the_same_after_it_was_a_file_of_weights(name: str, tmp_path: Path) -> None:
    source = weights_of(IDENTITIES[name])
    prefix = write_checkpoint(tmp_path / "first", source)
    read = weights_of_checkpoint_file(prefix)
    write_hdf5(tmp_path / "a.weights.h5", read.layers, read.description)
    again = write_checkpoint(tmp_path / "second", weights_of_hdf5(tmp_path / "a.weights.h5", "a"))
    after = weights_of_checkpoint_file(again.parent)
    assert after.description == source.description
    assert list(after.values) == list(source.values)
    assert all(after.values[each].tobytes() == value.tobytes() for each, value in source.values.items())
    for suffix in (".data-00000-of-00001", ".index"):
        one, other = (path.with_name(path.name + suffix).read_bytes() for path in (prefix, again))
        assert one == other


def test_training_goes_on_from_weights_that_were_imported(tmp_path: Path) -> None:
    source = weights_of(IDENTITY)
    write_checkpoint(tmp_path, source)
    with session_of(tmp_path) as (checkpoints, session):
        newest = checkpoints.find_newest()
        assert newest == tmp_path / "train-0"
        assert checkpoints.restore(session, newest) == TrainingState()
        restored = values(session)
    for name, value in source.values.items():
        np.testing.assert_array_equal(restored[name], value)
    with pytest.raises(CheckpointError, match="holds checkpoints already"):
        write_checkpoint(tmp_path, source)


def test_weights_whose_import_was_killed_before_its_end_are_imported_by_the_same_command(tmp_path: Path) -> None:
    source = weights_of(IDENTITY)
    prefix = write_checkpoint(tmp_path, source)
    (tmp_path / "checkpoint").unlink()
    prefix.with_name("train-0.json").write_text("")
    assert write_checkpoint(tmp_path, source) == prefix
    with session_of(tmp_path) as (checkpoints, _):
        assert checkpoints.find_newest() == prefix


def test_an_import_that_fails_removes_its_own_files_alone(tmp_path: Path) -> None:
    source = weights_of(IDENTITY)
    (tmp_path / "train-01.csv").touch()
    with files_no_larger_than(1000), pytest.raises(CheckpointError, match="train-0: checkpoint cannot be written"):
        write_checkpoint(tmp_path, source)
    assert [path.name for path in tmp_path.glob("train-*")] == ["train-01.csv"]


def test_moving_averages_and_names_of_the_first_generation_are_read(tmp_path: Path) -> None:
    with session_of(tmp_path / "averaged", ema_decay=0.9) as (checkpoints, session):
        averages = {name: value for name, value in values(session).items() if name.endswith("ExponentialMovingAverage")}
        with session.graph.as_default():
            for variable in v1.global_variables():
                if variable.op.name in averages:
                    variable.load(averages[variable.op.name] + 1, session)
        prefix = checkpoints.save(session, Kind.NEWEST, STATE)
    read = weights_of_checkpoint_file(prefix.with_name(prefix.name + ".index")).values
    np.testing.assert_array_equal(read["layer_1/bias"], averages["layer_1/bias/ExponentialMovingAverage"] + 1)
    kernel = {"h1": (494, 12), "b1": (12,), "h2": (12, 12), "b2": (12,), "h3": (12, 12), "b3": (12,), "h5": (12, 12)}
    shapes = {**kernel, "b5": (12,), "h6": (12, 7), "b6": (7,)}
    shapes |= {"lstm_fused_cell/kernel": (24, 48), "lstm_fused_cell/bias": (48,)}
    with tf.Graph().as_default(), v1.Session() as session:
        variables = [v1.get_variable(name, shape, initializer=v1.zeros_initializer()) for name, shape in shapes.items()]
        session.run(v1.global_variables_initializer())
        v1.train.Saver(variables).save(session, str(tmp_path / "model.ckpt-5"), write_meta_graph=False)
    old = weights_of_checkpoint_file(tmp_path / "model.ckpt-5")
    assert old.description == {}
    np.testing.assert_array_equal(old.values[f"{LSTM_NAME}/bias"], np.repeat([0, 0, 1, 0], 12))


def test_weights_that_are_no_whole_model_become_no_checkpoint(tmp_path: Path) -> None:
    source = weights_of()
    told = {name: value for name, value in source.description.items() if name != "alphabet"}
    without_alphabet = replace(source, description=told)
    fewer_labels = replace(source, description={**source.description, "alphabet": list(" abcd")})
    lacking = replace(source, layers=source.layers[1:])
    misshapen = replace(
        source, layers=(LayerWeights("layer_1", {"layer_1/weights": np.ones((2, 2))}), *source.layers[1:])
    )
    further = replace(source, layers=(*source.layers, LayerWeights("layer_7", {"layer_7/bias": np.ones(2)})))
    unknown = replace(
        source, description={**source.description, "network": {"name": "mine", "layers": [{"layer": "X", "name": "a"}]}}
    )
    diverged = weights_of()
    diverged.values["layer_5/bias"][3] = np.inf
    for wrong, reason in (
        (diverged, "layer_5/bias holds numbers that are not finite, 1 of 12"),
        (replace(source, description={}), "does not describe the model of its weights"),
        (
            without_alphabet,
            "does not contain the alphabet of its weights; train from it with deepspeech-train --load_check",
        ),
        (
            replace(without_alphabet, origin="a.pb"),
            r"^a\.pb: does not contain the alphabet .* --initialize_from_frozen_model, whose other flags describe",
        ),
        (fewer_labels, "its alphabet has 5 labels, but its last layer 7 outputs, one for each label and one for the"),
        (lacking, "has no layer_1/weights, which its network deepspeech needs"),
        (further, "has layer_7/bias, which its network deepspeech does not have"),
        (misshapen, r"layer_1/weights is float64 \(2, 2\)"),
        (unknown, "its network cannot be computed here .its layer 'a' is of the kind 'X', which this"),
        (ModelWeights("a", (), {"format": 1}), r"has no layer_1/weights, as a network of DeepSpeech does"),
    ):
        with pytest.raises(CheckpointError, match=reason):
            write_checkpoint(tmp_path / "folder", wrong)
    assert not list(tmp_path.glob("folder/train-*"))


def test_features_that_are_normalized_by_unknown_statistics_become_no_checkpoint(tmp_path: Path) -> None:
    source = weights_of(IDENTITIES["lstm"])
    features, *others = source.layers
    assert features.name == "features"
    for statistics, reason in (
        ({}, "has no features/mean, which its network lstm needs"),
        ({MEAN: features.weights[MEAN]}, "has no features/deviation, which its network lstm needs"),
        (
            {**features.weights, DEVIATION: np.ones(26, np.float32)},
            r"features/deviation is float32 \(26,\), but its network lstm needs float32 \(80,\)",
        ),
    ):
        wrong = replace(source, layers=(LayerWeights("features", statistics), *others))
        with pytest.raises(CheckpointError, match=reason):
            write_checkpoint(tmp_path / "folder", wrong)
    assert not list(tmp_path.glob("folder/*"))


def test_a_folder_that_is_in_use_or_none_is_called_by_its_name_alone(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(CheckpointError, match=rf"^{tmp_path}/file: cannot be written \(File exists\)"):
        write_checkpoint(tmp_path / "file", weights_of())
    with (
        locked_for_training(tmp_path / "busy"),
        pytest.raises(CheckpointError, match=rf"^{tmp_path}/busy: process \d+ on .* is training into it"),
    ):
        write_checkpoint(tmp_path / "busy", weights_of())


def test_a_file_or_a_checkpoint_is_begun_with_and_its_labels_are_mapped(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "deepspeech")
    source = weights_of(IDENTITY)
    write_hdf5(tmp_path / "a.weights.h5", source.layers, source.description)
    prefix = write_checkpoint(tmp_path / "folder", source)
    other = replace(IDENTITY, alphabet=Alphabet(tuple("xd a")))
    for from_file in (True, False):
        file = tmp_path / "a.weights.h5" if from_file else None
        with session_of(tmp_path / "new", other, seed=5, map_labels=True, initial_weights=file) as (
            checkpoints,
            session,
        ):
            if not from_file:
                checkpoints.initialize_from(session, prefix)
            after = values(session)
        assert "The last layer begins with the weights of 3 of the alphabet's 4 labels" in caplog.text
        caplog.clear()
        np.testing.assert_array_equal(after["layer_5/weights"], source.values["layer_5/weights"])
        mapped = after["layer_6/weights"]
        np.testing.assert_array_equal(mapped[:, 1:], source.values["layer_6/weights"][:, [4, 0, 1, 6]])
        assert 0 < np.abs(mapped[:, 0]).max() < 0.6  # as the initial values are, but not those of the file
    narrow = replace(other, model=ModelOptions(n_hidden=8))
    with (
        session_of(tmp_path / "new", narrow, map_labels=True, drop_source_layers=6) as (checkpoints, session),
        pytest.raises(CheckpointError, match=r"layer_6/weights has shape \[12, 7\], but this model needs \[8, 5\]"),
    ):
        checkpoints.initialize_from(session, prefix)
    assert CheckpointOptions(map_labels=True).only_weights


@pytest.mark.parametrize("from_file", [True, False])
def test_weights_of_another_sample_rate_are_warned_of(
    from_file: bool, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    source = weights_of(IDENTITY)
    write_hdf5(tmp_path / "a.weights.h5", source.layers, source.description)
    prefix = write_checkpoint(tmp_path / "folder", source)
    telephone = replace(IDENTITY, features=replace(IDENTITY.features, sample_rate=8000))
    for identity, warned in ((IDENTITY, False), (telephone, True)):
        initial = tmp_path / "a.weights.h5" if from_file else None
        with session_of(tmp_path / "new", identity, initial_weights=initial) as (checkpoints, session):
            if not from_file:
                checkpoints.initialize_from(session, prefix)
        assert ("trained on audio of 16000 Hz, but this run's is of 8000 Hz" in caplog.text) == warned
