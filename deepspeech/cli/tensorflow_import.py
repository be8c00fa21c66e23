"""Import of TensorFlow, without Keras and without the lines that its libraries print regardless of their settings."""

import importlib
import os
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext

from ..util.files.quiet_stderr import without_tensorflows_lines
from ..util.signals import ended_by_signals


def import_tensorflow(*, quiet: bool = True) -> None:
    """Import TensorFlow; if `quiet`, its lines on stderr are shown only if the import fails.

    A stopping signal ends the process at once.
    """
    with ended_by_signals(), _without_keras(), without_tensorflows_lines() if quiet else nullcontext():
        importlib.import_module("tensorflow")


@contextmanager
def _without_keras() -> Iterator[None]:
    """Spare the block the import of Keras, a quarter of TensorFlow's; `tf.keras` imports it when it is used.

    TensorFlow imports the Keras that this variable names, and goes on without if that is missing, as version 2 mostly
    is. A variable that the user has set is kept.
    """
    variable = "TF_USE_LEGACY_KERAS"
    if variable in os.environ:
        yield
        return
    os.environ[variable] = "1"
    try:
        yield
    finally:
        del os.environ[variable]
