"""The import of onnxruntime, which runs models in ONNX."""

import os
from typing import Any


def import_onnxruntime() -> Any:
    """Return the package onnxruntime; raise ImportError without it.

    Newer versions (seen in 1.32) keep an identifier of the machine and a list of events in the user's cache folder, and
    send them to their makers; here they do not, unless the environment already sets ORT_DISABLE_TELEMETRY.
    """
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")  # it is read when the package is imported
    import onnxruntime

    return onnxruntime
