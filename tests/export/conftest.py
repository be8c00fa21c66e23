"""Fixtures of the tests of exports."""

from __future__ import annotations

from pathlib import Path

import pytest
from program import Trained


@pytest.fixture(scope="session")
def tflite_file(trained: Trained, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the tiny model for LiteRT; tests must not change it."""
    folder = tmp_path_factory.mktemp("tflite") / "model"
    flags = [f"--export_dir={folder}", "--export_format=tflite", "--export_language=xx", "--export_beam_width=32"]
    finished = trained.program.run(*trained.program.model(), *flags)
    assert finished.code == 0, finished.stderr
    assert {path.name for path in folder.iterdir()} == {"output_graph.tflite", "model.md"}
    return folder / "output_graph.tflite"
