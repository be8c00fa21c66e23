"""What the experiment `auto` tells while it unpacks, reads and measures recordings, which can take long."""

from __future__ import annotations

import logging
import re
import tarfile
from pathlib import Path

import numpy as np
import pytest
from corpora import RATE, write_wav

from deepspeech.cli.flags import parse
from deepspeech.options import LogOptions


def archive_with_links(path: Path) -> Path:
    recording = write_wav(path.parent / "a.wav", np.ones(RATE, np.float32) / 2)
    recording.with_suffix(".txt").write_text("one")
    with tarfile.open(path, "w") as archive:
        link = tarfile.TarInfo("recordings/latest")
        link.type, link.linkname = tarfile.SYMTYPE, "/of/another/machine"
        archive.addfile(link)
        for file in (recording, recording.with_suffix(".txt")):
            archive.add(file, f"recordings/{file.name}")
    return path


def test_the_progress_and_the_warnings_of_what_is_done_before_training_are_in_the_log(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "deepspeech")
    archive = archive_with_links(tmp_path / "corpus.tar")
    begun: list[tuple[LogOptions, int]] = []
    flags = ["--experiment=auto", f"--work={tmp_path / 'work'}", f"--from={archive}", "--log_level=2"]
    assert parse(flags, lambda logs: begun.append((logs, len(caplog.records))))
    said = [record.getMessage() for record in caplog.records]
    assert [(logs.level, lines) for logs, lines in begun] == [(2, 0)]
    for title in ("Unpacking corpus.tar: 3 files", "Reading .*: 1 row", "Measuring .*: 1 recording"):
        assert any(re.match(title, line) for line in said), title
    assert sum("a link that leads out of it is left out" in line for line in said) == 1
