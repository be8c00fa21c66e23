"""The folders below a folder."""

from __future__ import annotations

import logging
import os
import resource
from pathlib import Path

import pytest

from deepspeech.util.files.folders import walk


def test_a_folder_that_cannot_be_read_is_not_passed_over_in_silence(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "first").mkdir()
    (tmp_path / "second").mkdir()
    found = walk(tmp_path)
    assert next(found) == (str(tmp_path), [])
    assert next(found) == (str(tmp_path / "first"), [])
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (0, limits[1]))
    try:
        with caplog.at_level(logging.WARNING):
            rest = list(found)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
    assert rest == []
    assert caplog.messages == [f"{tmp_path / 'second'}: cannot be read ({os.strerror(24)}), and nothing in it is taken"]
