import json
import logging
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from checkpoint_sessions import STATE, save, session_of, set_step, steps
from files_of_checkpoints import DAMAGES, change_the_epoch, flip_a_bit, remove, truncate

from deepspeech.checkpoints.folder import Kind
from deepspeech.checkpoints.recovery import find_intact, progress_of
from deepspeech.errors import CheckpointError
from deepspeech.schedule.state import TrainingState

LOG = "deepspeech.checkpoints"


def ours(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.name.startswith(LOG)]


def with_loss(loss: float) -> TrainingState:
    return replace(STATE, dev_losses=(loss,))


def find_newest(folder: Path) -> Path | None:
    with session_of(folder) as (checkpoints, session):
        found = checkpoints.find_newest()
        if found is not None:
            checkpoints.restore(session, found)
        return found


def without_description_digests(folder: Path, step: int) -> None:
    path = folder / f"train-{step}.json"
    description = json.loads(path.read_text())
    path.write_text(json.dumps({name: description[name] for name in description if name not in ("files", "digest")}))


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the checkpoints train-9 and train-10."""
    folder = tmp_path_factory.mktemp("saved")
    save(folder, 9, 10)
    return folder


@pytest.mark.parametrize("lose", DAMAGES)
def test_a_lost_index_file_is_replaced_by_what_lies_in_the_folder(
    saved: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture, lose: Callable[[Path], None]
) -> None:
    folder = shutil.copytree(saved, tmp_path / "copy")
    lose(folder / "checkpoint")
    with caplog.at_level(logging.WARNING, LOG):
        assert find_intact(folder, Kind.NEWEST, set()) == folder / "train-10"
    (message,) = ours(caplog)
    assert message.startswith(f"{folder}: checkpoint is {'missing' if lose is remove else 'damaged'}; train-10 is ")


def test_the_index_file_of_a_folder_that_was_moved_names_the_checkpoints_in_it(
    saved: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder = shutil.copytree(saved, tmp_path / "copy")
    before = tmp_path / "before"
    listed = "".join(f'all_model_checkpoint_paths: "{before}/train-{step}"\n' for step in (10, 9))
    (folder / "checkpoint").write_text(f'model_checkpoint_path: "{before}/train-9"\n{listed}')
    with caplog.at_level(logging.WARNING, LOG):
        assert find_intact(folder, Kind.NEWEST, set()) == folder / "train-9"
    assert not ours(caplog)


@pytest.mark.parametrize("described", [True, False])
@pytest.mark.parametrize("file", ["train-10.data-00000-of-00001", "train-10.index", "train-10.json"])
@pytest.mark.parametrize("harm", [*DAMAGES, flip_a_bit])
def test_an_older_checkpoint_is_taken_where_the_newest_is_damaged_and_the_file_is_named(
    saved: Path,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    harm: Callable[[Path], None],
    file: str,
    described: bool,
) -> None:
    folder = shutil.copytree(saved, tmp_path / "copy")
    if not described:
        without_description_digests(folder, 10)
    if file == "train-10.json" and harm is flip_a_bit:
        harm = change_the_epoch
        if not described:
            pytest.skip("a description without a digest does not tell")
    harm(folder / file)
    with caplog.at_level(logging.WARNING, LOG):
        found = find_intact(folder, Kind.NEWEST, set())
    assert found == folder / "train-9"
    (message,) = ours(caplog)
    assert file in message
    assert message.endswith("; train-9 is the newest intact train checkpoint")


def test_a_checkpoint_of_an_earlier_version_has_no_digests_and_is_taken(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    save(tmp_path, 3)
    without_description_digests(tmp_path, 3)
    with caplog.at_level(logging.WARNING, LOG):
        assert find_newest(tmp_path) == tmp_path / "train-3"
    assert not ours(caplog)


def test_a_description_of_another_step_is_damaged(
    saved: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder = shutil.copytree(saved, tmp_path / "copy")
    without_description_digests(folder, 9)
    shutil.copy(folder / "train-9.json", folder / "train-10.json")
    assert find_intact(folder, Kind.NEWEST, set()) == folder / "train-9"
    assert "train-10.json is of step 9" in caplog.text


def test_an_index_file_that_was_lost_is_written_anew(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    save(tmp_path, 3)
    (tmp_path / "checkpoint").unlink()
    with caplog.at_level(logging.WARNING, LOG), session_of(tmp_path) as (checkpoints, _):
        for _ in range(2):
            assert checkpoints.find_newest() == tmp_path / "train-3"
    assert len(ours(caplog)) == 1


@pytest.mark.parametrize("with_index", [True, False])
def test_a_best_checkpoint_alone_is_gone_on_from(tmp_path: Path, with_index: bool) -> None:
    save(tmp_path, 4, kind=Kind.BEST)
    if not with_index:
        (tmp_path / "best_dev_checkpoint").unlink()
    assert find_newest(tmp_path) == tmp_path / "best_dev-4"


def test_a_best_checkpoint_that_was_saved_after_the_newest_is_gone_on_from(tmp_path: Path) -> None:
    save(tmp_path, 3, 7)
    save(tmp_path, 5, kind=Kind.BEST)
    assert find_newest(tmp_path) == tmp_path / "train-7"
    truncate(tmp_path / "train-7.index")
    assert find_newest(tmp_path) == tmp_path / "best_dev-5"
    (tmp_path / "best_dev-5.json").unlink()
    assert find_newest(tmp_path) == tmp_path / "train-3"


def test_of_several_best_checkpoints_the_last_is_gone_on_from_though_another_is_better(tmp_path: Path) -> None:
    save(tmp_path, 9)
    with session_of(tmp_path, averaged=3) as (checkpoints, session):
        for step, loss in ((10, 2.0), (20, 3.0), (30, 4.0)):
            set_step(session, step)
            checkpoints.save(session, Kind.BEST, with_loss(loss))
        assert checkpoints.find(Kind.BEST) == tmp_path / "best_dev-10"
    assert find_newest(tmp_path) == tmp_path / "best_dev-30"
    flip_a_bit(tmp_path / "best_dev-30.data-00000-of-00001")
    assert find_newest(tmp_path) == tmp_path / "best_dev-20"
    save(tmp_path, 25)
    assert find_newest(tmp_path) == tmp_path / "train-25"
    save(tmp_path, 25, kind=Kind.BEST)
    assert find_newest(tmp_path) == tmp_path / "train-25"


def test_a_best_checkpoint_whose_save_was_killed_before_it_was_listed_is_the_best_once_it_is_gone_on_from(
    tmp_path: Path,
) -> None:
    save(tmp_path, 9)
    save(tmp_path, 10, kind=Kind.BEST, state=with_loss(3.0))
    index = (tmp_path / "best_dev_checkpoint").read_bytes()
    shutil.copytree(tmp_path, tmp_path / "before")
    save(tmp_path, 20, kind=Kind.BEST, state=with_loss(2.0))
    for path in (tmp_path / "before").glob("best_dev-10.*"):
        path.rename(tmp_path / path.name)
    (tmp_path / "best_dev_checkpoint").write_bytes(index)
    with session_of(tmp_path) as (checkpoints, _):
        assert checkpoints.find_newest() == tmp_path / "best_dev-20"
        assert checkpoints.find(Kind.BEST) == tmp_path / "best_dev-20"
        assert checkpoints.best_figure(STATE) == 2.0
    assert steps(tmp_path, "best_dev") == [20]


def test_where_all_of_training_is_damaged_the_best_is_gone_on_from(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    save(tmp_path, 4, kind=Kind.BEST)
    save(tmp_path, 6)
    truncate(tmp_path / "train-6.data-00000-of-00001")
    with caplog.at_level(logging.WARNING, LOG):
        assert find_newest(tmp_path) == tmp_path / "best_dev-4"
    (message,) = ours(caplog)
    assert "train-6.data-00000-of-00001 is damaged; best_dev-4 is intact" in message


@pytest.mark.parametrize("kind", Kind)
def test_where_nothing_is_intact_it_refuses_and_says_what_begins_anew(tmp_path: Path, kind: Kind) -> None:
    save(tmp_path, 4, kind=kind)
    (tmp_path / kind.index_file).unlink()
    truncate(tmp_path / f"{kind.prefix}-4.index")
    with pytest.raises(CheckpointError) as caught:
        find_newest(tmp_path)
    message = str(caught.value)
    assert message.startswith(f"--checkpoint_dir={tmp_path}: ")
    assert f"{kind.prefix}-4.index is damaged" in message
    assert "another --checkpoint_dir" in message
    assert f"removing {kind.prefix}-4.*" in message
    assert "\n" not in message


def test_a_first_save_that_was_killed_before_its_end_is_no_checkpoint(tmp_path: Path) -> None:
    save(tmp_path, 4)
    description = json.loads((tmp_path / "train-4.json").read_text())
    (tmp_path / "train-4.json").write_text(json.dumps({**description, "unfinished": True, "files": None}))
    (tmp_path / "train-4.index").unlink()
    (tmp_path / "checkpoint").unlink()
    assert find_newest(tmp_path) is None


def test_a_failed_save_leaves_an_intact_checkpoint_of_the_same_step(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save(tmp_path, 4)
    (tmp_path / "checkpoint").unlink()

    def fail(*_arguments: object, **_named: object) -> None:
        raise OSError(28, "No space left on device")

    with session_of(tmp_path) as (checkpoints, session):
        set_step(session, 4)
        monkeypatch.setattr("tensorflow.compat.v1.train.Saver.save", fail)
        with pytest.raises(CheckpointError, match="No space left"):
            checkpoints.save(session, Kind.NEWEST, replace(STATE, epoch=STATE.epoch + 1))
    assert find_newest(tmp_path) == tmp_path / "train-4"
    assert progress_of(tmp_path / "train-4") == STATE


def test_the_loss_of_the_best_is_that_of_its_description(tmp_path: Path) -> None:
    save(tmp_path, 4, kind=Kind.BEST, state=with_loss(1.5))
    (tmp_path / "best_dev_checkpoint").unlink()
    with session_of(tmp_path) as (checkpoints, _):
        assert checkpoints.best_figure(STATE) == 1.5
    truncate(tmp_path / "best_dev-4.index")
    with session_of(tmp_path) as (checkpoints, session):
        assert checkpoints.best_figure(STATE) == float("inf")
        set_step(session, 6)
        checkpoints.save(session, Kind.BEST, with_loss(2.5))
    assert steps(tmp_path, "best_dev") == [6]


def test_of_several_best_checkpoints_that_of_the_lowest_loss_is_taken(tmp_path: Path) -> None:
    save(tmp_path, 4, kind=Kind.BEST, state=with_loss(1.5))
    save(tmp_path, 6, kind=Kind.BEST, state=with_loss(2.5))  # keeps the better one
    (tmp_path / "best_dev_checkpoint").unlink()
    with session_of(tmp_path) as (checkpoints, _):
        assert checkpoints.choose("Testing") == tmp_path / "best_dev-4"
    save(tmp_path, 7, kind=Kind.BEST, state=with_loss(1.0))
    assert steps(tmp_path, "best_dev") == [7]


def test_of_best_checkpoints_of_several_validation_sets_the_newest_is_taken(tmp_path: Path) -> None:
    for step, (loss, dev_set) in enumerate([(2.0, "a set"), (1.0, "another"), (3.0, "a set")], start=4):
        save(tmp_path, step, kind=Kind.BEST, state=replace(with_loss(loss), dev_set=dev_set))
    (tmp_path / "best_dev_checkpoint").unlink()
    with session_of(tmp_path) as (checkpoints, _):
        assert checkpoints.choose("Testing") == tmp_path / "best_dev-6"


def test_a_damaged_best_is_said_and_the_newest_tested(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    save(tmp_path, 4, kind=Kind.BEST)
    save(tmp_path, 6)
    flip_a_bit(tmp_path / "best_dev-4.data-00000-of-00001")
    with session_of(tmp_path) as (checkpoints, _), caplog.at_level(logging.WARNING, LOG):
        assert checkpoints.choose("Testing") == tmp_path / "train-6"
    assert "best_dev-4.data-00000-of-00001 is damaged" in caplog.text
