"""A real browser, for tests of pages."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

CHROMIUM = shutil.which("chromium")


@contextmanager
def chromium(*arguments: str) -> Iterator[Any]:
    """Return a browser of playwright's, without a window, meanwhile; skip the test if there is none."""
    playwright = pytest.importorskip("playwright.sync_api")
    if CHROMIUM is None:
        pytest.skip("no chromium: install Debian's package")
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", *arguments])
        yield browser
        browser.close()


@pytest.fixture
def browser() -> Iterator[Any]:
    """Return a browser."""
    with chromium() as started:
        yield started
