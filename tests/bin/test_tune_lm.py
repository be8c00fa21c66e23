"""What bin/tune_lm.py cannot work with."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from running import ROOT, assert_fails_with, run_script


@pytest.mark.parametrize("package", ["optuna", "matplotlib", "rapidfuzz"])
def test_a_missing_package_is_named_before_anything_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, package: str
) -> None:
    """The weights of hours of trials would be lost if the drawing failed after them."""
    (tmp_path / "sitecustomize.py").write_text(f"import sys\nsys.modules['{package}'] = None\n")
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}{os.pathsep}{os.environ.get('PYTHONPATH', '')}")
    files = ("--posteriors", tmp_path / "none.npz", "--references", tmp_path / "none.txt", "--lm", tmp_path / "none.lm")
    assert_fails_with(run_script("tune_lm.py", *files, "--out", tmp_path / "out"), f"{package} is missing", "[tune]")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("tune_lm.py", ("--model", "none.pb", "--csv", "none.csv", "--lm", "none.lm", "--out")),
        ("build_lm.py", ("none.txt", "--out")),
        ("augment_samples.py", ("none.wav", "--augment", "volume", "--to")),
    ],
)
def test_a_file_is_refused_as_the_folder_of_results_before_anything_is_read(
    tmp_path: Path, name: str, given: tuple[str, ...]
) -> None:
    (tmp_path / "file").touch()
    refused = run_script(name, *given, tmp_path / "file")
    assert_fails_with(refused, f"{given[-1]}={tmp_path / 'file'}: {tmp_path / 'file'} is not a folder; name another")


def test_an_alphabet_that_is_missing_is_asked_for_by_the_flag_of_the_command(tmp_path: Path) -> None:
    files = ("--posteriors", tmp_path / "none.npz", "--references", tmp_path / "none.txt", "--lm", tmp_path / "none.lm")
    refused = run_script("tune_lm.py", *files, "--output_unit=pinyin", "--out", tmp_path / "out")
    assert_fails_with(refused, "--output_unit=pinyin: needs --alphabet; bin/make_alphabet.py --output_unit=pinyin")


def test_posteriors_that_are_no_probabilities_are_one_line(scorer_file: Path, tmp_path: Path) -> None:
    pytest.importorskip("optuna")
    pytest.importorskip("matplotlib")
    np.savez(tmp_path / "dev.npz", np.full((9, 29), -3.0))
    (tmp_path / "dev.txt").write_text("b\n")
    kept = ("--posteriors", tmp_path / "dev.npz", "--references", tmp_path / "dev.txt")
    refused = run_script("tune_lm.py", *kept, "--lm", scorer_file, "--out", tmp_path / "tuned")
    assert_fails_with(refused, "which is not a probability; give the softmax")


def test_trials_before_an_interruption_are_not_lost(scorer_file: Path, tmp_path: Path) -> None:
    pytest.importorskip("optuna")
    pytest.importorskip("matplotlib")
    np.savez(tmp_path / "dev.npz", np.full((9, 29), 1 / 29))
    (tmp_path / "dev.txt").write_text("b\n")
    kept = ("--posteriors", tmp_path / "dev.npz", "--references", tmp_path / "dev.txt", "--lm", scorer_file)
    flags = (*kept, "--out", tmp_path / "tuned", "--trials=100")
    command = [sys.executable, "-c", INTERRUPTED, ROOT / "bin/tune_lm.py", *flags]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=600)
    assert done.returncode == 128 + signal.SIGINT
    assert "stopped after 2 of 100 trials; these are the best weights so far" in done.stderr
    assert done.stderr.endswith("tune_lm.py: error: interrupted\n")
    assert done.stdout.startswith("--lm_weight ")
    assert len((tmp_path / "tuned/tuning.csv").read_text().splitlines()) == 3
    assert (tmp_path / "tuned/tuning.png").exists()


INTERRUPTED = """
import os, runpy, signal, sys
from deepspeech.decoder import CTCDecoder
decode, calls = CTCDecoder.decode_batch, []
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs begin with it ignored
def interrupted(*arguments):
    calls.append(arguments)
    if len(calls) == 3:
        os.kill(os.getpid(), signal.SIGINT)
    return decode(*arguments)
CTCDecoder.decode_batch = interrupted
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""
"""Runs the script of the first argument; Ctrl-C comes in the third trial."""


def test_a_recording_that_cannot_be_read_is_named_with_its_row(
    graph_file: Path, scorer_file: Path, tmp_path: Path
) -> None:
    pytest.importorskip("optuna")
    pytest.importorskip("matplotlib")
    (tmp_path / "bad.wav").write_bytes(b"RIFF")
    (tmp_path / "dev.csv").write_text("wav_filename,transcript\nbad.wav,a\n")
    flags = ("--csv", tmp_path / "dev.csv", "--lm", scorer_file, "--out", tmp_path / "tuned")
    assert_fails_with(run_script("tune_lm.py", "--model", graph_file, *flags), f"{tmp_path / 'dev.csv'}:2: ")


@pytest.mark.parametrize(
    ("name", "given"),
    [("tune_lm.py", ("--model=a.pb", "--csv=a.csv", "--lm=a.lm")), ("build_lm.py", ("none.txt", "--alphabet=a.txt"))],
)
def test_the_folder_of_results_may_be_called_output(tmp_path: Path, name: str, given: tuple[str, ...]) -> None:
    """Before, this was an abbreviation of --output_unit."""
    (tmp_path / "file").touch()
    assert_fails_with(run_script(name, *given, "--output", tmp_path / "file"), f"--out={tmp_path / 'file'}: ")
