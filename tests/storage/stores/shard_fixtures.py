"""The tiny corpus in shards, and a cache of its own for a test that reads them."""

from __future__ import annotations

from pathlib import Path

import pytest
from corpora import TinyCorpus
from xdg import BaseDirectory

from deepspeech.cli.importing.shards import main


@pytest.fixture
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(BaseDirectory, "xdg_cache_home", str(tmp_path / "cache"))


@pytest.fixture
def shards(tiny_corpus: TinyCorpus, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    """Write the tiny corpus's training set into shards; return what --train_files would be given."""
    assert main([str(tiny_corpus.train), "--to", str(tmp_path / "shards/train"), "--shard_mb", "0.15"]) == 0
    name, _, summary = capsys.readouterr().out.partition(": ")
    assert summary.startswith("24 utterances, ")
    return Path(name)
