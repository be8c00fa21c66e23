"""Files and folders stay small enough to be read: a file has a purpose, and so has a folder."""

from __future__ import annotations

import subprocess
from collections import defaultdict
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

LONGEST_FILE = 300
MOST_FILES = 14

SOURCES = {".py", ".pyi", ".cc", ".h", ".inc", ".sh"}
TAKE_PARTS = (
    *("deepspeech/network", "deepspeech/network/layers", "deepspeech/experiments", "deepspeech/export"),
    *("tests/network", "tests/export", "util/augmentation/kinds", "util/corpus_files", "util/front_ends"),
    *("util/importing/formats/published", "util/importing/formats/lists", "util/importing/formats/annotations"),
    "util/output_units",
)
"""Folders to which docs/contributing.md adds a module for a new part."""

PAIRED = {".cc", ".h", ".inc"}
"""A header and its source count as one."""


@pytest.fixture(scope="module")
def sources() -> list[Path]:
    """Every source file that git knows."""
    command = ["git", "-C", str(ROOT), "ls-files", "--cached", "--others", "--exclude-standard"]
    try:
        listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("not a git checkout")
    paths = [ROOT / name for name in listed]
    return [path for path in paths if path.suffix in SOURCES and path.is_file() and not path.is_symlink()]


def test_no_file_is_too_long(sources: list[Path]) -> None:
    lengths = {str(path.relative_to(ROOT)): len(path.read_text(encoding="utf-8").splitlines()) for path in sources}
    assert not {path: length for path, length in lengths.items() if length > LONGEST_FILE}


def files_of_folders(sources: list[Path]) -> dict[str, set[str]]:
    names: dict[str, set[str]] = defaultdict(set)
    for path in sources:
        names[str(path.relative_to(ROOT).parent)].add(path.stem if path.suffix in PAIRED else path.name)
    return names


def test_no_folder_has_too_many_files(sources: list[Path]) -> None:
    names = files_of_folders(sources)
    assert not {folder: len(files) for folder, files in names.items() if len(files) > MOST_FILES}


def test_a_folder_that_takes_new_parts_has_room_for_one(sources: list[Path]) -> None:
    names = files_of_folders(sources)
    assert not [folder for folder in TAKE_PARTS if not 0 < len(names[folder]) < MOST_FILES]
