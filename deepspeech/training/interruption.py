"""SIGINT and SIGTERM as a request to stop that the program follows between two steps."""

import signal
from types import FrameType, TracebackType
from typing import Any


class Interrupted(Exception):  # noqa: N818 - not an error, but a request of the user
    """The program stops after a signal; the message says how to go on."""

    def __init__(self, signal_number: int, message: str) -> None:
        super().__init__(message)
        self.signal_number = signal_number


class InterruptionWatch:
    """A context manager under which SIGINT and SIGTERM only set `signal_number`; a second SIGINT interrupts at once."""

    def __init__(self) -> None:
        self.signal_number: int | None = None
        self._earlier: dict[int, Any] = {}

    def __enter__(self) -> "InterruptionWatch":
        for number in (signal.SIGINT, signal.SIGTERM):
            self._earlier[number] = signal.signal(number, self._note)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._earlier.items():
            signal.signal(number, handler)

    def _note(self, number: int, _frame: FrameType | None) -> None:
        self.signal_number = number
        if number == signal.SIGINT:
            signal.signal(signal.SIGINT, signal.default_int_handler)
