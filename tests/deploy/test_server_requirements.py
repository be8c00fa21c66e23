"""The image's requirements are those of pyproject.toml that the server needs, and the server needs no others."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.metadata import requires
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette")
packaging = pytest.importorskip("packaging.requirements")

ROOT = Path(__file__).parents[2]
LINES = [line for line in (ROOT / "deploy/requirements.txt").read_text().splitlines() if not line.startswith("#")]

SERVE_WITH_NOTHING_ELSE = """
import importlib.metadata, pkgutil, sys
allowed, graph, recording = set(sys.argv[1].split()), sys.argv[2], sys.argv[3]
owners = importlib.metadata.packages_distributions()

class Others:
    def find_spec(self, name, path=None, target=None):
        owned = {owner.lower().replace("_", "-") for owner in owners.get(name.partition(".")[0], ())}
        if owned and not owned & allowed:
            raise ModuleNotFoundError(f"{name} is not among the requirements", name=name)

sys.meta_path.insert(0, Others())
from deepspeech import Model
from deepspeech.cli.server import main
import deepspeech.serving.server, deepspeech.util.front_ends.fbank
import httptools, kaldi_native_fbank, uvloop
for module in pkgutil.walk_packages(deepspeech.serving.server.__path__, "deepspeech.serving.server."):
    __import__(module.name)
print(Model(graph).transcribe(recording).text)
"""


def project() -> Any:
    tomllib = pytest.importorskip("tomllib")
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def closure(names: set[str]) -> set[str]:
    """Return installed packages and all that they require."""
    found, open_names = {"deepspeech"}, set(names)
    while open_names:
        name = open_names.pop()
        found.add(name)
        needed = (packaging.Requirement(line) for line in requires(name) or ())
        further = {each.name.lower() for each in needed if each.marker is None or each.marker.evaluate({"extra": ""})}
        open_names |= further - found
    return {name.replace("_", "-") for name in found}


def test_requirements_are_those_of_the_project() -> None:
    described = project()
    server = described["optional-dependencies"]["server"]
    assert set(LINES) == {*described["dependencies"], *server}
    assert sorted(LINES) == LINES


def test_the_server_needs_no_others(graph_file: Path, recordings: list[Path]) -> None:
    allowed = " ".join(closure({packaging.Requirement(line).name for line in LINES}))
    command = [sys.executable, "-c", SERVE_WITH_NOTHING_ELSE, allowed, str(graph_file), str(recordings[0])]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    finished = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert finished.returncode == 0, finished.stderr
    assert finished.stdout.strip()
