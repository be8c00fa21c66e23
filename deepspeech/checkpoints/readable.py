"""Whether TensorFlow finds the checkpoints of a folder again; known without TensorFlow, before it writes any there."""

import os
import re
from pathlib import Path

from ..errors import CheckpointError

_MATCHES_OTHERS = re.compile(rb"\\|\[[^/]+\]")
"""What makes a pattern of a path that stands for other paths than itself."""


def check_readable(folder: Path, origin: str = "") -> None:
    """Raise CheckpointError for a folder in which TensorFlow writes checkpoints, but does not find them.

    It takes their paths for patterns, and for UTF-8. The error calls the folder `origin`, or by its path.
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
