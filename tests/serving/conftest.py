"""Fixtures of the serving tests."""

from __future__ import annotations

from pathlib import Path

import pytest
from program import Trained


@pytest.fixture(scope="session")
def exported(trained: Trained, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the tiny model's export; tests must not write into it."""
    folder = tmp_path_factory.mktemp("exported") / "model"
    flags = [f"--export_dir={folder}", "--export_version=3", "--export_language=xx", "--export_beam_width=32"]
    finished = trained.program.run(*trained.program.model(), *flags)
    assert finished.code == 0, finished.stderr
    assert "lowest validation loss" in finished.stderr
    return folder


@pytest.fixture(scope="session")
def graph_file(exported: Path) -> Path:
    """The tiny model's graph; tests must not change it."""
    return exported / "output_graph.pb"
