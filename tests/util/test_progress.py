import fcntl
import json
import logging
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from dataclasses import dataclass
from itertools import pairwise
from subprocess import PIPE

import pytest
from running import all_shown

from deepspeech.util.progress import BESIDE_TEXTS, Progress


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


@dataclass
class Clock:
    """A clock that the test advances."""

    seconds: float = 0.0

    def __call__(self) -> float:
        return self.seconds


def test_without_a_terminal_a_line_now_and_then_tells_share_pace_and_time_left(
    caplog: pytest.LogCaptureFixture,
) -> None:
    clock = Clock()
    with caplog.at_level(logging.INFO, "deepspeech"), Progress("Work", 1000, unit="row", clock=clock) as progress:
        for _ in range(10):
            clock.seconds += 10
            progress.advance(20, note="loss 3.21")
    assert caplog.messages == [
        "Work: 6 % of 1000 rows, loss 3.21, 2 rows/s, 7 min 50 s left",
        "Work: 12 % of 1000 rows, loss 3.21, 2 rows/s, 7 min 20 s left",
        "Work: 18 % of 1000 rows, loss 3.21, 2 rows/s, 6 min 50 s left",
        "Work: 200 rows in 100.0 s, 2 rows/s",
    ]


def test_the_longer_it_takes_the_rarer_are_the_lines(caplog: pytest.LogCaptureFixture) -> None:
    clock = Clock()
    lines_by_minute = []
    with caplog.at_level(logging.INFO, "deepspeech"):
        progress = Progress("Work", 360_000, clock=clock)
        for _minute in range(600):
            for _ in range(60):
                clock.seconds += 1
                progress.advance(10)
            lines_by_minute.append(len(caplog.messages))
    assert lines_by_minute[:3] == [2, 4, 6]
    assert all(after - before <= 1 for before, after in pairwise(lines_by_minute[5:]))
    assert 100 < lines_by_minute[-1] < 200


def test_the_pace_is_that_of_this_run_and_the_time_left_follows_the_effort(caplog: pytest.LogCaptureFixture) -> None:
    clock = Clock()
    effort = [0, 1, 2, 3, 4, 6, 8, 18, 28]
    with (
        caplog.at_level(logging.INFO, "deepspeech"),
        Progress("Work", 8, before=4, effort=effort, clock=clock) as progress,
    ):
        assert progress.seconds_left is None
        clock.seconds = 40
        progress.advance(2)
        assert progress.rate == pytest.approx(0.05)
        assert progress.seconds_left == pytest.approx(200)
    assert caplog.messages == [
        "Work: 75 % of 8, 0.05/s, 3 min 20 s left",
        "Work: 2 in 40.0 s, 0.05/s, after 4 before an interruption",
    ]


