"""Signals that ask the program to stop, and the program's immediate reactions."""

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType

from .monitoring.log_lines import last_words


def stopping_signals() -> tuple[signal.Signals, ...]:
    """Return the signals that ask the program to stop; not SIGHUP if it is ignored, as with nohup."""
    hang_up = () if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN else (signal.SIGHUP,)
    return (signal.SIGINT, signal.SIGTERM, *hang_up)


@contextmanager
def ended_by_signals() -> Iterator[None]:
    """Let a signal to stop end the process at once within the block, in which there is nothing to save.

    While TensorFlow is imported or builds a graph, it mistakes an exception from a signal handler for its own error.
    Only the main thread can set handlers; in any other, nothing changes.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    stderr = os.dup(2)  # the block may redirect standard error

    def end(number: int, _frame: FrameType | None) -> None:
        with suppress(OSError):  # the terminal may be gone
            os.write(stderr, f"{last_words('interrupted; there was nothing to save', level='warning')}\n".encode())
        os._exit(128 + number)

    earlier = {number: signal.signal(number, end) for number in stopping_signals()}
    try:
        yield
    finally:
        for number, handler in earlier.items():
            signal.signal(number, handler)
        os.close(stderr)


class Terminated(KeyboardInterrupt):
    """SIGTERM or SIGHUP stops the program, as Ctrl-C does."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number


@contextmanager
def interrupted_by_termination() -> Iterator[None]:
    """Let SIGTERM and SIGHUP raise Terminated within the block, so that it removes its unfinished files.

    Only the first one of each is answered: `timeout` sends two. Only the main thread can set handlers; in any other,
    nothing changes.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(number: int, _frame: FrameType | None) -> None:
        signal.signal(number, signal.SIG_IGN)
        raise Terminated(number)

    earlier = {number: signal.signal(number, end) for number in stopping_signals() if number != signal.SIGINT}
    try:
        yield
    finally:
        for number, handler in earlier.items():
            signal.signal(number, handler)


def end_at_once_if_interrupted() -> None:
    """Let SIGINT end the process at once from now on, while it only waits for its threads."""
    signal.signal(signal.SIGINT, lambda number, _: os._exit(128 + number))


def say(message: str, *, below_a_bar: bool = False, level: str = "warning") -> None:
    """Write a line to standard error without a lock, which another thread or an interrupted call might hold.

    If the terminal is gone, all later output to standard error is dropped.
    """
    above = "\n" if below_a_bar and os.isatty(2) else ""
    try:
        os.write(2, f"{above}{last_words(message, level=level)}\n".encode())
    except OSError:
        drop_standard_error()


def drop_standard_error() -> None:
    """Drop all later output to standard error, and to standard output if that goes to the same place."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    with suppress(OSError):
        if os.path.sameopenfile(1, 2):
            os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
