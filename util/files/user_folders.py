"""The folders of a user's files, by XDG, for what is written when no folder is named."""

import os
from pathlib import Path

from xdg import BaseDirectory


def data_folder() -> Path:
    """Return the folder of what must not be lost, such as checkpoints."""
    return Path(BaseDirectory.xdg_data_home) / "deepspeech"


def cache_folder() -> Path:
    """Return the folder of what can be made again, as an absolute path without `..`, by which files in it are told."""
    return Path(os.path.normpath(Path(BaseDirectory.xdg_cache_home, "deepspeech").absolute()))
