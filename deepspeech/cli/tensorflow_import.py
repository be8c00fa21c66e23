"""Import of TensorFlow, without Keras and without the lines that its libraries print regardless of their settings."""

import importlib
from contextlib import nullcontext

from ..util.files.quiet_stderr import default_in_environment, without_tensorflows_lines
from ..util.signals import ended_by_signals

KERAS, VERSION_2 = "TF_USE_LEGACY_KERAS", "1"
"""A variable that selects the Keras that TensorFlow imports with itself, which takes a quarter of the time.

Version 2 is mostly not installed, so none is imported; `tf.keras` imports version 3 when it is used.
"""


def import_tensorflow(*, quiet: bool = True) -> None:
    """Import TensorFlow; if `quiet`, its lines on stderr are shown only if the import fails.

    A stopping signal ends the process at once.
    """
    quietly = without_tensorflows_lines() if quiet else nullcontext()
    with ended_by_signals(), default_in_environment(KERAS, VERSION_2), quietly:
        importlib.import_module("tensorflow")
