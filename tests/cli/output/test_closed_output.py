"""Commands whose standard output is closed before its end, or cannot be written."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

COMMANDS = ("deepspeech --help", "deepspeech --version", "deepspeech.import_corpus --help")


def run(command: str, output: int, unbuffered: str) -> tuple[int, str]:
    """Return the exit code and the text on standard error."""
    environment = {**os.environ, "PYTHONUNBUFFERED": unbuffered}
    arguments = [sys.executable, "-m", *command.split()]
    done = subprocess.run(arguments, stdout=output, stderr=subprocess.PIPE, text=True, env=environment)
    return done.returncode, done.stderr


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("command", COMMANDS)
def test_a_reader_that_has_read_enough_is_no_error(command: str, unbuffered: str) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        assert run(command, writing, unbuffered) == (0, "")
    finally:
        os.close(writing)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device that is always full")
@pytest.mark.parametrize("command", COMMANDS)
def test_output_that_cannot_be_written_is_one_line(command: str) -> None:
    with Path("/dev/full").open("wb") as full:
        code, said = run(command, full.fileno(), "")
    assert (code, said.count("\n")) == (1, 1) and "No space left on device" in said
    assert "standard output: No space" in said or "--help" in command  # more than Python's buffer holds


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&- >&- 2>&-"])
@pytest.mark.parametrize("command", COMMANDS)
def test_output_that_is_closed_is_no_error(command: str, closed: str) -> None:
    line = f"{shlex.quote(sys.executable)} -m {command} {closed}"
    done = subprocess.run(["sh", "-c", line], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
