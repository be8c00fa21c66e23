import json
import os
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from checkpoint_sessions import IDENTITY, STATE, session_of, set_step, values
from running import files_no_larger_than

from deepspeech.checkpoints.flag_check import check_flags
from deepspeech.checkpoints.identity import ANOTHER_FOLDER, check_described_network, read_description
from deepspeech.checkpoints.store import Kind
from deepspeech.errors import CheckpointError
from deepspeech.network.deepspeech import LSTM_NAME
from deepspeech.network.layers.normalization import DEVIATION, MEAN
from deepspeech.options import CheckpointOptions, ModelOptions
from deepspeech.util.features import FeatureOptions
from deepspeech.util.text import Alphabet

v1 = tf.compat.v1


def test_weights_optimizer_and_progress_come_back(tmp_path: Path) -> None:
    with session_of(tmp_path, seed=1) as (checkpoints, session):
        before = values(session)
        prefix = checkpoints.save(session, Kind.NEWEST, STATE)
    with session_of(tmp_path, seed=2) as (checkpoints, session):
        assert checkpoints.find(Kind.NEWEST) == prefix
        assert checkpoints.restore(session, prefix) == STATE
        after = values(session)
    assert before.keys() == after.keys()
    assert "layer_1/weights/Adam_1" in before
    for name, value in before.items():
        np.testing.assert_array_equal(after[name], value)


@pytest.mark.parametrize("name", ["run 1", "run[1", "run]1", "run*?", "Prüfung {1},%20"])
def test_checkpoints_come_back_from_a_folder_with_other_characters(tmp_path: Path, name: str) -> None:
    check_flags(CheckpointOptions(tmp_path / name), IDENTITY, trains=True)
    with session_of(tmp_path / name) as (checkpoints, session):
        prefix = checkpoints.save(session, Kind.NEWEST, STATE)
        assert checkpoints.restore(session, prefix) == STATE


@pytest.mark.parametrize("name", ["run [1]", "lr[0.01]/run", "run\\1", os.fsdecode(b"Pr\xfcfung")])
def test_a_folder_in_which_tensorflow_finds_no_checkpoints_is_refused_before_training_and_by_name_after_it(
    tmp_path: Path, name: str
) -> None:
    folder = tmp_path / name
    with pytest.raises(CheckpointError) as refused:
        check_flags(CheckpointOptions(folder), IDENTITY, trains=True)
    assert str(refused.value).startswith(f"--checkpoint_dir={folder}: TensorFlow finds no checkpoints where ")
    with session_of(tmp_path / "run") as (checkpoints, session):
        checkpoints.save(session, Kind.NEWEST, STATE)
    shutil.copytree(tmp_path / "run", folder)
    with session_of(folder) as (checkpoints, session), pytest.raises(CheckpointError) as unread:
        checkpoints.restore(session, folder / "train-0")
    assert str(unread.value).startswith(f"{folder}: TensorFlow finds no checkpoints where ")


def test_the_best_is_chosen_before_the_newest(tmp_path: Path) -> None:
    with session_of(tmp_path) as (checkpoints, session):
        newest = checkpoints.save(session, Kind.NEWEST, STATE)
        assert checkpoints.choose("Testing") == newest
        best = checkpoints.save(session, Kind.BEST, STATE)
        assert checkpoints.choose("Testing") == best


def test_only_so_many_checkpoints_are_kept_even_across_runs(tmp_path: Path) -> None:
    for first in (1, 3):
        with session_of(tmp_path, max_to_keep=2) as (checkpoints, session):
            for step in (first, first + 1):
                set_step(session, step)
                checkpoints.save(session, Kind.NEWEST, STATE)
    assert sorted(path.name for path in tmp_path.glob("train-*.index")) == ["train-3.index", "train-4.index"]
    assert sorted(path.name for path in tmp_path.glob("train-*.json")) == ["train-3.json", "train-4.json"]


