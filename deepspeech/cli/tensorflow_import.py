"""Import of TensorFlow without the lines that its libraries print on stderr whatever they are told."""

import importlib

from ..util.files.quiet_stderr import without_tensorflows_lines


def import_tensorflow() -> None:
    """Import TensorFlow in silence; what it printed is shown only if the import fails."""
    with without_tensorflows_lines():
        importlib.import_module("tensorflow")
