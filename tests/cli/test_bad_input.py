"""Wrong input leads to one line that says what is wrong, where, and what to do, and to exit code 1."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from corpora import RATE, write_alphabet, write_csv, write_wav
from program import Finished, Program, Trained

SECOND = np.sin(np.arange(RATE) / 10).astype(np.float32) * 0.3


def failed(finished: Finished) -> str:
    """Check that the program failed with exit code 1 and without a traceback; return its error line."""
    assert finished.code == 1
    assert finished.stdout == ""
    assert "Traceback" not in finished.stderr
    assert finished.error.startswith("deepspeech: ")
    return finished.error


def bad_rows(program: Program, csv_file: Path, *flags: str) -> list[str]:
    """Return the lines that list bad rows, below a headline."""
    finished = program.run(*program.training(epoch=1, train_files=csv_file), *flags)
    assert finished.code == 1
    assert not program.checkpoints.exists()
    headline, *rows = [line for line in finished.stderr.splitlines() if not line.startswith(("I ", "W "))]
    assert headline.startswith("deepspeech: ")
    assert "bad row" in headline
    return rows


def test_a_missing_csv(program: Program) -> None:
    error = failed(program.run(*program.training(epoch=1, train_files="no such.csv")))
    assert "no such.csv" in error
    assert "No such file" in error


def test_what_is_wrong_with_a_corpus_is_said_before_tensorflow_is_imported(program: Program) -> None:
    script = "import sys; from deepspeech.cli.train import main; print(main(), 'tensorflow' in sys.modules)"
    arguments = program.training(epoch=1, train_files="no such.csv")
    done = subprocess.run([sys.executable, "-c", script, *arguments], capture_output=True, text=True, timeout=600)
    assert done.stdout.split() == ["1", "False"], done.stderr


def test_a_csv_without_a_column(program: Program, tmp_path: Path) -> None:
    (tmp_path / "bad.csv").write_text("wav_filename,wav_filesize\na.wav,3\n")
    error = failed(program.run(*program.training(epoch=1, train_files=tmp_path / "bad.csv")))
    assert "bad.csv:1: no column transcript" in error


def test_bad_rows_are_all_listed_with_line_and_reason_before_training(program: Program, tmp_path: Path) -> None:
    good = write_wav(tmp_path / "good.wav", SECOND)
    truncated = write_wav(tmp_path / "truncated.wav", SECOND)
    truncated.write_bytes(truncated.read_bytes()[:9000])
    rows = [
        (good, "abc"),
        (tmp_path / "missing.wav", "abc"),
        (truncated, "abc"),
        (write_wav(tmp_path / "empty.wav", SECOND[:0]), "abc"),
        (good, "abxc"),
        (good, "abcde" * 30),
        (good, ""),
    ]
    listed = bad_rows(program, write_csv(tmp_path / "train.csv", rows))
    assert [line.split(": ")[0].rsplit(":")[-1] for line in listed] == ["3", "4", "5", "6", "7", "8"]
    for line, reason in zip(
        listed, ["No such file", "truncated", "no samples", "'x'", "CTC needs 150", "empty transcript"], strict=True
    ):
        assert "train.csv:" in line
        assert reason in line


def test_bad_rows_of_every_set_are_listed_at_once(program: Program, tmp_path: Path) -> None:
    train = write_csv(tmp_path / "train.csv", [(tmp_path / "a.wav", "a")])
    dev = write_csv(tmp_path / "dev.csv", [(tmp_path / "b.wav", "b")])
    finished = program.run(*program.training(epoch=1, validation_step=1, train_files=train, dev_files=dev))
    assert finished.code == 1
    assert "train.csv:2" in finished.stderr
    assert "dev.csv:2" in finished.stderr


def test_bad_rows_are_left_out_when_asked(program: Program, tmp_path: Path) -> None:
    good = write_wav(tmp_path / "good.wav", SECOND)
    csv_file = write_csv(tmp_path / "train.csv", [(good, "abc"), (tmp_path / "missing.wav", "abc")])
    finished = program.run(*program.training(epoch=1, train_files=csv_file), "--skip_bad_rows")
    assert finished.code == 0
    assert "W Skipping 1 bad row" in finished.stderr
    assert "Training of epoch 1" in finished.stderr


def test_an_alphabet_with_a_duplicate_label(program: Program, tmp_path: Path) -> None:
    alphabet = write_alphabet(tmp_path / "alphabet.txt", "abca")
    error = failed(program.run(*program.training(epoch=1, alphabet_config_path=alphabet)))
    assert "alphabet.txt:4" in error
    assert "'a'" in error


def test_a_checkpoint_of_another_n_hidden(trained: Trained) -> None:
    program = trained.program
    error = failed(program.run(*program.training(epoch=90), "--n_hidden=32"))
    assert "layer_1" in error
    assert "48]" in error
    assert "32]" in error
    assert "--n_hidden=48" in error


def test_a_checkpoint_of_another_alphabet(trained: Trained, tmp_path: Path) -> None:
    program = trained.program
    alphabet = write_alphabet(tmp_path / "alphabet.txt", " abcdef")
    error = failed(program.run(*program.training(epoch=90), f"--alphabet_config_path={alphabet}"))
    assert "layer_6" in error
    assert "another alphabet" in error


def test_a_checkpoint_folder_that_cannot_be_written(program: Program, tmp_path: Path) -> None:
    (tmp_path / "occupied").write_text("")
    error = failed(program.run(*program.training(epoch=1), f"--checkpoint_dir={tmp_path / 'occupied'}"))
    assert "--checkpoint_dir" in error


def test_a_language_model_that_is_none(program: Program, tmp_path: Path) -> None:
    (tmp_path / "lm.binary").write_text("no language model")
    error = failed(program.run(*program.training(epoch=1), f"--lm_binary_path={tmp_path / 'lm.binary'}"))
    assert "lm.binary" in error


@pytest.mark.parametrize("content", [b"", b"RIFF", b"not audio at all"])
def test_a_one_shot_file_that_is_no_audio(trained: Trained, tmp_path: Path, content: bytes) -> None:
    (tmp_path / "noise.wav").write_bytes(content)
    error = failed(trained.program.run(*trained.program.model(), f"--one_shot_infer={tmp_path / 'noise.wav'}"))
    assert "noise.wav" in error


def test_one_shot_inference_of_a_folder_names_the_command_for_it(trained: Trained, tmp_path: Path) -> None:
    error = failed(trained.program.run(*trained.program.model(), f"--one_shot_infer={tmp_path}"))
    assert f"--one_shot_infer={tmp_path}: is a folder; name a recording, or export the model, and transcribe" in error


def test_inference_without_a_checkpoint(program: Program, tmp_path: Path) -> None:
    wav = write_wav(tmp_path / "good.wav", SECOND)
    error = failed(program.run(*program.model(), f"--one_shot_infer={wav}"))
    assert "holds no checkpoint; train first, or name its folder with --checkpoint_dir" in error


def test_the_traceback_is_shown_at_debug_level(program: Program) -> None:
    finished = program.run(*program.training(epoch=1, train_files="no such.csv"), "--log_level=0")
    assert finished.code == 1
    assert "Traceback" in finished.stderr


def test_a_name_that_the_encoding_of_the_locale_lacks(tmp_path: Path) -> None:
    corpus = write_csv(tmp_path / "list.csv", [(write_wav(tmp_path / "ملف.wav", SECOND), "a")])
    ascii_only = {**os.environ, "LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}
    command = [sys.executable, "-m", "deepspeech.write_shards", f"{corpus}", f"--to={tmp_path / 'shards'}"]
    finished = subprocess.run(command, env=ascii_only, capture_output=True, text=True, timeout=600)
    named = f"{tmp_path}/\\u0645\\u0644\\u0641.wav"
    lacking = f"ascii, the encoding of this locale, lacks characters of {named}"
    assert finished.returncode == 1
    assert finished.stderr == f"write_shards: error: {lacking}; set PYTHONUTF8=1, or LC_ALL=C.UTF-8\n"
