"""The folders of the C++ code include only what they may: of other folders, of Python and of TensorFlow."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

NATIVE = Path(__file__).resolve().parents[2] / "native_client"
SEEN = {
    "shared": set(),
    "language_model": {"shared"},
    "decoder": {"shared", "language_model"},
    "acoustic": {"shared"},
    "training": {"shared"},
    "standard_error": set(),
    "c_api": {"shared", "language_model", "decoder", "acoustic"},
}
"""For each folder of the libraries, the other folders whose files it may include."""

BINDINGS = {
    "acoustic/python/binding.cc",
    "acoustic/python/layers.h",
    "acoustic/python/weights.h",
    "decoder/binding.cc",
}
OPERATIONS = {"training/kernel_context.h", "training/ops.cc", "training/registration.h"}
TENSORFLOW_HEADER = "training/tensorflow_api.h"


def sources(*folders: str) -> dict[str, str]:
    """Return the text of each C++ file of the folders, by its path in native_client/."""
    files = [path for folder in folders for path in sorted((NATIVE / folder).rglob("*"))]
    return {str(path.relative_to(NATIVE)): path.read_text() for path in files if path.suffix in (".cc", ".h", ".inc")}


def includes(text: str) -> list[str]:
    return re.findall(r'^#include ["<]([^">]+)[">]', text, re.MULTILINE)


@pytest.mark.parametrize("folder", SEEN)
def test_a_folder_includes_only_what_it_builds_on(folder: str) -> None:
    assert sources(folder)
    for name, text in sources(folder).items():
        folders = {include.split("/")[0] for include in includes(text)} & {path.name for path in NATIVE.iterdir()}
        assert folders <= {folder} | SEEN[folder], name


def test_every_folder_is_a_library_or_beside_them() -> None:
    folders = {path.name for path in NATIVE.iterdir() if path.is_dir() and any(path.rglob("*.cc"))}
    assert folders - {"tools", "tests", "fuzz"} <= SEEN.keys()
    assert not [path for path in NATIVE.iterdir() if path.suffix in (".cc", ".h", ".inc")]


def test_only_the_bindings_know_python() -> None:
    knowing = {
        name
        for name, text in sources(".").items()
        if re.search(r"\bpy::|\bPy[A-Z_]\w*\(", text) or any("Python.h" in i or "pybind11" in i for i in includes(text))
    }
    assert knowing == BINDINGS


def test_only_one_header_says_what_tensorflow_offers() -> None:
    files = sources(".")
    assert not [name for name, text in files.items() if any(i.startswith("tensorflow/") for i in includes(text))]
    assert {name for name, text in files.items() if TENSORFLOW_HEADER in includes(text)} == OPERATIONS
    assert {name for name, text in files.items() if re.search(r"\bTF_\w+", text)} == {*OPERATIONS, TENSORFLOW_HEADER}
