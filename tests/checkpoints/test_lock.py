import fcntl
import os
import subprocess
import sys
from pathlib import Path

import pytest
from running import files_no_larger_than

from deepspeech.checkpoints.folder import remove_leftovers
from deepspeech.checkpoints.lock import LOCK_FILE, locked_for_training
from deepspeech.errors import CheckpointError

HOLDER = """
import sys
from pathlib import Path
from deepspeech.checkpoints.lock import locked_for_training
with locked_for_training(Path(sys.argv[1])):
    print("locked", flush=True)
    sys.stdin.read()
"""


def start_holder(folder: Path) -> "subprocess.Popen[str]":
    command = [sys.executable, "-c", HOLDER, str(folder)]
    holder = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert holder.stdout is not None
    assert holder.stdout.readline() == "locked\n"
    return holder


def test_a_second_run_is_refused_by_whatever_name_it_knows_the_folder_until_the_first_dies(tmp_path: Path) -> None:
    folder, link = tmp_path / "new" / "checkpoints", tmp_path / "link"
    link.symlink_to(folder)
    holder = start_holder(folder)
    try:
        for name in (folder, link, folder / ".." / "checkpoints"):
            with pytest.raises(CheckpointError) as caught, locked_for_training(name):
                pass
            assert str(caught.value).startswith(f"--checkpoint_dir={name}: process {holder.pid} on ")
            assert "is training into it" in str(caught.value)
    finally:
        holder.kill()
        holder.communicate()
    assert (folder / LOCK_FILE).exists()
    with locked_for_training(link), pytest.raises(CheckpointError) as caught, locked_for_training(folder):
        pass
    assert str(caught.value).startswith(f"--checkpoint_dir={folder}: process {os.getpid()} on ")


def test_a_file_system_without_locks_is_warned_of_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_arguments: object) -> None:
        raise OSError(95, os.strerror(95))

    monkeypatch.setattr(fcntl, "flock", fail)
    with locked_for_training(tmp_path):
        pass
    (message,) = caplog.messages
    assert f"--checkpoint_dir={tmp_path}: its file system has no locks" in message


def test_on_a_full_disk_the_error_of_the_block_is_told(tmp_path: Path) -> None:
    full = files_no_larger_than(0)
    with full, pytest.raises(CheckpointError, match="cannot be written"), locked_for_training(tmp_path):
        raise CheckpointError("the record of the run cannot be written")


def test_leftovers_of_killed_saves_are_removed_and_nothing_else(tmp_path: Path) -> None:
    kept = ["train-5.index", "train-5.data-00000-of-00001", "notes.tempstate.md", "model_temp.txt", ".lock", "a.part-1"]
    left = [
        "train-7.index.tempstate1234",
        ".checkpoint.part-77",
        ".writable-77",
        "train-7_temp_ab12/part-00000-of-00001.index",
    ]
    for name in (*kept, *left, "graph/.events.out.tfevents.graph.part-5", "export_temp/model.pb"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(b"1")
    remove_leftovers(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([*kept, "graph", "export_temp"])
    assert not list((tmp_path / "graph").iterdir())
