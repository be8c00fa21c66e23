"""Fixtures for all tests."""

from __future__ import annotations

from pathlib import Path

import hypothesis
import pytest
from corpora import TinyCorpus, write_tiny_corpus


def pytest_configure() -> None:
    """Property tests have no deadline: a busy machine is no failure."""
    hypothesis.settings.register_profile("patient", deadline=None)
    hypothesis.settings.load_profile("patient")


@pytest.fixture(scope="session")
def tiny_corpus(tmp_path_factory: pytest.TempPathFactory) -> TinyCorpus:
    """A corpus of tones, written once; tests must not change its files."""
    return write_tiny_corpus(tmp_path_factory.mktemp("tiny corpus"))


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of recordings and published files that lies beside some checkouts."""
    folder = Path(__file__).parents[2] / "shared"
    if not folder.is_dir():
        pytest.skip(f"{folder} is not there")
    return folder
