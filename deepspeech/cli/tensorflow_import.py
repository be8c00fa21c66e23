"""Import of TensorFlow without the lines that its libraries print on stderr whatever they are told."""

import importlib
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext

from ..training.interruption import stopping_signals
from ..util.files.quiet_stderr import without_tensorflows_lines


def import_tensorflow(*, quiet: bool = True) -> None:
    """Import TensorFlow; what it prints if it is to be quiet is shown only if the import fails.

    A signal to stop ends the process at once, as TensorFlow takes an exception during its import for its own fault.
    """
    with _ended_by_signals(), without_tensorflows_lines() if quiet else nullcontext():
        importlib.import_module("tensorflow")


@contextmanager
def _ended_by_signals() -> Iterator[None]:
    stderr = os.dup(2)

    def end(number: int, _frame: object) -> None:
        os.write(stderr, b"deepspeech: interrupted; there was nothing to save\n")
        os._exit(128 + number)

    earlier = {number: signal.signal(number, end) for number in stopping_signals()}
    yield
    for number, handler in earlier.items():
        signal.signal(number, handler)
    os.close(stderr)
