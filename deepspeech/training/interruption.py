"""Signals that request a stop: the program answers at once, and stops between two steps."""

import os
import signal
import threading
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Any, Protocol

from ..util.signals import say, stopping_signals


class Interrupted(KeyboardInterrupt):
    """The program stops after a signal; the message says how to resume, and is empty if that was already printed."""

    def __init__(self, signal_number: int, message: str = "") -> None:
        super().__init__(message)
        self.signal_number = signal_number


class Ending(Protocol):
    """The consequences of stopping now. Its methods are called on another thread than the program's."""

    def after_this_step(self) -> str:
        """Return what the program does before it stops, as in "finishing this step, then saving a checkpoint"."""

    def if_stopped_at_once(self) -> str:
        """Return the consequence of stopping at once, as in "stopped without saving: …"."""


class PlainEnding:
    """An ending whose texts stay the same."""

    def __init__(self, after_this_step: str, if_stopped_at_once: str) -> None:
        self._texts = after_this_step, if_stopped_at_once

    def after_this_step(self) -> str:
        """Return the first text."""
        return self._texts[0]

    def if_stopped_at_once(self) -> str:
        """Return the second text."""
        return self._texts[1]


class InterruptionWatch:
    """A context manager under which a signal sets `signal_number` and gets an answer; a second SIGINT ends at once.

    A thread answers, because Python runs a signal's handler only after a step of TensorFlow. If a signal arrives when
    the block has nothing left to do, the end of the block raises Interrupted, so that later work does not start.
    """

    def __init__(self, ending: Ending) -> None:
        """Store the ending, which may be replaced at any time, as may `when_signalled`.

        The answering thread calls `when_signalled` with each signal's number, even if a step of TensorFlow never ends.
        """
        self.ending = ending
        self.when_signalled: Callable[[int], object] = lambda _: None
        self.signal_number: int | None = None
        self._earlier: dict[int, Any] = {}

    def __enter__(self) -> "InterruptionWatch":
        self._reading, self._writing = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        os.set_blocking(self._reading, True)
        self._earlier_descriptor = signal.set_wakeup_fd(self._writing, warn_on_full_buffer=False)
        self._thread = threading.Thread(target=self._answer, name="answers to signals", daemon=True)
        self._thread.start()
        for number in stopping_signals():
            self._earlier[number] = signal.signal(number, self._note)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._earlier.items():
            signal.signal(number, handler)
        signal.set_wakeup_fd(self._earlier_descriptor)
        os.write(self._writing, bytes(1))
        self._thread.join()
        os.close(self._writing)
        os.close(self._reading)
        if kind is None and self.signal_number is not None:
            raise Interrupted(self.signal_number, "interrupted; nothing is lost: run the same command again to resume")

    def _note(self, number: int, _frame: FrameType | None) -> None:
        self.signal_number = number

    def _answer(self) -> None:
        """Answer each signal as its number arrives, until the number is 0."""
        interrupted = False
        while number := os.read(self._reading, 1)[0]:
            if number not in self._earlier:
                continue
            self.signal_number = number
            self.when_signalled(number)
            if number != signal.SIGINT:
                say(f"terminated: {self.ending.after_this_step()}", below_a_bar=True)
            elif not interrupted:
                then = f"{self.ending.after_this_step()}; press Ctrl-C again to stop at once"
                say(f"interrupted: {then}", below_a_bar=True)
                interrupted = True
            else:
                say(self.ending.if_stopped_at_once(), below_a_bar=True)
                os._exit(128 + number)
