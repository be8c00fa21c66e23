import logging
import os
import pty
import subprocess
import sys

import pytest

from deepspeech.util.progress import Progress


def test_without_a_terminal_one_line_is_logged_at_the_end(
    caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    with caplog.at_level(logging.INFO, "deepspeech"), Progress("Counting", 3) as progress:
        for _ in range(3):
            progress.advance()
        assert not caplog.messages
    assert len(caplog.messages) == 1
    assert caplog.messages[0].startswith("Counting: 3 in ")
    assert capfd.readouterr() == ("", "")


def test_what_fails_is_not_logged_as_done(caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(KeyError), caplog.at_level(logging.INFO, "deepspeech"), Progress("Counting", 3):
        raise KeyError
    assert not caplog.messages


@pytest.mark.parametrize(("enabled", "shown"), [(True, True), (False, False)])
def test_a_terminal_gets_a_bar_on_stderr_and_nothing_on_stdout(enabled: bool, shown: bool) -> None:
    code = f"""
from deepspeech.util.progress import Progress
with Progress("Counting", 3, {enabled}) as progress:
    progress.advance(2)
    progress.advance(2)
"""
    terminal, its_program_side = pty.openpty()
    result = subprocess.run([sys.executable, "-c", code], stderr=its_program_side, stdout=subprocess.PIPE, check=True)
    os.write(its_program_side, b"end")
    drawn = os.read(terminal, 1 << 16)
    os.close(terminal)
    os.close(its_program_side)
    assert result.stdout == b""
    assert (b"Counting" in drawn and b"100%" in drawn) == shown
    assert shown or drawn == b"end"


def test_a_bar_without_a_known_total_counts_on() -> None:
    code = """
from deepspeech.util.progress import Progress
with Progress("Counting", None) as progress:
    progress.advance(2000)
    progress.advance(2000)
"""
    terminal, its_program_side = pty.openpty()
    subprocess.run([sys.executable, "-c", code], stderr=its_program_side, check=True)
    drawn = os.read(terminal, 1 << 16)
    os.close(terminal)
    os.close(its_program_side)
    assert b"Counting" in drawn
    assert b"4000" in drawn


def test_scripts_that_configure_no_logging_print_nothing_without_a_terminal() -> None:
    code = """
from deepspeech.util.progress import Progress
with Progress("Counting", None) as progress:
    progress.advance(2)
"""
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert (result.stdout, result.stderr) == (b"", b"")


def test_nothing_to_do_is_no_problem() -> None:
    with Progress("Counting", 0):
        pass
