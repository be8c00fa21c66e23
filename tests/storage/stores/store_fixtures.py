"""Fixtures of tests with an object store."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from object_store import Faults, ObjectStore, object_store
from xdg import BaseDirectory


@pytest.fixture(scope="session")
def served() -> Iterator[ObjectStore]:
    with object_store() as store:
        yield store


@pytest.fixture
def store(served: ObjectStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ObjectStore:
    """Return an empty bucket whose requests do not fail yet, with a cache of its own here."""
    for name in served.names():
        served.client.delete_object(Bucket="speech", Key=name)
    vars(served.faults).update(vars(Faults()))
    for name, value in served.environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(BaseDirectory, "xdg_cache_home", str(tmp_path / "cache"))
    return served
