"""Signals that ask the program to stop, and what it says and does at once."""

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType

from .monitoring.log_lines import last_words


def stopping_signals() -> tuple[signal.Signals, ...]:
    """Return the signals that ask the program to stop: SIGHUP is none of them if it is ignored, as with nohup."""
    hang_up = () if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN else (signal.SIGHUP,)
    return (signal.SIGINT, signal.SIGTERM, *hang_up)


@contextmanager
def ended_by_signals() -> Iterator[None]:
    """Have a signal to stop end the process at once within the block, in which there is nothing to save.

    TensorFlow takes an exception of a signal's handler for a fault of its own where it is imported or builds a graph.
    Only the main thread can set handlers; in another one, nothing changes.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    stderr = os.dup(2)  # the block may redirect standard error

    def end(number: int, _frame: FrameType | None) -> None:
        os.write(stderr, f"{last_words('interrupted; there was nothing to save')}\n".encode())
        os._exit(128 + number)

    earlier = {number: signal.signal(number, end) for number in stopping_signals()}
    try:
        yield
    finally:
        for number, handler in earlier.items():
            signal.signal(number, handler)
        os.close(stderr)


def end_at_once_if_interrupted() -> None:
    """Have SIGINT end the process at once from now on, while it only waits for its threads."""
    signal.signal(signal.SIGINT, lambda number, _: os._exit(128 + number))


def say(message: str, *, below_a_bar: bool = False) -> None:
    """Write a line on standard error without a lock, which another thread or an interrupted call might hold.

    If its terminal is gone, everything that is written there later is dropped.
    """
    above = "\n" if below_a_bar and os.isatty(2) else ""
    try:
        os.write(2, f"{above}{last_words(message, level='warning')}\n".encode())
    except OSError:
        nowhere = os.open(os.devnull, os.O_RDWR)
        with suppress(OSError):
            if os.path.sameopenfile(1, 2):
                os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)
