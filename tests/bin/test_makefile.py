"""The Makefile's set-up: a virtual environment that could not be made is made anew."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from running import ROOT

PYTHON_WITHOUT_PIP = """#!/bin/sh -e
for environment; do :; done
rm -f "$environment/bin/pip"
mkdir -p "$environment/bin"
ln -sf /bin/true "$environment/bin/python"
test -e pip-is-there || { echo "ensurepip is not available" >&2; exit 1; }
ln -sf /bin/true "$environment/bin/pip"
"""
"""As Debian's, where the package python3-venv is missing: it leaves an environment without pip."""


def test_an_environment_without_pip_is_made_anew_once_python_can(tmp_path: Path) -> None:
    for name in ("Makefile", "pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path)
    (tmp_path / "native_client").mkdir()
    (tmp_path / "python").write_text(PYTHON_WITHOUT_PIP)
    (tmp_path / "python").chmod(0o755)

    def make() -> subprocess.CompletedProcess[str]:
        command = ["make", ".venv/.wheel", f"PYTHON={tmp_path}/python"]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)

    assert "ensurepip is not available" in make().stderr
    (tmp_path / "pip-is-there").touch()
    repaired = make()
    assert repaired.returncode == 0, repaired.stderr
    assert "Nothing to be done" in make().stdout or "is up to date" in make().stdout
