"""Folders that several test processes share: the first that needs one makes it."""

from __future__ import annotations

import fcntl
import os
import pickle
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import pytest

Made = TypeVar("Made")


@dataclass(frozen=True)
class SharedFolders:
    """The folders that all processes of one pytest-xdist run share; without it, those of this process."""

    parent: Path

    @classmethod
    def of(cls, factory: pytest.TempPathFactory) -> SharedFolders:
        base = factory.getbasetemp()
        return cls(base.parent if "PYTEST_XDIST_WORKER" in os.environ else base)

    def made(self, name: str, make: Callable[[Path], Made]) -> Made:
        """Return what `make` returns for the folder of this name, which must be picklable; only one process makes it.

        If that fails, the next that asks tries again, in a new folder.
        """
        with (self.parent / f"{name}.lock").open("a") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            made = self.parent / f"{name}.pickle"
            if not made.exists():
                attempt = sum(1 for _ in self.parent.glob(f"{name}[0-9]*"))
                folder = self.parent / f"{name}{attempt}"
                folder.mkdir()
                made.write_bytes(pickle.dumps(make(folder)))
            result: Made = pickle.loads(made.read_bytes())
            return result
