"""A corpus on a plain web server: read only, over http."""

from __future__ import annotations

import os
import shutil
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler
from pathlib import Path

import aiohttp
import fsspec
import pytest
import soundfile
from corpora import TinyCorpus
from web_server import served
from xdg import BaseDirectory

from deepspeech.cli.importing.shards import main as write_shards
from deepspeech.util.batching.batches import Batching
from deepspeech.util.corpus import read_corpus
from deepspeech.util.errors import StorageError
from deepspeech.util.features import FeatureOptions, front_end
from deepspeech.util.feeding import Feeder, OnTheFly
from deepspeech.util.storage.copies import Settings
from deepspeech.util.storage.file_systems import file_system
from deepspeech.util.storage.store import Store
from deepspeech.util.text import Alphabet

MFCC = front_end(FeatureOptions(feature_type="psf"))


class Refusing(SimpleHTTPRequestHandler):
    """Answers each request with the status that its path ends in."""

    def do_HEAD(self) -> None:
        self.send_error(int(self.path[-3:]))

    do_GET = do_HEAD  # noqa: N815


@pytest.mark.parametrize(
    ("status", "told"), [(401, "401 Unauthorized"), (403, "403 Forbidden"), (503, "503 Service Unavailable; tried for")]
)
def test_a_refusal_is_told_at_once_and_an_overloaded_server_is_waited_for(status: int, told: str) -> None:
    with served(Refusing) as address:
        began = time.monotonic()
        with pytest.raises(StorageError, match=f"^{address}/{status}: the answer was {told}"):
            Store(60 if status < 500 else 0.5).about(f"{address}/{status}")
        assert time.monotonic() - began < 30


class Circular(SimpleHTTPRequestHandler):
    """Sends everybody back to where they are."""

    def do_HEAD(self) -> None:
        self.send_response(302)
        self.send_header("Location", self.path)
        self.end_headers()

    do_GET = do_HEAD  # noqa: N815


def test_a_server_that_redirects_without_end_is_not_asked_again() -> None:
    with served(Circular) as address, pytest.raises(StorageError, match=f"^{address}/a: .* redirects without end"):
        Store(60).about(f"{address}/a")


