"""`python -m deepspeech.compare_params`, as a user runs it."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from pathlib import Path

import pytest

from deepspeech.options.parameters.comparison import differences
from deepspeech.options.parameters.text import Value, write_parameters


def compare(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "deepspeech.compare_params", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True)


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    common: dict[str, Value] = {"corpus": "fsdd", "model.n_hidden": 256}
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    write_parameters(tmp_path / "a" / "params.txt", {**common, "seed": 1, "name": "first", "only.a": (1, 2)})
    write_parameters(tmp_path / "b" / "params.txt", {**common, "seed": 2, "name": "absent"})
    return tmp_path / "a", tmp_path / "b"


def test_what_differs_is_printed_and_nothing_else(folders: tuple[Path, Path]) -> None:
    done = compare(*folders)
    assert done.stdout == "name : 'first' | 'absent'\nonly.a : (1, 2) | absent\nseed : 1 | 2\n"
    assert (done.returncode, done.stderr) == (1, "")


def test_files_will_do_as_well_as_folders(folders: tuple[Path, Path]) -> None:
    first, second = folders
    assert compare(first / "params.txt", second).stdout == compare(first, second).stdout


def test_the_same_parameters_print_nothing(folders: tuple[Path, Path]) -> None:
    done = compare(folders[0], folders[0])
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_value_is_the_same_only_if_it_is_written_the_same() -> None:
    assert differences({"a": math.nan, "b": 1}, {"a": math.nan, "b": 1.0}) == ["b : 1 | 1.0"]


def test_errors_are_one_line_and_exit_code_2(folders: tuple[Path, Path], tmp_path: Path) -> None:
    (tmp_path / "bad.txt").write_text("seed = 1\n")
    for arguments, fragment in (
        ((tmp_path, folders[0]), "No such file or directory); name the params.txt of a run, or its folder, that of"),
        ((folders[0], tmp_path / "bad.txt"), "bad.txt:1: expected 'name : value'"),
        ((folders[0],), "required: B"),
    ):
        done = compare(*arguments)
        assert (done.returncode, done.stdout) == (2, "")
        assert fragment in done.stderr
        assert len(done.stderr.splitlines()) == 1


def test_output_that_cannot_be_written_is_an_error_and_no_difference(folders: tuple[Path, Path]) -> None:
    command = [sys.executable, "-m", "deepspeech.compare_params", *map(str, folders)]
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 2
    assert done.stderr == "compare_params: error: No space left on device\n"


def test_values_that_the_output_cannot_encode_are_escaped(folders: tuple[Path, Path]) -> None:
    write_parameters(folders[1] / "params.txt", {"name": "\u4e2d"})
    command = [sys.executable, "-m", "deepspeech.compare_params", *map(str, folders)]
    ascii_alone = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = subprocess.run(command, capture_output=True, text=True, env=ascii_alone)
    assert (done.returncode, done.stderr) == (1, "")
    assert "name : 'first' | '\\u4e2d'\n" in done.stdout
