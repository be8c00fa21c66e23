"""Import of TensorFlow without the lines that its libraries print on stderr whatever they are told."""

import importlib
import os
import sys
import tempfile


def import_tensorflow() -> None:
    """Import TensorFlow in silence; what it printed is shown only if the import fails."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    sys.stderr.flush()
    stderr = os.dup(2)
    with tempfile.TemporaryFile() as printed:
        os.dup2(printed.fileno(), 2)
        try:
            importlib.import_module("tensorflow")
        except BaseException:
            printed.seek(0)
            os.write(stderr, printed.read())
            raise
        finally:
            os.dup2(stderr, 2)
            os.close(stderr)
