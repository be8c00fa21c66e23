"""What can be known of a folder of checkpoints without TensorFlow and native code."""

import json
import os
import re
from pathlib import Path

from ..errors import CheckpointError
from ..options import CheckpointOptions

NEWEST_INDEX, BEST_INDEX = "checkpoint", "best_dev_checkpoint"
"""The files of a folder that name its newest and its best checkpoint."""

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


def resumes(options: CheckpointOptions) -> bool:
    """Return whether the folder to train in has a checkpoint, so that training begins with no other weights."""
    return named_by(options.directory / NEWEST_INDEX) is not None or holds_checkpoints(options.directory)


def holds_checkpoints(folder: Path) -> bool:
    """Return whether a folder has a file without which a checkpoint is none; see `index_path`."""
    return any(folder.glob("*.index"))


def index_path(prefix: Path) -> Path:
    """Return the file of the checkpoint at `prefix`, a path without extension, without which it is no checkpoint."""
    return prefix.with_name(f"{prefix.name}.index")


def named_by(index: Path) -> Path | None:
    """Return the checkpoint that an index file names, if it can be read."""
    try:
        line = re.search(r'^model_checkpoint_path: (".*")$', index.read_text(encoding="utf-8"), re.MULTILINE)
        return index.parent / json.loads(line[1]) if line else None
    except (OSError, ValueError):
        return None


def _is_utf8(path: bytes) -> bool:
    try:
        return bool(path.decode())
    except UnicodeDecodeError:
        return False
