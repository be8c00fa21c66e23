"""The shared library of the C interface, for its tests."""

from __future__ import annotations

import os
import subprocess

import pytest
from client import LIBRARY, ROOT, Library


@pytest.fixture(scope="session")
def library() -> Library:
    """Return the library of this checkout, built again if its sources have changed."""
    if not LIBRARY.is_file():
        pytest.skip("no shared library in this checkout; `make -C native_client c_api` builds it")
    subprocess.run(["make", "--silent", "-C", ROOT / "native_client", "c_api"], check=True, capture_output=True)
    return Library(LIBRARY)


@pytest.fixture(scope="session")
def environment(library: Library) -> dict[str, str]:
    """Return the environment in which compilers, and programs, find the library where it was built."""
    assert library
    folder = str(LIBRARY.parent)
    return {**os.environ, "PKG_CONFIG_PATH": folder, "LD_LIBRARY_PATH": folder, "DEEPSPEECH_LIBRARY": str(LIBRARY)}
