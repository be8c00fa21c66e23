"""Import of TensorFlow without the lines that its libraries print on stderr regardless of their settings."""

import importlib
from contextlib import nullcontext

from ..util.files.quiet_stderr import without_tensorflows_lines
from ..util.signals import ended_by_signals


def import_tensorflow(*, quiet: bool = True) -> None:
    """Import TensorFlow; if `quiet`, its lines on stderr are shown only if the import fails.

    A stopping signal ends the process at once.
    """
    with ended_by_signals(), without_tensorflows_lines() if quiet else nullcontext():
        importlib.import_module("tensorflow")
