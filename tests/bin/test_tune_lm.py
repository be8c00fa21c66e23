"""What bin/tune_lm.py asks for before it begins."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from running import assert_fails_with, run_script


@pytest.mark.parametrize("package", ["optuna", "matplotlib"])
def test_a_missing_package_is_named_before_anything_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, package: str
) -> None:
    """The weights of hours of trials would be lost if the drawing failed after them."""
    (tmp_path / "sitecustomize.py").write_text(f"import sys\nsys.modules['{package}'] = None\n")
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}{os.pathsep}{os.environ.get('PYTHONPATH', '')}")
    files = ("--posteriors", tmp_path / "none.npz", "--references", tmp_path / "none.txt", "--lm", tmp_path / "none.lm")
    assert_fails_with(run_script("tune_lm.py", *files, "--out", tmp_path / "out"), f"{package} is missing", "[tune]")
    assert not (tmp_path / "out").exists()
