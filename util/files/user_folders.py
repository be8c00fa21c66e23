"""The folders of a user's files, by XDG, for what is written when no folder is named.

Specification: https://specifications.freedesktop.org/basedir-spec/latest/.
"""

import os
from pathlib import Path


def data_folder() -> Path:
    """Return the folder of what must not be lost, such as checkpoints."""
    return _home("XDG_DATA_HOME", "~/.local/share") / "deepspeech"


def cache_folder() -> Path:
    """Return the folder of what can be made again."""
    return _home("XDG_CACHE_HOME", "~/.cache") / "deepspeech"


def _home(variable: str, default: str) -> Path:
    return Path(os.environ.get(variable) or os.path.expanduser(default))  # noqa: PTH111 - also without a home folder