@contextmanager
def unreachable() -> Iterator[str]:
    """Yield the address of a port at which nobody listens."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{taken.getsockname()[1]}"


class Silent(SimpleHTTPRequestHandler):
    """Ends every connection without an answer."""

    def do_HEAD(self) -> None:
        self.close_connection = True

    do_GET = do_HEAD  # noqa: N815


@pytest.mark.parametrize("server", [unreachable, partial(served, Silent)], ids=["unreachable", "silent"])
def test_a_server_that_does_not_answer_is_waited_for(server: Callable[[], AbstractContextManager[str]]) -> None:
    with server() as address, pytest.raises(StorageError, match=f"^{address}/a: .* .*; tried for 0.3 seconds$"):
        Store(0.3).about(f"{address}/a")


def test_only_recordings_that_are_not_there_are_skipped_as_bad_rows(
    tiny_corpus: TinyCorpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(BaseDirectory, "xdg_cache_home", str(tmp_path / "cache"))
    Settings(0.2).write()
    labels, rows = Alphabet.load(tiny_corpus.alphabet), "wav_filename,wav_filesize,transcript\n"
    here = sorted((tiny_corpus.test.parent / "wav").glob("test-*.wav"))
    with served(partial(SimpleHTTPRequestHandler, directory=str(here[0].parent))) as address:
        (tmp_path / "list.csv").write_text(f"{rows}{here[0]},0,a\n{address}/{here[1].name},0,b\n{address}/none,0,a\n")
        corpus = read_corpus([tmp_path / "list.csv"], labels, MFCC, progress=False, skip_bad_rows=True)
    assert sorted(each.line for each in corpus) == [2, 3]
    shutil.rmtree(tmp_path / "cache/deepspeech/storage/files")
    with pytest.raises(StorageError, match=f"^{address}/.*; tried for 0.2 seconds"):
        read_corpus([tmp_path / "list.csv"], labels, MFCC, progress=False, skip_bad_rows=True)
    with pytest.raises(StorageError, match=rf"^{address}/.*; tried for 0.2 seconds \({tmp_path}/list.csv:3\)$"):
        Feeder(corpus, OnTheFly(corpus, MFCC), Batching(2), skip_unreadable=True).batch(0)


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
    with served(partial(SimpleHTTPRequestHandler, directory=str(folder))) as address:
        for name in ("test.csv", shards):
            found = read_corpus([Path(f"{address}/{name}")], labels, MFCC, progress=False)
            assert sorted((each.samples, each.transcript) for each in found) == here
        with pytest.raises(StorageError, match=f"{address}/none.csv: there is no such file"):
            read_corpus([Path(f"{address}/none.csv")], labels, MFCC, progress=False)


def test_a_list_that_has_changed_but_not_in_size_is_fetched_again(
    tiny_corpus: TinyCorpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(BaseDirectory, "xdg_cache_home", str(tmp_path / "cache"))
    labels, wav = Alphabet.load(tiny_corpus.alphabet), sorted((tiny_corpus.test.parent / "wav").glob("test-*.wav"))[0]
    found = []
    with served(partial(SimpleHTTPRequestHandler, directory=str(tmp_path))) as address:
        for day, text in enumerate("ab"):
            (tmp_path / "list.csv").write_text(f"wav_filename,transcript\n{wav},{text}\n")
            os.utime(tmp_path / "list.csv", (day * 86_400, day * 86_400))
            corpus = read_corpus([Path(f"{address}/list.csv")], labels, MFCC, progress=False)
            found.append(corpus[0].transcript)
    assert found == ["a", "b"]


def test_names_of_recordings_may_have_what_has_a_meaning_in_addresses(
    tiny_corpus: TinyCorpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(BaseDirectory, "xdg_cache_home", str(tmp_path / "cache"))
    wav, labels = sorted((tiny_corpus.test.parent / "wav").glob("test-*.wav"))[0], Alphabet.load(tiny_corpus.alphabet)
    names = ["take #2, é.wav", "why?.wav", "50% a%20b.wav", "a+b&c=d;e.wav"]
    for name in names:
        (tmp_path / name).symlink_to(wav)
    rows = "".join(f'"{name}",a\n' for name in names)
    with served(partial(SimpleHTTPRequestHandler, directory=str(tmp_path))) as address:
        rows += f'"{address}/take%20%232,%20%C3%A9.wav?version=2",a\n'  # an address is read as one
        (tmp_path / "list.csv").write_text(f"wav_filename,transcript\n{rows}", encoding="utf-8")
        corpus = read_corpus([Path(f"{address}/list.csv")], labels, MFCC, progress=False)
    assert [each.samples for each in corpus] == [soundfile.info(wav).frames] * (len(names) + 1)


class Dripping(SimpleHTTPRequestHandler):
    """Sends what it is asked for piece by piece, a second between the first two."""

    def do_HEAD(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()

    def do_GET(self) -> None:
        self.do_HEAD()
        self.wfile.write(b"a")
        self.wfile.flush()
        time.sleep(1)
        self.wfile.write(b"b")


def test_a_file_may_take_longer_than_a_client_waits_for_a_whole_answer_by_default(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("aiohttp.client.DEFAULT_TIMEOUT", aiohttp.ClientTimeout(total=0.5))
    fsspec.get_filesystem_class("http").clear_instance_cache()
    file_system.cache_clear()
    with served(Dripping) as address:
        Store(0).fetch(f"{address}/a", tmp_path / "a")
    assert (tmp_path / "a").read_bytes() == b"ab"


class Replaced(SimpleHTTPRequestHandler):
    """Serves a file that is replaced by a longer one after it was asked about for the first time."""

    asked = 0

    def do_HEAD(self) -> None:
        Replaced.asked += 1
        self._begin(b"old" if Replaced.asked == 1 else b"newer")

    def do_GET(self) -> None:
        self.wfile.write(self._begin(b"newer"))

    def _begin(self, content: bytes) -> bytes:
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        return content


def test_a_file_that_is_replaced_while_it_is_fetched_is_fetched_as_it_is_now(tmp_path: Path) -> None:
    with served(Replaced) as address:
        assert Store(60).fetch(f"{address}/a", tmp_path / "a").size == 5
    assert (tmp_path / "a").read_bytes() == b"newer"
