"""One name for a file, by whatever path it is named."""

from __future__ import annotations

import os
from functools import lru_cache

from .copies import named_for_all


def named_from_root(path: str) -> str:
    """Return the address of a copy, else the path from the root, without links to folders."""
    name = named_for_all(path)
    folder, slash, file = os.path.abspath(path).rpartition("/")  # noqa: PTH100 - pathlib takes ten times as long
    return name if name != path else f"{_real_folder(folder)}{slash}{file}"


@lru_cache
def _real_folder(folder: str) -> str:
    return os.path.realpath(folder or "/").rstrip("/")
