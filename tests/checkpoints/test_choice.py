"""The choice of the checkpoint to test, transcribe and export, and of the one that training starts from."""

import logging
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from checkpoint_sessions import IDENTITY, STATE, session_of, set_step, values
from files_of_checkpoints import flip_a_bit

from deepspeech.checkpoints import store
from deepspeech.checkpoints.choice import choose_to_begin
from deepspeech.checkpoints.completion import record_end_of_run
from deepspeech.checkpoints.flag_check import check_flags
from deepspeech.checkpoints.folder import Kind, files_of
from deepspeech.checkpoints.identity import ModelIdentity
from deepspeech.checkpoints.recovery import progress_of
from deepspeech.checkpoints.sources import open_checkpoint
from deepspeech.checkpoints.weights import of_checkpoint
from deepspeech.checkpoints.weights.beginning import weights_of_checkpoint
from deepspeech.errors import CheckpointError
from deepspeech.options import CheckpointOptions, ModelOptions
from deepspeech.options.checkpoints import AUTOMATIC, LAST
from deepspeech.schedule.jobs import SetName
from deepspeech.schedule.state import Figures, TrainingState
from deepspeech.util.features import FeatureOptions
from deepspeech.util.text import Alphabet

VALIDATED = replace(STATE, history=(Figures(SetName.DEV, 1, 2.0),), dev_set="a")
UNVALIDATED = replace(VALIDATED, epoch=3, validates=False)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with best_dev-4, train-6, and train-8, which was trained without validation."""
    with session_of(tmp_path) as (checkpoints, session):
        for kind, step, state in (
            (Kind.BEST, 4, VALIDATED),
            (Kind.NEWEST, 6, VALIDATED),
            (Kind.NEWEST, 8, UNVALIDATED),
        ):
            set_step(session, step)
            checkpoints.save(session, kind, state)
    return tmp_path


def chosen(folder: Path, wanted: str = AUTOMATIC, *, trained: bool = False) -> str:
    with session_of(folder, wanted=wanted) as (checkpoints, _):
        return checkpoints.choose("Testing", trained=trained).name


def test_the_newest_is_taken_where_training_went_on_without_validation(
    folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO, "deepspeech"):
        assert chosen(folder) == "train-8"
    assert caplog.messages[-1] == (
        f"Testing with the newest checkpoint, {folder / 'train-8'}: training continued without validation after that "
        "of lowest validation loss, best_dev-4, which --checkpoint=best selects"
    )


def test_the_best_the_last_or_one_of_a_name_is_taken_where_the_flag_says_so(
    folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "deepspeech")
    assert chosen(folder, "best") == "best_dev-4"
    assert chosen(folder, "last") == "train-8"
    assert chosen(folder, "train-6") == "train-6"
    assert [message for message in caplog.messages if message.startswith("Testing")] == [
        f"Testing with the checkpoint of lowest validation loss, {folder / 'best_dev-4'}",
        f"Testing with the newest checkpoint, {folder / 'train-8'}",
        f"Testing with the checkpoint that --checkpoint names, {folder / 'train-6'}",
    ]


def test_a_name_that_is_not_there_is_answered_with_those_that_are(folder: Path) -> None:
    with pytest.raises(CheckpointError, match=r"^--checkpoint=train-7: .* there are train-6, train-8, best_dev-4$"):
        chosen(folder, "train-7")
    assert chosen(folder, "train-7", trained=True) == "train-8"
    for name, found in (("best", "best_dev-4"), ("train-6", "train-6")):
        assert chosen(folder, name, trained=True) == found
    for path in folder.glob("best_dev*"):
        path.unlink()
    assert chosen(folder, "best", trained=True) == "train-8"
    with pytest.raises(CheckpointError, match=r"^--checkpoint=best: .* no best checkpoint of a validation"):
        chosen(folder, "best")


@pytest.mark.parametrize("wanted", ["train-6", "last"])
def test_after_training_that_began_in_another_folder_the_flag_still_selects_the_checkpoint_there(
    folder: Path, wanted: str
) -> None:
    for path in files_of(folder / "train-8"):
        path.unlink()
    elsewhere: dict[str, Any] = {"given_directory": folder, "given_load_directory": folder / "base", "wanted": wanted}
    with session_of(folder, **elsewhere) as (checkpoints, _):
        assert checkpoints.choose("Testing", trained=True).name == "best_dev-4"
        assert checkpoints.choose("Testing").name == "train-6"


def test_a_named_checkpoint_that_is_damaged_is_refused(folder: Path) -> None:
    flip_a_bit(folder / "train-6.data-00000-of-00001")
    with pytest.raises(CheckpointError, match=r"train-6\.data-00000-of-00001 is damaged; give another --checkpoint"):
        chosen(folder, "train-6")


def test_training_refuses_a_name_that_is_not_there_before_it_begins(folder: Path) -> None:
    with session_of(folder, wanted="train-7") as (checkpoints, _), pytest.raises(CheckpointError, match="train-7"):
        checkpoints.prepare_folder()


@pytest.mark.parametrize("moment", ["find_sources", "check_identity"])
def test_a_checkpoint_that_training_removes_while_it_is_read_is_named(
    folder: Path, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    function = vars(store)[moment]

    def once_removed(*arguments: Any, **named: Any) -> Any:
        for path in files_of(folder / "best_dev-4"):
            path.unlink()
        return function(*arguments, **named)

    monkeypatch.setattr(store, moment, once_removed)
    with session_of(folder, trains=False) as (checkpoints, session), pytest.raises(CheckpointError) as removed:
        checkpoints.restore(session, folder / "best_dev-4", to_use=True)
    assert str(removed.value) == (
        f"{folder}/best_dev-4: was removed while it was read; if training goes on in its folder, run the same command "
        "again"
    )


def test_weights_of_a_checkpoint_that_training_removes_while_it_is_read_are_no_weights(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def once_removed(prefix: Path) -> Any:
        for path in files_of(prefix):
            path.unlink()
        return open_checkpoint(prefix)

    monkeypatch.setattr(of_checkpoint, "open_checkpoint", once_removed)
    with pytest.raises(CheckpointError, match=r"best_dev-4: was removed while it was read; "):
        of_checkpoint.weights_of_checkpoint_file(folder / "best_dev-4")


def test_a_best_of_another_validation_set_is_not_compared_and_stays(folder: Path) -> None:
    with session_of(folder) as (checkpoints, session):
        assert checkpoints.best_figure(VALIDATED) == 2.0
        assert checkpoints.best_figure(replace(VALIDATED, dev_set="b")) == float("inf")
        set_step(session, 9)
        checkpoints.save(session, Kind.BEST, replace(VALIDATED, dev_losses=(1.0,), dev_set="b"))
        assert checkpoints.find(Kind.BEST) == folder / "best_dev-9"
        assert checkpoints.choose("Testing") == folder / "best_dev-9"  # later than train-8
    assert (folder / "best_dev-4.index").exists()


def test_training_begins_with_the_checkpoint_of_another_folder_that_the_flag_says(folder: Path, tmp_path: Path) -> None:
    def begun_with(wanted: str, unless_wanted: str) -> str:
        options = CheckpointOptions(given_directory=tmp_path / "new", given_load_directory=folder, wanted=wanted)
        return choose_to_begin(options, unless_wanted).name

    assert begun_with(AUTOMATIC, LAST) == "train-8"
    assert begun_with("best", LAST) == "best_dev-4"
    assert begun_with("train-6", AUTOMATIC) == "train-6"
    for path in folder.glob("train-*"):
        path.unlink()
    (folder / "checkpoint").unlink()
    assert begun_with(AUTOMATIC, LAST) == "best_dev-4"
    for path in folder.glob("best_dev*"):
        path.unlink()
    with pytest.raises(CheckpointError, match=r"^--load_checkpoint_dir=.*: holds no checkpoint to start from"):
        begun_with(AUTOMATIC, LAST)


def test_what_is_gone_on_from_but_is_no_newest_checkpoint_of_the_folder_is_known(folder: Path, tmp_path: Path) -> None:
    with session_of(folder) as (checkpoints, session):
        assert not checkpoints.restored_from_elsewhere
        for name, elsewhere in (("best_dev-4", True), ("train-6", False)):
            checkpoints.restore(session, folder / name)
            assert checkpoints.restored_from_elsewhere == elsewhere
    with session_of(tmp_path / "other") as (checkpoints, session):
        checkpoints.restore(session, folder / "train-6")
        assert checkpoints.restored_from_elsewhere


def test_only_weights_are_taken_where_they_begin_a_new_run(folder: Path) -> None:
    other = replace(IDENTITY, alphabet=Alphabet(tuple(" abcdef")))
    with session_of(folder) as (checkpoints, session):
        checkpoints.restore(session, folder / "train-6")
        before = values(session)
    with session_of(folder, other, seed=5, drop_source_layers=1) as (checkpoints, session):
        checkpoints.initialize_from(session, folder / "train-6")
        after = values(session)
    assert after["global_step"] == 0
    assert not after["layer_1/weights/Adam"].any()
    np.testing.assert_array_equal(after["layer_5/weights"], before["layer_5/weights"])
    assert (before["layer_6/weights"].shape, after["layer_6/weights"].shape) == ((12, 7), (12, 8))


def test_weights_of_another_alphabet_other_features_or_another_network_are_refused(folder: Path) -> None:
    for other, drop, named in (
        (replace(IDENTITY, alphabet=Alphabet(tuple(" abxde"))), 0, "another alphabet"),
        (replace(IDENTITY, features=FeatureOptions(feature_type="psf")), 1, "--feature_type"),
        (replace(IDENTITY, model=replace(IDENTITY.model, relu_clip=5.0)), 1, "--relu_clip=20.0"),
    ):
        with session_of(folder, other) as (_, session), session.graph.as_default():
            variables = session.graph.get_collection("variables")
            with pytest.raises(CheckpointError, match=named):
                weights_of_checkpoint(folder / "train-6", variables, other, drop)


def test_a_checkpoint_of_other_features_is_refused_with_advice_for_its_folder(folder: Path) -> None:
    other = replace(IDENTITY, features=FeatureOptions(feature_type="psf"))
    for trained_in, advice in ((folder, "use another --checkpoint_dir"), (folder / "new", "begin without this")):
        told = f"--feature_type=audio_ops.*; give the same value, or {advice}"
        with session_of(trained_in, other) as (checkpoints, session), pytest.raises(CheckpointError, match=told):
            checkpoints.restore(session, folder / "train-6")


def test_flags_are_compared_with_the_checkpoint_to_begin_with_before_it_is_restored(folder: Path) -> None:
    def check(other: ModelIdentity = IDENTITY, load: Path = folder, **flags: Any) -> None:
        new = CheckpointOptions(given_directory=folder.parent / "new", given_load_directory=load, **flags)
        check_flags(new, other, trains=True)

    letters, strangers = (replace(IDENTITY, alphabet=Alphabet(tuple(each))) for each in (" abcdef", "xyz"))
    smaller = replace(IDENTITY, model=ModelOptions(n_hidden=16))
    slower = replace(IDENTITY, features=replace(IDENTITY.features, sample_rate=8000))
    psf = replace(IDENTITY, features=FeatureOptions(feature_type="psf"))
    clipped = replace(IDENTITY, model=replace(IDENTITY.model, relu_clip=5.0))
    check()
    check(letters, drop_source_layers=1)
    check(letters, map_labels=True)
    check(slower, fresh_optimizer=True)
    for other, flags, named in (
        (letters, {}, "train-8: .* another alphabet"),
        (letters, {"fresh_optimizer": True}, "best_dev-4: .* another alphabet"),
        (strangers, {"map_labels": True}, "shares no label"),
        (smaller, {}, "--n_hidden=12"),
        (smaller, {"drop_source_layers": 1, "wanted": "train-6"}, "train-6: .* --n_hidden=12"),
        (slower, {}, "--audio_sample_rate=16000.*; give the same value, or begin without this checkpoint$"),
        (psf, {"fresh_optimizer": True}, "--feature_type=audio_ops.*; give the same value, or begin without this"),
        (clipped, {}, "--relu_clip=20.0.*; give the same value, or begin without this checkpoint$"),
        (IDENTITY, {"wanted": "train-7"}, "--checkpoint=train-7: .* holds no such checkpoint; there are .*train-8"),
    ):
        with pytest.raises(CheckpointError, match=named):
            check(other, **flags)
    with pytest.raises(CheckpointError, match="none: holds no checkpoint to start from"):
        check(load=folder / "none")
    (folder / "model").mkdir()
    (folder / "model/output_graph.pb").touch()
    with pytest.raises(CheckpointError, match=r"start from it with --initialize_from_frozen_model=.*/output_graph.pb$"):
        check(load=folder / "model")
    with session_of(folder / "model") as (checkpoints, _), pytest.raises(CheckpointError, match=r"deepspeech --model "):
        checkpoints.choose("Testing")
    with pytest.raises(
        CheckpointError, match=rf"is a checkpoint; give its folder, {folder}, with --checkpoint=train-6"
    ):
        check(load=folder / "train-6")


def test_weights_of_another_sample_rate_begin_a_new_run_but_do_not_go_on_with_one(folder: Path) -> None:
    other = replace(IDENTITY, features=replace(IDENTITY.features, sample_rate=8000))
    with session_of(folder) as (checkpoints, session):
        checkpoints.restore(session, folder / "train-6")
        before = values(session)
    with session_of(folder, other, seed=5) as (checkpoints, session):
        checkpoints.initialize_from(session, folder / "train-6")
        np.testing.assert_array_equal(values(session)["layer_6/weights"], before["layer_6/weights"])
        with pytest.raises(CheckpointError, match="--audio_sample_rate=16000"):
            checkpoints.restore(session, folder / "train-6")


def test_the_end_of_a_run_is_kept_with_its_newest_checkpoint(folder: Path) -> None:
    with session_of(folder) as (checkpoints, session):
        set_step(session, 9)
        checkpoints.save(session, Kind.NEWEST, replace(STATE, run_ended=False))
    record_end_of_run(folder)
    assert progress_of(folder / "train-9") == replace(STATE, run_ended=True)
    with session_of(folder) as (checkpoints, _):
        assert checkpoints.find(Kind.NEWEST) == folder / "train-9"
    record_end_of_run(folder / "missing")


def test_progress_that_says_nothing_of_validation_leaves_the_best_in_place(folder: Path) -> None:
    with session_of(folder) as (checkpoints, session):
        set_step(session, 9)
        checkpoints.save(session, Kind.NEWEST, TrainingState(epoch=7))
        assert checkpoints.choose("Testing") == folder / "best_dev-4"
    assert chosen(folder, "last", trained=True) == "train-9"
