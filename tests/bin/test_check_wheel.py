"""bin/release/check_wheel.py says in a line why it cannot install a wheel."""

from __future__ import annotations

import sys
import tarfile
import zipfile
from pathlib import Path
from runpy import run_path

import pytest
from running import ROOT, assert_fails_with, run_script

SCRIPT = "release/check_wheel.py"
BUILDS_ONE = """
import shutil, zipfile
def build_wheel(folder, settings=None, metadata=None):
    assert shutil.which("cc") is None and shutil.which("c++") is None
    with zipfile.ZipFile(f"{folder}/source_only-1-py3-none-any.whl", "w") as wheel:
        wheel.writestr("source_only.py", "")
        wheel.writestr("source_only-1.dist-info/METADATA", "Metadata-Version: 2.1\\nName: source_only\\nVersion: 1\\n")
        wheel.writestr("source_only-1.dist-info/WHEEL", "Wheel-Version: 1.0\\nTag: py3-none-any\\n")
        wheel.writestr("source_only-1.dist-info/RECORD", "")
    return "source_only-1-py3-none-any.whl"
"""
"""A build system that needs no other package."""


def test_a_wheel_and_a_python_that_do_not_exist_are_refused(tmp_path: Path) -> None:
    missing = tmp_path / "missing.whl"
    assert_fails_with(run_script(SCRIPT, missing, "--python", sys.executable), str(missing), "No such file")
    missing.touch()
    assert_fails_with(run_script(SCRIPT, missing, "--python", tmp_path / "python"), str(tmp_path / "python"), "No such")


def test_a_program_that_fails_is_named_with_its_exit_code(tmp_path: Path) -> None:
    wheel, python = tmp_path / "some.whl", tmp_path / "python"
    wheel.touch()
    python.write_text("#!/bin/sh\nexit 3\n")
    python.chmod(0o755)
    assert_fails_with(run_script(SCRIPT, wheel, "--python", python), f"{python} -m venv", "ended with exit code 3")


def test_a_dependency_without_a_wheel_is_made_and_installed_without_a_compiler(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "source_only-1"
    source.mkdir()
    (source / "backend.py").write_text(BUILDS_ONE)
    (source / "pyproject.toml").write_text(
        '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'
    )
    with tarfile.open(tmp_path / "source_only-1.tar.gz", "w:gz") as archive:
        archive.add(source, source.name)
    wheel = tmp_path / "some-1-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as files:
        files.writestr(
            "some-1.dist-info/METADATA",
            "Metadata-Version: 2.1\nName: some\nVersion: 1\n"
            "Provides-Extra: more\nRequires-Dist: source_only; extra == 'more'\n",
        )
        files.writestr("some-1.dist-info/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        files.writestr("some-1.dist-info/RECORD", "")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    clean = run_path(str(ROOT / "bin" / SCRIPT))["Installed"](tmp_path / "check", sys.executable)
    clean.install(wheel, ["more"])
    assert (clean.site_packages() / "source_only.py").exists()


def test_sizes_are_those_of_the_files_without_bytecode_and_pip(tmp_path: Path) -> None:
    for path, megabytes in {"some/module.py": 3, "some/__pycache__/module.pyc": 5, "pip/module.py": 7}.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(bytes(megabytes * 1_000_000))
    assert run_path(str(ROOT / "bin" / SCRIPT))["sizes"](tmp_path) == "installed: 3 MB: some 3"
