"""bin/release/check_wheel.py says in a line why it cannot install a wheel."""

from __future__ import annotations

import sys
from pathlib import Path

from running import assert_fails_with, run_script

SCRIPT = "release/check_wheel.py"


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
