"""Results that cannot be written to their place are refused before the work begins."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from io import FileIO, TextIOWrapper
from pathlib import Path

import pytest

from deepspeech.cli.align import main as align
from deepspeech.cli.confidence.calibrate import main as calibrate


@pytest.fixture
def read_only(graph_file: Path, small_disk: Path) -> Path:
    """Return a folder that can only be read, with the tiny model's graph."""
    shutil.copy(graph_file, small_disk)
    subprocess.run(["mount", "-o", "remount,ro", small_disk], check=True)
    return small_disk


def test_an_alignment_that_cannot_be_written(
    tmp_path: Path, read_only: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "link").symlink_to(read_only / "aligned")
    os.mkfifo(tmp_path / "pipe")
    of_disk = f"{read_only} cannot be written to (Read-only file system); name another file"
    for output, reason in (
        (read_only / "aligned", of_disk),
        (tmp_path / "link", of_disk),
        (tmp_path / "pipe", "is a device or a pipe; name a file"),
    ):
        read = (f"--{each}={tmp_path / 'none'}" for each in ("model", "audio", "transcript"))
        assert align([*read, f"--output={output}"]) == 1
        assert capsys.readouterr().err == f"deepspeech: --output={output}: {reason}\n"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device that is always full")
def test_an_alignment_that_finds_no_room_in_standard_output(
    graph_file: Path,
    recordings: list[Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "said.txt").write_text("a")
    read = (f"--model={graph_file}", f"--audio={recordings[0]}", f"--transcript={tmp_path / 'said.txt'}")
    with TextIOWrapper(FileIO("/dev/full", "w"), write_through=True) as unbuffered:
        monkeypatch.setattr(sys, "stdout", unbuffered)
        assert align(read) == 1
    assert capsys.readouterr().err == "deepspeech: standard output: No space left on device\n"


def test_a_calibration_that_cannot_be_written(read_only: Path, capsys: pytest.CaptureFixture[str]) -> None:
    graph = read_only / "output_graph.pb"
    assert calibrate([f"--model={graph}", f"--dev_files={read_only / 'none.csv'}"]) == 1
    reason = f"{read_only} cannot be written to (Read-only file system)"
    told = f"{reason}; copy the graph elsewhere, or give --report_only"
    assert capsys.readouterr().err == f"deepspeech: --model={graph}: {told}\n"