def test_a_folder_that_was_moved_still_works(tmp_path: Path) -> None:
    with session_of(tmp_path / "here") as (checkpoints, session):
        checkpoints.save(session, Kind.NEWEST, STATE)
    (tmp_path / "here").rename(tmp_path / "there")
    with session_of(tmp_path / "there") as (checkpoints, session):
        prefix = checkpoints.find(Kind.NEWEST)
        assert prefix is not None
        assert checkpoints.restore(session, prefix) == STATE


def test_another_n_hidden_is_named_with_variable_shapes_and_cause(tmp_path: Path) -> None:
    with session_of(tmp_path) as (checkpoints, session):
        prefix = checkpoints.save(session, Kind.NEWEST, STATE)
    with (
        session_of(tmp_path, replace(IDENTITY, model=ModelOptions(n_hidden=16))) as (checkpoints, session),
        pytest.raises(CheckpointError) as caught,
    ):
        checkpoints.restore(session, prefix)
    message = str(caught.value)
    assert "layer_1" in message
    assert "12]" in message
    assert "16]" in message
    assert "--n_hidden=12" in message


def test_another_alphabet_is_named_with_variable_shapes_and_cause(tmp_path: Path) -> None:
    with session_of(tmp_path) as (checkpoints, session):
        prefix = checkpoints.save(session, Kind.NEWEST, STATE)
    with (
        session_of(tmp_path, replace(IDENTITY, alphabet=Alphabet(tuple("abc")))) as (checkpoints, session),
        pytest.raises(CheckpointError, match=r"layer_6.* shape \[.*7\].* needs \[.*4\].*another alphabet, of 6 labels"),
    ):
        checkpoints.restore(session, prefix)


def test_an_alphabet_of_the_same_size_but_other_labels_is_refused(tmp_path: Path) -> None:
    with session_of(tmp_path) as (checkpoints, session):
        prefix = checkpoints.save(session, Kind.NEWEST, STATE)
    with (
        session_of(tmp_path, replace(IDENTITY, alphabet=Alphabet(tuple(" abxde")))) as (checkpoints, session),
        pytest.raises(CheckpointError, match="label 3 is 'c' \\(here 'x'\\)"),
    ):
        checkpoints.restore(session, prefix)


def test_other_features_are_refused(tmp_path: Path) -> None:
    with session_of(tmp_path) as (checkpoints, session):
        prefix = checkpoints.save(session, Kind.NEWEST, STATE)
    other = replace(IDENTITY, features=FeatureOptions(feature_type="psf"))
    with session_of(tmp_path, other) as (checkpoints, session), pytest.raises(CheckpointError, match="feature_type"):
        checkpoints.restore(session, prefix)


def test_features_that_are_treated_in_another_way_are_refused(tmp_path: Path) -> None:
    stacked = replace(IDENTITY, features=FeatureOptions(stack_frames=2))
    with session_of(tmp_path, stacked) as (checkpoints, session):
        prefix = checkpoints.save(session, Kind.NEWEST, STATE)
        assert checkpoints.restore(session, prefix) == STATE
    description = read_description(prefix)
    for other, named in (
        (IDENTITY, "--stack_frames=2, but this run has --stack_frames=1"),
        (replace(IDENTITY, features=FeatureOptions(stack_frames=2, skip_frames=1)), "--skip_frames=2"),
        (
            replace(IDENTITY, features=FeatureOptions(stack_frames=2, normalization="global")),
            "--normalize_features=none",
        ),
    ):
        with pytest.raises(CheckpointError, match=f"trained with {named}"):
            check_described_network(prefix, description, other, ANOTHER_FOLDER)


def test_the_statistics_of_features_come_with_weights_that_are_begun_with(tmp_path: Path) -> None:
    identity = replace(IDENTITY, features=FeatureOptions(normalization="running"))
    with session_of(tmp_path, identity) as (checkpoints, session), session.graph.as_default():
        for variable in v1.global_variables():
            if variable.op.name in (MEAN, DEVIATION):
                variable.load(np.full(26, 3, np.float32), session)
        prefix = checkpoints.save(session, Kind.NEWEST, STATE)
    with session_of(tmp_path, identity, seed=4, drop_source_layers=6) as (checkpoints, session):
        before = values(session)
        checkpoints.initialize_from(session, prefix)
        after = values(session)
    assert not before[DEVIATION].any() and (after[MEAN] == 3).all() and (after[DEVIATION] == 3).all()


