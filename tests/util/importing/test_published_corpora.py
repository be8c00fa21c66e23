"""Published corpora, in their published layouts, downloaded from a local server."""

from __future__ import annotations

import csv
import hashlib
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from archive_server import Server, packed, serving
from trees import tone, write

from deepspeech.cli.importing.corpus import main
from deepspeech.util.errors import ImportingError
from deepspeech.util.importing import MODULES, import_corpus, is_imported
from deepspeech.util.importing.download import RemoteFile, download, in_words
from deepspeech.util.importing.published import BY_HAND, PUBLISHED, Published, fetch_published


@pytest.fixture
def server() -> Iterator[Server]:
    with serving() as server:
        yield server


@pytest.fixture
def librispeech(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Server:
    """Return a server with the two standard parts of LibriSpeech, and a third part."""
    archives = {}
    for part, speakers in (("train-clean-5", (1, 2, 3)), ("dev-clean-2", (4,)), ("train-clean-100", (5,))):
        folder = tmp_path / "published" / part
        for speaker in speakers:
            chapter = folder / "LibriSpeech" / part / str(speaker) / "7"
            tone(chapter / f"{speaker}-7-0000.flac")
            write(chapter / f"{speaker}-7.trans.txt", f"{speaker}-7-0000 A WORD\n")
        server.contents[f"{part}.tar.gz"] = content = packed(folder)
        digest = hashlib.md5(content, usedforsecurity=False).hexdigest()
        archives[part] = RemoteFile(f"{server.url.rpartition('/')[0]}/{part}.tar.gz", md5=digest, size=len(content))
    published = Published("CC BY 4.0", archives, standard=("train-clean-5", "dev-clean-2"))
    monkeypatch.setitem(PUBLISHED, "librispeech", published)
    return server


class Run(NamedTuple):
    code: int
    stderr: str

    @property
    def last(self) -> str:
        return self.stderr.splitlines()[-1]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Callable[..., Run]:
    def run(*arguments: object) -> Run:
        code = main([str(argument) for argument in arguments])
        return Run(code, capsys.readouterr().err)

    return run


def subsets(out: Path) -> set[str]:
    found = set()
    for name in ("train", "dev", "test"):
        with (out / f"{name}.csv").open(encoding="utf-8", newline="") as file:
            found |= {row["subset"] for row in csv.DictReader(file)}
    return found


def test_the_parts_of_a_corpus_are_downloaded_through_a_cut_and_imported(
    librispeech: Server, run: Callable[..., Run], tmp_path: Path
) -> None:
    out = tmp_path / "out"
    librispeech.break_after = 300
    done = run("librispeech", "--download", "--to", out)
    assert done.code == 0, done.stderr
    assert librispeech.asked == [None, "bytes=300-", None]
    assert "librispeech: 2 archives, 0.1 MB; licence: CC BY 4.0" in done.stderr
    assert subsets(out) == {"train-clean-5", "dev-clean-2"}

    assert run("librispeech", "--part", "train-clean-5", "--part", "train-clean-100", "--to", out).code == 0
    assert librispeech.asked == [None, "bytes=300-", None, None]
    assert subsets(out) == {"train-clean-5", "train-clean-100"}
    assert not list((out / "download").glob("*.tar.gz*"))

    wrong = run("librispeech", "--part", "train-clean-7", "--to", out)
    assert wrong.last.endswith("no part 'train-clean-7'; there are train-clean-5, dev-clean-2, train-clean-100")


def test_parts_are_chosen_from_a_folder_too(librispeech: Server, run: Callable[..., Run], tmp_path: Path) -> None:
    source = tmp_path / "published"
    done = run("librispeech", "--from", source, "--part", "train-clean-5", "--to", tmp_path / "out")
    assert done.code == 0 and subsets(tmp_path / "out") == {"train-clean-5"}
    shutil.rmtree(source / "dev-clean-2")
    done = run("librispeech", "--from", source, "--part", "dev-clean-2", "--to", tmp_path / "none")
    assert "has no folder dev-clean-2" in done.last
    done = run("folder", "--from", source, "--part", "dev-clean-2", "--to", tmp_path / "none")
    assert "folder has no parts" in done.last
    assert not (tmp_path / "none").exists() and librispeech.asked == []


def test_without_a_folder_a_format_says_how_to_come_by_its_corpus(
    librispeech: Server, run: Callable[..., Run], tmp_path: Path
) -> None:
    assert (
        "with --download, or some of its parts with --part: train-clean-5, "
        in run("librispeech", "--to", tmp_path / "out").last
    )
    assert "account" in run("common_voice", "--download", "--to", tmp_path / "out").last
    assert "one for each submission" in run("voxforge", "--to", tmp_path / "out").last
    assert "kaldi cannot be downloaded" in run("kaldi", "--download", "--to", tmp_path / "out").last
    synthesized = run("demo", "--download", "--to", tmp_path / "out")
    assert synthesized.last.endswith("--download: demo has no published archives; leave it out")
    both = run("librispeech", "--download", "--from", tmp_path, "--to", tmp_path / "out")
    assert both.last.endswith("--download: cannot be combined with --from")
    assert not (tmp_path / "out").exists() and librispeech.asked == []


def test_an_imported_corpus_needs_no_download(librispeech: Server, tmp_path: Path) -> None:
    import_corpus("librispeech", tmp_path / "out", tmp_path / "published", lambda _: None)
    assert is_imported(tmp_path / "out")
    import_corpus("librispeech", tmp_path / "out")
    assert librispeech.asked == []


def test_what_arrives_is_compared_with_what_is_known_of_it(server: Server, tmp_path: Path) -> None:
    server.content = b"content"
    md5 = hashlib.md5(b"content", usedforsecurity=False).hexdigest()
    news: list[str] = []
    download(RemoteFile(server.url, md5=md5, size=100), tmp_path / "good", news.append)  # a size is a hint only
    download(RemoteFile(server.url, size=7), tmp_path / "unknown", news.append)
    sha256 = hashlib.sha256(b"content").hexdigest()
    assert news[-1] == f"unknown: no checksum is published; its SHA-256 is {sha256}, its size 7 bytes"
    for wrong, words in (
        (RemoteFile(server.url, md5="0" * 32), f"its MD5 is {md5}, not {'0' * 32}; it was deleted"),
        (RemoteFile(server.url, size=8), "it has 7 bytes, not 8"),
    ):
        with pytest.raises(ImportingError, match=words):
            download(wrong, tmp_path / "bad", news.append)
    with pytest.raises(ImportingError, match="404"):
        download(RemoteFile(server.url.replace("archive.tar.gz", "missing")), tmp_path / "bad", news.append)
    assert {path.name for path in tmp_path.iterdir()} == {"good", "unknown"}


def test_a_full_disk_is_said_at_once(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    server.content = b"content"
    (tmp_path / "archive.part").symlink_to("/dev/full")
    with pytest.raises(ImportingError, match="No space left on device; what has arrived is kept"):
        download(RemoteFile(server.url), tmp_path / "archive", lambda _: None)
    usage = shutil.disk_usage(tmp_path)._replace(free=5)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
    with pytest.raises(ImportingError, match=r"0\.1 MB free, and 0\.1 MB are still to be downloaded"):
        download(RemoteFile(server.url), tmp_path / "other", lambda _: None)
    assert len(server.asked) == 2


def test_a_proxy_of_the_environment_is_used(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    server.content = b"content"
    monkeypatch.setenv("http_proxy", server.url.rpartition("/")[0])
    download(RemoteFile("http://corpora.invalid/a.tar.gz"), tmp_path / "a.tar.gz", lambda _: None)
    assert server.paths == ["http://corpora.invalid/a.tar.gz"]


def test_what_is_published_can_be_unpacked_and_is_of_a_format() -> None:
    for name, published in PUBLISHED.items():
        assert MODULES[name].startswith("formats.") and published.licence
        for archive in published.choose(name, published.archives):
            assert archive.url.endswith((".tgz", ".tar.gz", ".tar.bz2", ".zip"))
            assert len(archive.sha256) in (0, 64) and len(archive.md5) in (0, 32)
    assert not PUBLISHED.keys() & BY_HAND.keys() and BY_HAND.keys() <= MODULES.keys()
    assert [in_words(size) for size in (54_000_000_000, 332_954_390, 1_500_000)] == ["54.0 GB", "333 MB", "1.5 MB"]


def aishell(folder: Path) -> None:
    """Write the tree of an unpacked AISHELL-1: the recordings of each speaker are in an inner archive."""
    for part, speaker in (("train", "S1"), ("dev", "S2"), ("test", "S3")):
        tone(folder / "inner" / speaker / part / speaker / f"W{speaker}.wav")
        write(folder / "data_aishell" / "wav" / f"{speaker}.tar.gz", packed(folder / "inner" / speaker))
    shutil.rmtree(folder / "inner")
    write(folder / "data_aishell" / "transcript" / "aishell_transcript_v0.8.txt", "WS1 而 对\nWS2 成交\nWS3 抑制\n")


def an4(folder: Path) -> None:
    for name in ("train", "test"):
        for speaker in range(3):
            tone(folder / "an4" / "wav" / f"an4_{name}" / f"{name}{speaker}" / "one.sph")
        lines = [f"an4_{name}/{name}{speaker}/one" for speaker in range(3)]
        write(folder / "an4" / "etc" / f"an4_{name}.fileids", "\n".join(lines))
        write(folder / "an4" / "etc" / f"an4_{name}.transcription", "<s> GO </s> (one)\n" * 3)


@pytest.mark.parametrize(("name", "tree", "rows"), [("aishell", aishell, 3), ("an4", an4, 6)])
def test_an_archive_in_its_real_layout_is_found_where_it_begins(
    name: str, tree: Callable[[Path], None], rows: int, server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree(tmp_path / "published")
    server.content = packed(tmp_path / "published")
    monkeypatch.setitem(PUBLISHED, name, Published("", {"all": RemoteFile(server.url)}))
    source = fetch_published(name, (), tmp_path / "download", lambda _: None)
    import_corpus(name, tmp_path / "out", source, lambda _: None)
    found = sum(
        len((tmp_path / "out" / f"{each}.csv").read_text().splitlines()) - 1 for each in ("train", "dev", "test")
    )
    assert found == rows
