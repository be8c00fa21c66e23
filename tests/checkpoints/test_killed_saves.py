"""What a run finds if the previous one was killed between two changes of its folder, or had a full disk."""

import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from checkpoint_sessions import STATE, session_of, set_step, values
from files_of_checkpoints import truncate
from running import files_no_larger_than

from deepspeech.checkpoints.folder import Kind, checkpoints_in, read_index
from deepspeech.checkpoints.integrity import damage, step_of
from deepspeech.checkpoints.store import Checkpoints
from deepspeech.errors import CheckpointError

v1 = tf.compat.v1

SAVES = ((10, Kind.BEST, 3.0), (14, Kind.NEWEST, 3.0), (20, Kind.BEST, 2.0), (24, Kind.NEWEST, 2.0))
"""The step, the kind, and the loss of the last validation of each save of a run."""


class KilledError(BaseException):
    """Ends a save as a signal would."""


@pytest.mark.skipif(sys.version_info < (3, 11), reason="pathlib of Python 3.10 keeps os.rename from its import")
def test_a_run_that_was_killed_at_any_change_of_a_file_goes_on_to_the_same_checkpoints(tmp_path: Path) -> None:
    folder = tmp_path / "checkpoints"
    with session_of(folder, max_to_keep=1) as (checkpoints, session):
        with changes_of_files() as made:
            train(checkpoints, session)
        wanted = listed(folder)
        assert made.count > 12
        for number in range(made.count):
            shutil.rmtree(folder)
            with changes_of_files(number), pytest.raises(KilledError):
                train(checkpoints, session)
            train(checkpoints, session)
            killed = f"killed before change {number} of {made.count}"
            assert listed(folder) == wanted, killed
            best = [prefix.name for prefix in checkpoints_in(folder, Kind.BEST)]
            assert best == wanted[Kind.BEST], f"one stays that is not listed: {killed}"


def test_a_checkpoint_whose_second_save_was_killed_is_whole_with_its_progress_before_or_after_it(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "checkpoints"
    later = replace(STATE, dev_losses=(3.0, 2.0, 1.0), plateau_reductions=1)
    with session_of(folder, max_to_keep=1) as (checkpoints, session):

        def save_twice(last: int | None = None) -> int:
            shutil.rmtree(folder, ignore_errors=True)
            set_weights(session, 1.0)
            checkpoints.save(session, Kind.NEWEST, STATE)
            set_weights(session, 2.0)
            with changes_of_files(last) as made, nullcontext() if last is None else pytest.raises(KilledError):
                checkpoints.save(session, Kind.NEWEST, later)
            return made.count

        for number in range(save_twice()):
            save_twice(number)
            newest = checkpoints.find_newest()
            assert newest is not None
            assert checkpoints.restore(session, newest) in (STATE, later)


def test_a_best_checkpoint_that_is_damaged_since_its_save_was_killed_is_not_listed(tmp_path: Path) -> None:
    with session_of(tmp_path) as (checkpoints, session):
        for step, kind, loss in SAVES[:2]:
            set_step(session, step)
            checkpoints.save(session, kind, replace(STATE, dev_losses=(loss,)))
        before = listed(tmp_path)
        index = (tmp_path / Kind.BEST.index_file).read_bytes()
        shutil.copytree(tmp_path, tmp_path / "before")
        set_step(session, 12)
        checkpoints.save(session, Kind.BEST, replace(STATE, dev_losses=(1.0,)))
        for path in (tmp_path / "before").glob("best_dev-10.*"):
            path.rename(tmp_path / path.name)
        (tmp_path / Kind.BEST.index_file).write_bytes(index)
        truncate(tmp_path / "best_dev-12.index")
        assert checkpoints.find_newest() == tmp_path / "train-14"
    assert listed(tmp_path) == before


def test_a_checkpoint_that_cannot_be_written_again_with_other_weights_keeps_its_weights_and_its_progress(
    tmp_path: Path,
) -> None:
    with session_of(tmp_path) as (checkpoints, session):
        checkpoints.save(session, Kind.NEWEST, STATE)
        before = values(session)
        with session.graph.as_default():  # as training does when it returns to the best weights
            session.run([v1.assign(each, 2 * each) for each in v1.trainable_variables()])
        with files_no_larger_than(20_000), pytest.raises(CheckpointError, match="File too large"):
            checkpoints.save(session, Kind.NEWEST, replace(STATE, plateau_reductions=1))
        newest = checkpoints.find_newest()
        assert newest is not None
        assert checkpoints.restore(session, newest) == STATE
        found = values(session)
    assert all(np.array_equal(before[name], found[name]) for name in before)


def set_weights(session: Any, value: float) -> None:
    with session.graph.as_default():
        session.run([v1.assign(each, tf.fill(each.shape, value)) for each in v1.trainable_variables()])


def train(checkpoints: Checkpoints, session: Any) -> None:
    """Do the saves after the checkpoint to resume from."""
    checkpoints.prepare_folder()
    newest = checkpoints.find_newest()
    done = -1 if newest is None else step_of(newest) or 0
    for step, kind, loss in SAVES:
        if step > done:
            set_step(session, step)
            checkpoints.save(session, kind, replace(STATE, dev_losses=(loss,)))


def listed(folder: Path) -> dict[Kind, list[str]]:
    """Return the checkpoints in the index files of a folder; each must be intact."""
    prefixes = {kind: read_index(folder, kind).listed for kind in Kind}
    assert not any(damage(prefix) for of_kind in prefixes.values() for prefix in of_kind)
    return {kind: [prefix.name for prefix in of_kind] for kind, of_kind in prefixes.items()}


class Changes:
    """Counts files that are renamed or removed, and raises KilledError in place of change number `last`."""

    def __init__(self, last: int | None) -> None:
        self.count = 0
        self._last = last

    def counted(self, change: Callable[..., Any]) -> Callable[..., Any]:
        def counted_change(path: Any, *arguments: Any, **named: Any) -> Any:
            if Path(path).exists():  # else nothing changes
                if self.count == self._last:
                    raise KilledError
                self.count += 1
            return change(path, *arguments, **named)

        return counted_change


@contextmanager
def changes_of_files(last: int | None = None) -> Iterator[Changes]:
    """Count the changes of files within the block, which ends before change number `last`."""
    changes = Changes(last)
    with pytest.MonkeyPatch.context() as patched:
        for name in ("rename", "replace", "unlink"):
            patched.setattr(os, name, changes.counted(getattr(os, name)))
        yield changes
