"""The checkpoints that make room for newer ones."""

import os
from pathlib import Path
from typing import Any

import pytest
from checkpoint_sessions import STATE, save, session_of, set_step, steps
from files_of_checkpoints import truncate

from deepspeech.checkpoints.folder import Kind
from deepspeech.checkpoints.recovery import find_intact


def test_checkpoints_of_another_folder_that_the_index_file_lists_are_not_removed(tmp_path: Path) -> None:
    before, now = tmp_path / "before", tmp_path / "now"
    save(before, 4, 5)
    save(now, 10)
    listed = "".join(f'all_model_checkpoint_paths: "{before}/train-{step}"\n' for step in (4, 5))
    (now / "checkpoint").write_text(f'model_checkpoint_path: "{now}/train-10"\n{listed}')
    save(now, 11, keep=1)
    assert (steps(before), steps(now)) == ([4, 5], [11])


def test_after_a_lost_index_file_only_the_oldest_make_room(tmp_path: Path) -> None:
    save(tmp_path, 1, 2, 3, keep=4)
    assert steps(tmp_path) == [1, 2, 3]
    (tmp_path / "checkpoint").unlink()
    save(tmp_path, 4, keep=3)
    assert steps(tmp_path) == [2, 3, 4]
    save(tmp_path, 5, keep=3)
    assert steps(tmp_path) == [3, 4, 5]


def test_damaged_checkpoints_make_room_before_intact_ones(tmp_path: Path) -> None:
    save(tmp_path, 1, 2, 8)
    truncate(tmp_path / "train-8.index")
    with session_of(tmp_path, max_to_keep=3) as (checkpoints, session):
        assert checkpoints.find_newest() == tmp_path / "train-2"
        set_step(session, 3)
        checkpoints.save(session, Kind.NEWEST, STATE)
        assert steps(tmp_path) == [1, 2, 3]
        for step in (8, 9):  # 8 is written anew, so it is intact
            set_step(session, step)
            checkpoints.save(session, Kind.NEWEST, STATE)
    assert steps(tmp_path) == [3, 8, 9]
    assert find_intact(tmp_path, Kind.NEWEST, set()) == tmp_path / "train-9"


def test_a_save_succeeds_although_files_that_make_room_cannot_be_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    save(tmp_path, 1, 2, keep=2)
    (tmp_path / "train-1.index").unlink()
    (tmp_path / "train-1.data-00000-of-00001").unlink()
    unlink = Path.unlink

    def refuse_old(path: Path, **options: Any) -> None:
        if path.name in ("train-1.json", "train-2.index"):
            raise PermissionError(13, os.strerror(13), str(path))
        unlink(path, **options)

    monkeypatch.setattr(Path, "unlink", refuse_old)
    save(tmp_path, 3, keep=1)
    refused = [message for message in caplog.messages if "cannot be removed (Permission denied)" in message]
    assert {Path(message.partition(":")[0]).name for message in refused} >= {"train-2", "train-1.json"}
    assert find_intact(tmp_path, Kind.NEWEST, set()) == tmp_path / "train-3"
