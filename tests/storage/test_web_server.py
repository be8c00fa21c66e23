"""A corpus on a plain web server: read only, over http."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from corpora import TinyCorpus
from xdg import BaseDirectory

from deepspeech.cli.importing.shards import main as write_shards
from deepspeech.util.corpus import read_corpus
from deepspeech.util.errors import StorageError
from deepspeech.util.features import FeatureOptions, front_end
from deepspeech.util.text import Alphabet

MFCC = front_end(FeatureOptions(feature_type="psf"))


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Yield the address of a web server of a folder."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(SimpleHTTPRequestHandler, directory=str(folder))) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


def test_lists_recordings_and_shards_are_read_over_http(
    tiny_corpus: TinyCorpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(BaseDirectory, "xdg_cache_home", str(tmp_path / "cache"))
    folder = tmp_path / "site"
    folder.mkdir()
    (folder / "wav").symlink_to(tiny_corpus.test.parent / "wav")
    (folder / "test.csv").write_bytes(tiny_corpus.test.read_bytes())
    write_shards([str(tiny_corpus.test), "--to", str(folder / "shard"), "--shard_mb", "0.05"])
    shards = capsys.readouterr().out.partition(": ")[0].rpartition("/")[2]
    labels = Alphabet.load(tiny_corpus.alphabet)
    here = sorted((each.samples, each.transcript) for each in read_corpus([tiny_corpus.test], labels, MFCC))
    with served(folder) as address:
        for name in ("test.csv", shards):
            found = read_corpus([Path(f"{address}/{name}")], labels, MFCC, progress=False)
            assert sorted((each.samples, each.transcript) for each in found) == here
        with pytest.raises(StorageError, match=f"{address}/none.csv: there is no such file"):
            read_corpus([Path(f"{address}/none.csv")], labels, MFCC, progress=False)
