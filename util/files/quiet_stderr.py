"""Suppresses lines of TensorFlow's libraries on standard error that no setting turns off."""

from __future__ import annotations

import os
import re
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from ..parallel import call_in_forked_children

LEVEL, FATAL = "TF_CPP_MIN_LOG_LEVEL", "3"
"""A variable that TensorFlow reads once, when it is imported, and its value that lets it print only why it ends."""

_OF_TENSORFLOW = re.compile(
    rb"WARNING: All log messages before absl|[IWEF]\d{4} |\d{4}-\d\d-\d\d [\d:.]+: [IWEF] |To enable the following"
    rb"|INFO: Created TensorFlow Lite"
)


class _Turns:
    """A lock that a fork renews in the child, where the thread that held it does not exist."""

    def __init__(self) -> None:
        self.begin()
        call_in_forked_children(self, _Turns.begin)

    def begin(self) -> None:
        self.lock = threading.RLock()


_TURNS = _Turns()
"""Threads take turns: if two overlapped, each would restore the other's temporary file as standard error."""


@contextmanager
def without_tensorflows_lines() -> Iterator[None]:
    """Hold back the output to standard error; at the end of the block, print it without TensorFlow's lines.

    After an error, print all of it. Threads wait for each other.
    """
    with _TURNS.lock, default_in_environment(LEVEL, FATAL):
        yield from _held_back()


@contextmanager
def default_in_environment(variable: str, value: str) -> Iterator[None]:
    """Set a variable of the environment for the block, unless it is set; keep what the block itself makes of it."""
    is_ours = variable not in os.environ
    os.environ.setdefault(variable, value)
    try:
        yield
    finally:
        if is_ours and os.environ.get(variable) == value:
            del os.environ[variable]


def _held_back() -> Iterator[None]:
    if sys.stderr is None:  # it was closed when the process began, and descriptor 2 may be that of any file now
        yield
        return
    sys.stderr.flush()
    stderr = os.dup(2)
    with tempfile.TemporaryFile() as printed:
        os.dup2(printed.fileno(), 2)
        failed = False
        try:
            yield
        except Exception:
            failed = True
            raise
        finally:
            sys.stderr.flush()
            os.dup2(stderr, 2)
            os.close(stderr)
            printed.seek(0)
            for line in printed:
                if failed or not _OF_TENSORFLOW.match(line):
                    os.write(2, line)
