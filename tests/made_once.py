"""Folders that several test processes share: the first that needs one makes it."""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest


def made_once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], object]) -> Path:
    """Return the folder of this name, which `make` has filled in one of the processes of a pytest-xdist run.

    The others wait meanwhile. If `make` fails, the next that needs the folder begins again.
    """
    base = factory.getbasetemp()
    parent = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    folder, made = parent / name, parent / f"{name}.made"
    with (parent / f"{name}.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not made.exists():
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            make(folder)
            made.touch()
    return folder
