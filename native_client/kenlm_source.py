#!/usr/bin/env python3
"""Provide the source of KenLM, which is not part of this repository.

`python native_client/kenlm_source.py [FOLDER]` prints the folder that holds it: the one that the environment variable
KENLM_SOURCE names, or FOLDER (default: build/kenlm) after fetching the source distribution into it by its name and
checking its SHA-256. What is already there is used again. Needs nothing but Python and pip.
"""

from __future__ import annotations

import importlib.metadata
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

NAME = "kenlm"
VERSION = "0.3.0"
SHA256 = "c4628bb9fb63c8a6f9240035b8b037385cfc404cb72e933cf48878291edac1e8"
SETUPTOOLS = (70, 1)  # with which pip asks the distribution for its name; older ones need the package `wheel`, too
DEFAULT_FOLDER = Path("build/kenlm")


class KenlmSourceError(Exception):
    """KenLM's source is not available; the message is one line that says why and what to do."""


def kenlm_source(folder: Path = DEFAULT_FOLDER) -> Path:
    """Return the folder with KenLM's source, after a download into `folder` if necessary. Raise KenlmSourceError."""
    named = os.environ.get("KENLM_SOURCE")
    if named:
        if not (Path(named) / "lm/model.hh").is_file():
            raise KenlmSourceError(
                f"KENLM_SOURCE is {named}, but there is no lm/model.hh; unpack KenLM {VERSION} there"
            )
        return Path(named)
    source = folder / f"{NAME}-{VERSION}"
    if not source.is_dir():
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder, prefix=".fetch-") as scratch:
            _unpack(_download(Path(scratch)), Path(scratch) / "unpacked")
            _move_into_place(Path(scratch) / "unpacked" / source.name, source)
    return source


def _download(scratch: Path) -> Path:
    """Return the path of the source distribution; pip has checked it against SHA256 before opening it."""
    environment = dict(os.environ)
    if not _has_modern_setuptools():
        _pip("install", "--target", str(scratch / "setuptools"), f"setuptools>={'.'.join(map(str, SETUPTOOLS))}")
        environment["PYTHONPATH"] = str((scratch / "setuptools").resolve())
    requirement = scratch / "requirements.txt"
    requirement.write_text(f"{NAME}=={VERSION} --hash=sha256:{SHA256}\n")
    options = ["--no-deps", "--no-binary", ":all:", "--no-build-isolation", "--require-hashes", "--dest", str(scratch)]
    _pip("download", *options, "--requirement", str(requirement), environment=environment)
    return next(scratch.glob("*.tar.gz"))


def _has_modern_setuptools() -> bool:
    try:
        version = importlib.metadata.version("setuptools")
    except importlib.metadata.PackageNotFoundError:
        return False
    return tuple(int(part) for part in version.split(".")[:2] if part.isdigit()) >= SETUPTOOLS


def _pip(command: str, *options: str, environment: dict[str, str] | None = None) -> None:
    pip = [sys.executable, "-m", "pip", command, "--quiet", "--disable-pip-version-check", *options]
    result = subprocess.run(pip, capture_output=True, text=True, env=environment)
    if result.returncode:
        lines = result.stderr.strip().splitlines() or ["no reason given"]
        reason = next((line for line in lines if line.lstrip().lower().startswith("error")), lines[-1])
        raise KenlmSourceError(
            f"pip cannot download the source of {NAME} {VERSION} ({reason.strip()}); "
            "check the network, or set KENLM_SOURCE to a folder with the unpacked source"
        )


def _unpack(archive: Path, folder: Path) -> None:
    """Unpack regular files and folders that stay within `folder`."""
    with tarfile.open(archive) as tar:
        for member in tar.getmembers():
            path = Path(member.name)
            if path.is_absolute() or ".." in path.parts or not (member.isfile() or member.isdir()):
                raise KenlmSourceError(f"{archive.name} has an entry that is not safe to unpack: {member.name}")
        tar.extractall(folder)  # noqa: S202, since every entry was checked


def _move_into_place(unpacked: Path, source: Path) -> None:
    try:
        unpacked.rename(source)
    except OSError:  # another build was faster
        if not source.is_dir():
            raise
        shutil.rmtree(unpacked)


if __name__ == "__main__":
    try:
        print(kenlm_source(Path(sys.argv[1]) if len(sys.argv) > 1 else DEFAULT_FOLDER))
    except KenlmSourceError as error:
        sys.exit(str(error))
