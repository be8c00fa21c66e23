"""Ends a process whose threads may still compute."""

import atexit
import os
import sys
from collections.abc import Callable


class ProcessEnd:
    """Ends the process after all that is registered for its exit, without taking the interpreter down.

    Before Python 3.14, a thread that comes back from compiled code while the interpreter is taken down is unwound
    through that code, and a destructor of C++ on the way aborts the process. Create one before anything else registers
    something: what is registered first runs last.
    """

    def __init__(self) -> None:
        """Change nothing for a process that ends without a code."""
        self._code: int | None = None
        atexit.register(self._end)

    def code_of(self, main: Callable[[], int]) -> int:
        """Run a program; return its exit code, with which the process ends."""
        self._code = main()
        return self._code

    def _end(self) -> None:
        if self._code is None:
            return
        try:
            for stream in (sys.stdout, sys.stderr):
                if stream is not None:
                    stream.flush()
        except (OSError, ValueError):
            return  # Python flushes once more, and reports it
        os._exit(self._code)
