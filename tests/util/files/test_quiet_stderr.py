"""Standard error while TensorFlow's lines are held back, and after that."""

from __future__ import annotations

import os
import subprocess
import sys
import threading

import pytest

from deepspeech.util.files.quiet_stderr import without_tensorflows_lines


def test_lines_that_are_not_tensorflows_are_printed_in_the_end(capfd: pytest.CaptureFixture[str]) -> None:
    with without_tensorflows_lines():
        os.write(2, b"I0000 00:00:00.1 1 cuda.cc:1] no GPU\nours\n")
        assert not capfd.readouterr().err
    assert capfd.readouterr().err == "ours\n"


def test_the_environment_is_itself_again_for_what_is_started_later(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TF_CPP_MIN_LOG_LEVEL", raising=False)
    with without_tensorflows_lines():
        assert os.environ["TF_CPP_MIN_LOG_LEVEL"] == "3"
    assert "TF_CPP_MIN_LOG_LEVEL" not in os.environ
    monkeypatch.setenv("TF_CPP_MIN_LOG_LEVEL", "1")
    with without_tensorflows_lines():
        pass
    assert os.environ["TF_CPP_MIN_LOG_LEVEL"] == "1"


def test_standard_error_is_itself_again_after_threads_that_overlapped() -> None:
    before = os.fstat(2)
    inside, over = threading.Event(), threading.Event()

    def hold_back() -> None:
        with without_tensorflows_lines():
            inside.set()
            over.wait()

    thread = threading.Thread(target=hold_back)
    with without_tensorflows_lines():
        thread.start()
        inside.wait(0.5)  # if threads wait for each other, it gets there later
    over.set()
    thread.join()
    assert os.path.samestat(os.fstat(2), before)


def test_nothing_is_held_back_where_there_is_no_standard_error() -> None:
    script = """
from deepspeech.util.files.quiet_stderr import without_tensorflows_lines
with without_tensorflows_lines():
    print("inside")
"""
    closed = ["sh", "-c", 'exec "$0" "$@" 2>&-', sys.executable, "-c", script]
    done = subprocess.run(closed, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (0, "inside\n")
