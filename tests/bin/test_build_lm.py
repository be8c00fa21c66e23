"""What bin/build_lm.py takes for text."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from running import assert_fails_with, run_script


@pytest.mark.parametrize("name", ["train.csv.gz", "train.TSV.GZ", "train.jsonl.gz"])
def test_a_compressed_list_is_not_taken_for_text(tmp_path: Path, name: str) -> None:
    for tool in ("lmplz", "filter", "build_binary"):
        (tmp_path / tool).touch()
    (tmp_path / name).write_bytes(gzip.compress(b"wav_filename,wav_filesize,transcript\na.wav,9,turn on the light\n"))
    done = run_script("build_lm.py", tmp_path / name, "--out", tmp_path / "lm", "--tools", tmp_path)
    assert_fails_with(done, f"{name}: compressed; decompress it")
