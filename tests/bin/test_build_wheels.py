"""bin/release/build_wheels.py builds for every machine: it refuses compilers with flags for a particular one."""

from __future__ import annotations

from pathlib import Path
from runpy import run_path
from typing import Any

import pytest
import setuptools
from running import ROOT, assert_fails_with, run_script

BUILD_WHEELS = run_path(str(ROOT / "bin/release/build_wheels.py"))


def refused(python: object, tmp_path: Path, *fragments: str) -> None:
    assert_fails_with(run_script("release/build_wheels.py", python, "--to", tmp_path / "dist"), str(python), *fragments)
    assert not (tmp_path / "dist").exists()


def test_a_python_that_compiles_for_its_own_machine_is_refused(tmp_path: Path) -> None:
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\necho 3.12\necho gcc -O3 -march=native -mtune=generic\n")
    python.chmod(0o755)
    refused(python, tmp_path, "compiles with -march=native -mtune=generic")


def test_what_is_no_python_of_a_wheel_is_refused(tmp_path: Path) -> None:
    refused(tmp_path / "missing", tmp_path, "No such file", "3.10, 3.11, 3.12, 3.13 or 3.14")
    other = tmp_path / "python"
    other.write_text("#!/bin/sh\necho 3.9\necho gcc\n")
    other.chmod(0o755)
    refused(other, tmp_path, "Python 3.9", "3.10, 3.11, 3.12, 3.13 or 3.14")


def test_the_environments_flags_of_compilers_do_not_reach_a_wheel(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in BUILD_WHEELS["FLAGS_OF_COMPILERS"]:
        monkeypatch.setenv(name, "-march=native")
    monkeypatch.setenv("CXX", "g++-12")
    environment = BUILD_WHEELS["portable_environment"]()
    assert "-march=native" not in environment.values()
    assert environment["CXX"] == "g++-12"


def test_our_own_flags_ask_for_no_kind_of_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    given: dict[str, Any] = {}
    monkeypatch.setattr(setuptools, "setup", given.update)
    run_path(str(ROOT / "setup.py"))
    assert len(given["ext_modules"]) == 4
    for extension in given["ext_modules"]:
        assert extension.extra_compile_args
        flags = " ".join(extension.extra_compile_args + extension.extra_link_args)
        assert not BUILD_WHEELS["flags_of_machines"](flags)
