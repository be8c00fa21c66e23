"""A check, without TensorFlow, that TensorFlow will find the checkpoints that it writes in a folder."""

import os
import re
from pathlib import Path

from ..errors import CheckpointError

_MATCHES_OTHERS = re.compile(rb"\\|\[[^/]+\]")
"""The parts that make a path a pattern that matches other paths."""


def check_readable(folder: Path, origin: str = "") -> None:
    """Raise CheckpointError for a folder in which TensorFlow writes checkpoints, but does not find them.

    TensorFlow treats their paths as patterns, and as UTF-8. The error names the folder `origin`, by default its path.
    """
    path = os.fsencode(folder)
    if _MATCHES_OTHERS.search(path) or not _is_utf8(path):
        raise CheckpointError(
            f"{origin or folder}: TensorFlow finds no checkpoints where the path has a part in [brackets], a backslash "
            "or bytes that are not UTF-8; rename the folder, or choose another one"
        )


def _is_utf8(path: bytes) -> bool:
    try:
        return bool(path.decode())
    except UnicodeDecodeError:
        return False
