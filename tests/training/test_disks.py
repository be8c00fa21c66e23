"""Files that cannot be written are reported in one line, if possible before a run begins."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from corpora import write_alphabet
from program import Finished, Program, Trained


def line_of(finished: Finished) -> str:
    """Return the only line of a failure, which must not mention TensorFlow's graph."""
    assert finished.code == 1
    assert "Traceback" not in finished.stderr
    assert "Graph execution error" not in finished.stderr
    warnings = [line for line in finished.stderr.splitlines() if line.startswith("W ")]
    assert len(set(warnings)) == len(warnings)
    return finished.error


def test_a_disk_that_is_full_when_a_checkpoint_is_saved(program: Program, small_disk: Path) -> None:
    finished = program.run(*program.training(epoch=1, checkpoint_dir=small_disk), "--n_hidden=200")
    line = line_of(finished)
    assert line.startswith(
        f"deepspeech: {small_disk}/train-6: checkpoint cannot be written (No space left on device); "
    )
    assert not list(small_disk.glob("train-6*"))


def test_a_folder_that_can_only_be_read_is_refused_for_training_and_tested_from(
    trained: Trained, small_disk: Path
) -> None:
    program = Program(trained.program.corpus, small_disk.parent)
    shutil.copytree(trained.program.checkpoints, small_disk / "there")
    subprocess.run(["mount", "-o", "remount,ro", small_disk], check=True)
    where = f"--checkpoint_dir={small_disk / 'there'}"
    line = line_of(program.run(*program.training(epoch=90), where))
    reason = f"{small_disk / 'there'} cannot be written to (Read-only file system)"
    assert line == f"deepspeech: {where}: {reason}; choose another folder"
    tested = program.run(*program.model(), *program.test_files(), where)
    assert tested.code == 0, tested.stderr
    assert [line for line in tested.stderr.splitlines() if line.startswith("W ")] == [
        f"W {small_disk / 'there'}: the model's figures cannot be saved (Read-only file system)"
    ]


def test_training_goes_on_without_summaries_where_their_disk_is_full(program: Program, small_disk: Path) -> None:
    (small_disk / "filling").write_bytes(bytes((4 << 20) - 8192))
    finished = program.run(*program.training(epoch=2, summary_dir=small_disk), "--summary_secs=1")
    assert finished.code == 0, finished.stderr
    said = (
        f"W --summary_dir={small_disk}: cannot be written (No space left on device); "
        "training continues without summaries"
    )
    assert finished.stderr.count(said) == 1
    assert [line for line in finished.stderr.splitlines() if not line.startswith(("I ", "W "))] == []


def test_what_cannot_be_written_is_refused_before_the_corpora_are_checked(program: Program, tmp_path: Path) -> None:
    (tmp_path / "occupied").write_text("")
    flags = {
        "--checkpoint_dir": tmp_path / "occupied" / "checkpoints",
        "--summary_dir": tmp_path / "occupied",
        "--train_cached_features_path": tmp_path / "occupied" / "train.h5",
        "--export_dir": tmp_path / "occupied" / "exported",
    }
    for flag, path in flags.items():
        finished = program.run(*program.training(epoch=1), "--summary_secs=1", f"{flag}={path}")
        assert line_of(finished).startswith(f"deepspeech: {flag}={path}: {tmp_path / 'occupied'} is not a folder; ")
        assert "Checking" not in finished.stderr
        assert not program.checkpoints.exists()


def test_flags_of_another_model_are_refused_before_the_corpora_are_checked(trained: Trained, tmp_path: Path) -> None:
    program = trained.program
    alphabet = write_alphabet(tmp_path / "alphabet.txt", " abcdf")
    told = {
        "--n_hidden=32": "another --n_hidden than 32: give --n_hidden=48; or use another --checkpoint_dir",
        f"--alphabet_config_path={alphabet}": "trained with another alphabet, where label 5 is 'e' (here 'f')",
        "--relu_clip=5": "trained with --relu_clip=20.0, but this run has --relu_clip=5.0",
        "--feature_win_len=64": "trained with --feature_win_len=32, but this run has --feature_win_len=64",
    }
    for flag, words in told.items():
        finished = program.run(*program.training(epoch=90), flag)
        assert words in line_of(finished)
        assert "Checking" not in finished.stderr


def test_a_checkpoint_without_a_description_is_compared_before_features_are_extracted(
    trained: Trained, tmp_path: Path
) -> None:
    program = Program(trained.program.corpus, tmp_path)
    shutil.copytree(trained.program.checkpoints, program.checkpoints)
    for path in program.checkpoints.glob("*.json"):
        path.unlink()
    cache = tmp_path / "train.h5"
    finished = program.run(*program.training(epoch=90), "--n_hidden=32", f"--train_cached_features_path={cache}")
    assert "give --n_hidden=48" in line_of(finished)
    assert not cache.exists()
