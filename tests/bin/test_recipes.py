"""The run-*.sh recipes: what they say when they cannot run."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from running import ROOT, assert_fails_with

RECIPES = ("run-fsdd.sh", "run-yesno.sh", "run-ldc93s1.sh")


def run_recipe(
    name: str, *arguments: object, folder: Path, python: str = sys.executable
) -> "subprocess.CompletedProcess[str]":
    environment = {**os.environ, "PYTHON": python, "XDG_CACHE_HOME": str(folder / "cache")}
    command = [str(ROOT / "bin" / name), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, cwd=folder, env=environment)


@pytest.mark.parametrize("name", RECIPES)
def test_help_is_the_head_of_the_script_and_starts_nothing(name: str, tmp_path: Path) -> None:
    done = run_recipe(name, "--help", folder=tmp_path, python="/bin/false")
    assert done.returncode == 0
    assert f"bin/{name}" in done.stdout
    assert "TRAINER FLAG" in done.stdout
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", RECIPES)
def test_a_python_without_deepspeech_is_named(name: str, tmp_path: Path) -> None:
    assert_fails_with(run_recipe(name, folder=tmp_path, python="/bin/false"), "/bin/false", "deepspeech", "PYTHON")


def test_an_option_without_its_folder_is_named(tmp_path: Path) -> None:
    assert_fails_with(run_recipe("run-yesno.sh", "--from", folder=tmp_path), "--from needs a folder")
    assert_fails_with(run_recipe("run-fsdd.sh", "--work", folder=tmp_path), "--work needs a folder")


def test_recordings_that_are_not_there_stop_a_recipe_before_it_trains(tmp_path: Path) -> None:
    done = run_recipe("run-yesno.sh", "--from", "nowhere", folder=tmp_path)
    assert_fails_with(done, "nowhere", "no folder")
    assert not list(tmp_path.rglob("checkpoints"))


def test_the_smoke_test_needs_a_recording_and_its_transcript(tmp_path: Path) -> None:
    assert_fails_with(run_recipe("run-ldc93s1.sh", folder=tmp_path), "WAV and TRANSCRIPT")