def test_a_checkpoint_of_deepspeech_0_9_has_no_statistics_of_features(tmp_path: Path) -> None:
    write_foreign_checkpoint(tmp_path / "best_dev-100", {})
    identity = replace(IDENTITY, features=FeatureOptions(normalization="global"))
    message = "trained with --normalize_features=none, but this run has --normalize_features=global"
    with session_of(tmp_path, identity) as (checkpoints, session), pytest.raises(CheckpointError, match=message):
        checkpoints.restore(session, tmp_path / "best_dev-100")


def test_a_damaged_checkpoint_is_an_error(tmp_path: Path) -> None:
    with session_of(tmp_path) as (checkpoints, session):
        prefix = checkpoints.save(session, Kind.NEWEST, STATE)
        data = prefix.with_name(prefix.name + ".data-00000-of-00001")
        data.write_bytes(data.read_bytes()[: data.stat().st_size // 2])
        with pytest.raises(CheckpointError, match="damaged"):
            checkpoints.restore(session, prefix)
        prefix.with_name(prefix.name + ".index").write_bytes(b"no index")
        with pytest.raises(CheckpointError, match="damaged"):
            checkpoints.restore(session, prefix)


def test_a_folder_without_a_checkpoint_is_an_error_that_says_so(tmp_path: Path) -> None:
    with session_of(tmp_path) as (checkpoints, _), pytest.raises(CheckpointError, match="holds no checkpoint"):
        checkpoints.choose("Testing")


def test_a_folder_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with session_of(tmp_path / "file") as (checkpoints, _), pytest.raises(CheckpointError, match="checkpoint_dir"):
        checkpoints.prepare_folder()


def test_a_disk_that_fills_leaves_the_previous_checkpoint_and_no_rubbish(tmp_path: Path) -> None:
    with session_of(tmp_path) as (checkpoints, session):
        earlier = checkpoints.save(session, Kind.NEWEST, STATE)
        before = values(session)
        set_step(session, 7)
        with files_no_larger_than(20_000), pytest.raises(CheckpointError, match=r"train-7: .*cannot be written"):
            checkpoints.save(session, Kind.NEWEST, STATE)
    assert not list(tmp_path.glob("train-7*"))
    with session_of(tmp_path, seed=3) as (checkpoints, session):
        assert checkpoints.find(Kind.NEWEST) == earlier
        assert checkpoints.restore(session, earlier) == STATE
        np.testing.assert_array_equal(values(session)["layer_1/weights"], before["layer_1/weights"])


def test_a_checkpoint_that_cannot_be_written_is_named_although_something_of_it_cannot_be_removed(
    tmp_path: Path,
) -> None:
    (tmp_path / "train-7.copy").mkdir()
    with session_of(tmp_path) as (checkpoints, session):
        set_step(session, 7)
        with files_no_larger_than(20_000), pytest.raises(CheckpointError, match=r"train-7: .*cannot be written"):
            checkpoints.save(session, Kind.NEWEST, STATE)
    assert [path.name for path in tmp_path.glob("train-7*")] == ["train-7.copy"]


def test_lists_of_recordings_stay_whose_names_are_like_those_of_checkpoints(tmp_path: Path) -> None:
    lists = ["train-100.json", "train-clean.json", "train-7.csv"]
    for name in lists:
        (tmp_path / name).write_text('{"audio_filepath": "a.wav", "text": "a"}')
    with session_of(tmp_path, max_to_keep=1) as (checkpoints, session):
        checkpoints.save(session, Kind.NEWEST, STATE)
        set_step(session, 7)
        with files_no_larger_than(20_000), pytest.raises(CheckpointError, match="cannot be written"):
            checkpoints.save(session, Kind.NEWEST, STATE)
    assert all((tmp_path / name).exists() for name in lists)


def test_a_checkpoint_of_deepspeech_0_9_loads_without_description_and_optimizer_state(tmp_path: Path) -> None:
    weights = write_foreign_checkpoint(tmp_path / "best_dev-100", {})
    (tmp_path / "best_dev_checkpoint").write_text('model_checkpoint_path: "best_dev-100"\n')
    with session_of(tmp_path) as (checkpoints, session):
        assert checkpoints.restore(session, checkpoints.choose("Testing")) is None
        loaded = values(session)
    for name, value in weights.items():
        np.testing.assert_array_equal(loaded[name], value)
    assert not loaded["layer_1/weights/Adam"].any()


def test_a_checkpoint_of_the_first_generation_loads_by_its_names(tmp_path: Path) -> None:
    names = {
        f"layer_{n}/{part}": f"{letter}{n}"
        for n in (1, 2, 3, 5, 6)
        for part, letter in (("weights", "h"), ("bias", "b"))
    }
    names |= {f"{LSTM_NAME}/{part}": f"lstm_fused_cell/{part}" for part in ("kernel", "bias")}
    weights = write_foreign_checkpoint(tmp_path / "model.ckpt-5", names)
    (tmp_path / "checkpoint").write_text('model_checkpoint_path: "model.ckpt-5"\n')
    with session_of(tmp_path, trains=False) as (checkpoints, session):
        assert checkpoints.find(Kind.NEWEST) == tmp_path / "model.ckpt-5"
        checkpoints.restore(session, tmp_path / "model.ckpt-5")
        loaded = values(session)
    # That generation's cell added a forget bias of 1; ours has it in the variable.
    weights[f"{LSTM_NAME}/bias"] = weights[f"{LSTM_NAME}/bias"] + np.repeat(np.array([0, 0, 1, 0], np.float32), 12)
    for name, value in weights.items():
        np.testing.assert_allclose(loaded[name], value, atol=1e-6)


def test_a_description_of_another_format_is_refused(tmp_path: Path) -> None:
    with session_of(tmp_path) as (checkpoints, session):
        prefix = checkpoints.save(session, Kind.NEWEST, STATE)
        prefix.with_name(prefix.name + ".json").write_text(json.dumps({"format": 99}))
        with pytest.raises(CheckpointError, match="newer version"):
            checkpoints.restore(session, prefix)


def write_foreign_checkpoint(prefix: Path, renamed: dict[str, str]) -> dict[str, Any]:
    """Write random weights of the model under other names, as another program would; return them by our names."""
    with session_of(prefix.parent, trains=False, seed=9) as (_, session):
        weights = values(session)
    weights = {
        name: np.random.default_rng(4).normal(size=value.shape).astype(value.dtype) for name, value in weights.items()
    }
    with tf.Graph().as_default(), v1.Session() as session:
        variables = [v1.get_variable(renamed.get(name, name), initializer=value) for name, value in weights.items()]
        session.run(v1.global_variables_initializer())
        v1.train.Saver(variables).save(session, str(prefix), write_meta_graph=False, write_state=False)
    return weights


@pytest.mark.parametrize("of_deepspeech", [True, False])
def test_it_is_said_that_a_description_is_missing_where_deepspeech_has_not_written_the_checkpoint(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, of_deepspeech: bool
) -> None:
    with session_of(tmp_path) as (checkpoints, session):
        prefix = checkpoints.save(session, Kind.NEWEST, STATE)
        prefix.with_name("train-0.json").unlink()
        if of_deepspeech:
            prefix.with_name("train-0.meta").write_bytes(b"its graph")
        assert checkpoints.restore(session, prefix) is None
    said = [record.getMessage() for record in caplog.records]
    assert len(said) == (not of_deepspeech)
    assert of_deepspeech or said[0].startswith(f"{prefix}: train-0.json, with its alphabet and training")