def test_what_fails_is_not_logged_as_done(caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(KeyError), caplog.at_level(logging.INFO, "deepspeech"), Progress("Counting", 3):
        raise KeyError
    assert not caplog.messages


@pytest.mark.parametrize(("enabled", "shown"), [(True, True), (False, False)])
def test_a_terminal_gets_a_bar_on_stderr_and_nothing_on_stdout(enabled: bool, shown: bool) -> None:
    code = f"""
import sys
from deepspeech.util.progress import Progress
with Progress("Counting", 3, {enabled}, unit="row") as progress:
    progress.advance(2)
    progress.make_room()
    print("a message", file=sys.stderr)
    progress.advance(2, "loss 3.21")
"""
    terminal, its_program_side = pty.openpty()
    result = subprocess.run([sys.executable, "-c", code], stderr=its_program_side, stdout=subprocess.PIPE, check=True)
    os.close(its_program_side)
    drawn = all_shown(terminal)
    assert result.stdout == b""
    assert ("Counting" in drawn and "100%" in drawn and "loss 3.21" in drawn and "rows/s" in drawn) == shown
    assert ("\na message\r\n" in drawn) if shown else drawn == "a message\r\n"


def test_a_terminal_gets_lines_where_the_log_is_json() -> None:
    code = """
import logging, sys
from deepspeech.util.monitoring.log_lines import JSONLines
from deepspeech.util.progress import Progress
handler = logging.StreamHandler()
handler.setFormatter(JSONLines(lambda: "localhost"))
logging.basicConfig(handlers=[handler], level=logging.INFO)
with Progress("Counting", 3) as progress:
    progress.advance(3)
"""
    terminal, its_program_side = pty.openpty()
    subprocess.run([sys.executable, "-c", code], stderr=its_program_side, check=True)
    os.close(its_program_side)
    (line,) = all_shown(terminal).splitlines()
    assert json.loads(line)["message"].startswith("Counting: 3 in ")


@pytest.mark.parametrize(("columns", "total"), [(80, 3), (80, None), (40, 3), (20, 3), (5, 3)])
def test_a_bar_is_never_longer_than_a_line_of_the_terminal(columns: int, total: int | None) -> None:
    title = f"Checking {'/folder' * 20}/train.csv"
    script = (
        "from deepspeech.util.progress import Progress\n"
        f"with Progress({title!r}, {total}, unit='utterance') as progress:\n"
        "    for _ in range(3): progress.advance(note='loss 3.21')"
    )
    terminal, its_program_side = pty.openpty()
    fcntl.ioctl(its_program_side, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    command = [sys.executable, "-c", script]
    environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    subprocess.run(command, check=True, env=environment, stdout=its_program_side, stderr=its_program_side)
    os.close(its_program_side)
    drawn = re.sub(r"\x1b\[[0-9;]*m", "", all_shown(terminal))
    lines = [line.rstrip() for line in re.split(r"[\r\n]+", drawn)]
    assert max(map(len, lines)) <= max(columns, BESIDE_TEXTS)
    assert columns < 80 or any("train.csv" in line and "loss 3.21" in line for line in lines)


def test_a_bar_without_a_known_total_counts_on() -> None:
    code = """
from deepspeech.util.progress import Progress
with Progress("Counting", None) as progress:
    progress.advance(2000)
    progress.advance(2000)
"""
    terminal, its_program_side = pty.openpty()
    subprocess.run([sys.executable, "-c", code], stderr=its_program_side, check=True)
    os.close(its_program_side)
    drawn = all_shown(terminal)
    assert "Counting" in drawn
    assert "4000" in drawn


def test_scripts_that_configure_no_logging_print_nothing_without_a_terminal() -> None:
    code = """
from deepspeech.util.progress import Progress
with Progress("Counting", None) as progress:
    progress.advance(2)
"""
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert (result.stdout, result.stderr) == (b"", b"")


def test_work_goes_on_when_the_reader_of_its_messages_has_closed_them() -> None:
    code = "from deepspeech.util.progress import report; report('read'); input(); report('unread'); print('done')"
    with subprocess.Popen([sys.executable, "-c", code], text=True, stdin=PIPE, stdout=PIPE, stderr=PIPE) as program:
        assert program.stdin and program.stdout and program.stderr
        assert program.stderr.readline() == "read\n"
        program.stderr.close()
        program.stdin.write("\n")
        program.stdin.close()
        assert program.stdout.read() == "done\n"
    assert program.returncode == 0


def test_nothing_to_do_is_no_problem() -> None:
    with Progress("Counting", 0):
        pass


def test_a_single_step_is_in_the_singular(caplog: pytest.LogCaptureFixture) -> None:
    clock = Clock()
    with caplog.at_level(logging.INFO, "deepspeech"), Progress("Work", 1, unit="row", clock=clock) as progress:
        clock.seconds = 2
        progress.advance(1)
    assert caplog.messages == ["Work: 1 row in 2.0 s, 0.5 rows/s"]


def test_work_that_few_wait_for_has_a_line_only_if_it_takes_a_second(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "deepspeech")
    for seconds in (0.9, 1.1):
        clock = Clock()
        with Progress("Reading", None, unit="row", clock=clock, told_if_short=False) as progress:
            assert list(progress.counting("ab")) == ["a", "b"]
            clock.seconds = seconds
    assert caplog.messages == ["Reading: 2 rows in 1.1 s, 1.82 rows/s"]
