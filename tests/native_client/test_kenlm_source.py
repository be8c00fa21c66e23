"""The sources from which the build gets KenLM, and its messages if it cannot."""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "native_client/kenlm_source.py"
sys.path.insert(0, str(SCRIPT.parent))

import kenlm_source as module  # noqa: E402


def run(folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(SCRIPT), str(folder)]
    return subprocess.run(command, capture_output=True, text=True, env={**os.environ, **environment})


def test_a_named_folder_is_used_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "mine/lm").mkdir(parents=True)
    (tmp_path / "mine/lm/model.hh").touch()
    result = run(tmp_path / "build", KENLM_SOURCE=str(tmp_path / "mine"))
    assert result.stdout.strip() == str(tmp_path / "mine")
    assert not (tmp_path / "build").exists()


def test_a_named_folder_is_compiled_into_the_build_folder(tmp_path: Path) -> None:
    checkout = tmp_path / "user/checkout"
    names = ("setup.py", "pyproject.toml", "README.md", "LICENSE", "deepspeech/__init__.py")
    for path in (*ROOT.glob("native_client/*/**/*.cc"), SCRIPT, *(ROOT / name for name in names)):
        (checkout / path.relative_to(ROOT)).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, checkout / path.relative_to(ROOT))
    (tmp_path / "kenlm/lm").mkdir(parents=True)
    for name in ("model.hh", "model.cc"):
        (tmp_path / "kenlm/lm" / name).touch()
    compiler = tmp_path / "compiler"
    compiler.write_text('#!/bin/sh\nwhile [ "$1" != -o ]; do shift; done\n: > "$2"\n')  # writes an empty file
    compiler.chmod(0o755)
    environment = {name: str(compiler) for name in ("CC", "CXX", "LDSHARED", "LDCXXSHARED")}
    environment = {**os.environ, **environment, "KENLM_SOURCE": str(tmp_path / "kenlm")}
    command = [sys.executable, "setup.py", "--quiet", "build_ext"]
    subprocess.run(command, cwd=checkout, env=environment, check=True, capture_output=True)
    (compiled,) = tmp_path.rglob("model.o")
    assert compiled.is_relative_to(checkout / "build")


def test_a_named_folder_without_kenlm_is_refused(tmp_path: Path) -> None:
    result = run(tmp_path / "build", KENLM_SOURCE=str(tmp_path))
    assert result.returncode == 1
    assert result.stderr.startswith(f"KENLM_SOURCE is {tmp_path}, but there is no lm/model.hh")


def test_what_was_fetched_is_used_again_without_a_network(tmp_path: Path) -> None:
    source = tmp_path / f"kenlm-{module.VERSION}"
    source.mkdir()
    result = run(tmp_path, KENLM_SOURCE="", PIP_NO_INDEX="1")
    assert result.stdout.strip() == str(source)


def test_a_failed_fetch_is_one_line_and_leaves_nothing(tmp_path: Path) -> None:
    result = run(tmp_path, KENLM_SOURCE="", PIP_NO_INDEX="1", PIP_FIND_LINKS=str(tmp_path))
    assert result.returncode == 1
    assert result.stderr.startswith(f"pip cannot download the source of kenlm {module.VERSION} (")
    assert result.stderr.strip().endswith("set KENLM_SOURCE to a folder with the unpacked source")
    assert len(result.stderr.splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


def test_a_changed_archive_is_refused(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / f"kenlm-{module.VERSION}.tar.gz", "w:gz") as tar:
        info = tarfile.TarInfo(f"kenlm-{module.VERSION}/setup.py")
        info.size = 4
        tar.addfile(info, io.BytesIO(b"evil"))
    result = run(tmp_path / "build", KENLM_SOURCE="", PIP_NO_INDEX="1", PIP_FIND_LINKS=str(tmp_path))
    assert result.returncode == 1
    assert not (tmp_path / f"build/kenlm-{module.VERSION}").exists()


@pytest.mark.parametrize("name", ["../outside", "/outside", "kenlm/../../outside"])
def test_unsafe_archive_entries_are_refused(tmp_path: Path, name: str) -> None:
    archive = tmp_path / "kenlm.tar.gz"
    with tarfile.open(archive, "w:gz") as tar:
        tar.addfile(tarfile.TarInfo(name), io.BytesIO())
    with pytest.raises(module.KenlmSourceError, match="not safe to unpack"):
        module._unpack(archive, tmp_path / "unpacked")
    assert not (tmp_path / "unpacked").exists()
