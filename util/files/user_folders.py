"""The default folders for a user's files, by XDG."""

import os
from pathlib import Path

from xdg import BaseDirectory


def data_folder() -> Path:
    """Return the folder for files that must not be lost, such as checkpoints."""
    return Path(BaseDirectory.xdg_data_home) / "deepspeech"


def cache_folder() -> Path:
    """Return the folder for files that can be made again, as an absolute path without `..`, for comparisons."""
    return Path(os.path.normpath(Path(BaseDirectory.xdg_cache_home, "deepspeech").absolute()))
