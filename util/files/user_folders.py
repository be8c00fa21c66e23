"""The default folders for a user's files, by XDG."""

import os
from functools import lru_cache
from pathlib import Path

from xdg import BaseDirectory


def data_folder() -> Path:
    """Return the folder for files that must not be lost, such as checkpoints."""
    return Path(_below_home(BaseDirectory.xdg_data_home), "deepspeech")


def cache_folder() -> Path:
    """Return the folder for files that can be made again; see `cache_path`."""
    return Path(cache_path())


def cache_path(*names: str) -> str:
    """Return the path of this folder, or of one below it, absolute and without `..`, to compare other paths with.

    Each row of a corpus is compared, so the path is made once.
    """
    return _absolute(_below_home(BaseDirectory.xdg_cache_home), "deepspeech", *names)


@lru_cache
def _absolute(*names: str) -> str:
    return os.path.abspath(os.path.join(*names))  # noqa: PTH100, PTH118 (a Path keeps "..")


def _below_home(path: str) -> str:
    """Return a path; a `~` that no shell and no account has replaced stands for `/`, as in a container without HOME."""
    return os.path.expanduser(path).removeprefix("~") if path.startswith("~/") else path  # noqa: PTH111
