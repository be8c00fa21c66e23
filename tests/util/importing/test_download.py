"""Downloads and archives of the importers, against a real HTTP server on this machine."""

import bz2
import gzip
import hashlib
import io
import lzma
import random
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from subprocess import CompletedProcess

import pytest
from archive_server import Server, serving
from running import assert_fails_with, run_script, write_wav

from deepspeech.util.errors import ImportingError
from deepspeech.util.importing.download import RemoteFile
from deepspeech.util.importing.unpacked_archives import fetch_archives


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    with serving() as server:
        server.content = yesno_archive(tmp_path)
        yield server


def yesno_archive(folder: Path, count: int = 60) -> bytes:
    """Return a tar.gz of `count` recordings and a README."""
    stream = io.BytesIO()
    wav = write_wav(folder / "source.wav")
    with tarfile.open(fileobj=stream, mode="w:gz") as archive:
        for number in range(count):
            archive.add(wav, f"waves_yesno/{'_'.join(f'{number:08b}')}.wav")
        archive.add(wav, "waves_yesno/README")
    wav.unlink()
    return stream.getvalue()


def import_from(server: Server, out: Path, **options: str) -> "CompletedProcess[str]":
    options = {"url": server.url, "sha256": hashlib.sha256(server.content).hexdigest(), **options}
    return run_script("import_yesno.py", out, *(f"--{name}={value}" for name, value in options.items()))


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_a_download_becomes_a_corpus_with_relative_names(server: Server, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert import_from(server, out).returncode == 0
    assert names(out / "download") == {"archive"}
    assert len((out / "train.csv").read_text().splitlines()) == 26
    assert "\ndownload/archive/waves_yesno/0_0_0_0_0_0_1_0.wav," in (out / "test.csv").read_text()


def test_what_was_imported_is_not_downloaded_again(server: Server, tmp_path: Path) -> None:
    import_from(server, tmp_path / "out")
    assert import_from(server, tmp_path / "out").returncode == 0
    assert len(server.asked) == 1


def test_a_broken_connection_is_taken_up_where_it_broke(server: Server, tmp_path: Path) -> None:
    server.break_after = 1000
    assert import_from(server, tmp_path / "out").returncode == 0
    assert server.asked == [None, "bytes=1000-"]


def test_a_later_run_carries_on_from_the_part_that_arrived(server: Server, tmp_path: Path) -> None:
    (tmp_path / "out" / "download").mkdir(parents=True)
    (tmp_path / "out" / "download" / "archive.tar.gz.part").write_bytes(server.content[:500])
    assert import_from(server, tmp_path / "out").returncode == 0
    assert server.asked == ["bytes=500-"]


def test_a_part_that_is_already_whole_is_taken_as_it_is(server: Server, tmp_path: Path) -> None:
    (tmp_path / "out" / "download").mkdir(parents=True)
    (tmp_path / "out" / "download" / "archive.tar.gz.part").write_bytes(server.content)
    assert import_from(server, tmp_path / "out").returncode == 0


def test_a_server_that_knows_no_ranges_sends_the_whole_file_again(server: Server, tmp_path: Path) -> None:
    server.ranges = False
    server.break_after = 1000
    assert import_from(server, tmp_path / "out").returncode == 0
    assert server.asked == [None, "bytes=1000-"]


def test_a_file_with_another_checksum_is_deleted_and_named(server: Server, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert_fails_with(import_from(server, out, sha256="0" * 64), server.url, "SHA-256", "--sha256")
    assert not names(out / "download")


def test_a_damaged_part_does_not_spoil_the_next_run(server: Server, tmp_path: Path) -> None:
    (tmp_path / "out" / "download").mkdir(parents=True)
    (tmp_path / "out" / "download" / "archive.tar.gz.part").write_bytes(b"x" * 500)
    assert_fails_with(import_from(server, tmp_path / "out"), "SHA-256")
    assert import_from(server, tmp_path / "out").returncode == 0


def test_a_file_that_is_no_archive_is_refused(server: Server, tmp_path: Path) -> None:
    server.content = b"<html>moved</html>"
    assert_fails_with(import_from(server, tmp_path / "out"), "archive.tar.gz", "cannot be unpacked")


def test_an_address_that_gives_no_file_is_one_line(server: Server, tmp_path: Path) -> None:
    missing = server.url.replace("archive", "missing")
    assert_fails_with(import_from(server, tmp_path / "out", url=missing), missing, "404", "--from")
    assert_fails_with(import_from(server, tmp_path / "out", url="http://127.0.0.1:9/x.tar.gz"), "refused")
    assert_fails_with(import_from(server, tmp_path / "out", url="file:///etc/passwd.zip"), "only http and https")


def corpus_archive(folder: Path) -> bytes:
    """Return a tar.gz of an LJSpeech-like corpus, whose recordings are in an inner archive."""
    inner, outer = io.BytesIO(), io.BytesIO()
    with tarfile.open(fileobj=inner, mode="w:gz") as archive:
        archive.add(write_wav(folder / "source.wav"), "a.wav")
    with tarfile.open(fileobj=outer, mode="w:gz") as archive:
        for name, content in (("metadata.csv", b"a|yes"), ("wavs/all.tar.gz", inner.getvalue())):
            member = tarfile.TarInfo(f"Corpus-1.0/{name}")
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return outer.getvalue()


def test_a_published_corpus_is_downloaded_once_unpacked_and_imported(server: Server, tmp_path: Path) -> None:
    server.content = corpus_archive(tmp_path)
    server.break_after = 200
    digest = hashlib.sha256(server.content).hexdigest()
    arguments = ["ljspeech", "--url", server.url, "--to", tmp_path / "out"]
    for _ in range(2):
        done = run_script("import_corpus.py", *arguments, "--sha256", digest)
        assert done.returncode == 0, done.stderr
    assert server.asked == [None, "bytes=200-"]
    assert "\ndownload/archive/Corpus-1.0/wavs/a.wav," in (tmp_path / "out" / "train.csv").read_text()
    assert_fails_with(run_script("import_corpus.py", *arguments), "--sha256")


COMPRESSIONS: dict[str, Callable[[bytes], bytes]] = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress}


def archive_of_noise(compression: str, inner: bytes | None = None) -> bytes:
    """Return a tar file of 200 kB of incompressible data and another archive."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as archive:
        contents = {f"waves/{number}.raw": random.Random(number).randbytes(20_000) for number in range(10)}
        for name, content in (contents if inner is None else {"waves/all.tar.xz": inner}).items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return COMPRESSIONS[compression](stream.getvalue())


def damaged(content: bytes) -> bytes:
    """Return a copy of a file with a changed byte in the middle."""
    return content[: len(content) // 2] + bytes([content[len(content) // 2] ^ 255]) + content[len(content) // 2 + 1 :]


@pytest.mark.parametrize("compression", COMPRESSIONS)
def test_an_archive_that_is_damaged_inside_is_named_and_nothing_of_it_stays(
    compression: str, server: Server, tmp_path: Path
) -> None:
    """Only the checksum at the end of a tar.gz reveals a damaged recording in it."""
    path = tmp_path / "out" / f"corpus.tar.{compression}"
    server.contents[path.name] = damaged(archive_of_noise(compression))
    archive = RemoteFile(server.url.replace("archive.tar.gz", path.name))
    with pytest.raises(ImportingError, match=f"^{path} cannot be unpacked: .+; delete it and run again$"):
        fetch_archives([archive], path.parent, lambda _: None)
    assert names(path.parent) == {path.name}


def test_an_archive_with_a_damaged_header_is_refused_and_not_half_unpacked(server: Server, tmp_path: Path) -> None:
    server.contents["corpus.tar"] = gzip.decompress(archive_of_noise("gz")).replace(b"waves/5.raw", b"waves/6.raw")
    archive = RemoteFile(server.url.replace("archive.tar.gz", "corpus.tar"))
    with pytest.raises(ImportingError, match=r"corpus.tar cannot be unpacked: damaged in its middle; delete it"):
        fetch_archives([archive], tmp_path / "out", lambda _: None)
    assert names(tmp_path / "out") == {"corpus.tar"}


def test_an_archive_in_another_one_that_is_damaged_is_put_down_to_that_one(server: Server, tmp_path: Path) -> None:
    server.content = archive_of_noise("gz", damaged(archive_of_noise("xz")))
    path = tmp_path / "out" / "archive.tar.gz"
    with pytest.raises(ImportingError, match=f"^{path} cannot be unpacked: .+; delete it and run again$"):
        fetch_archives([RemoteFile(server.url)], path.parent, lambda _: None)


def test_recordings_of_a_damaged_archive_are_not_imported(server: Server, tmp_path: Path) -> None:
    server.content = server.content[:-8] + bytes(4) + server.content[-4:]  # its checksum
    assert_fails_with(import_from(server, tmp_path / "out"), "cannot be unpacked")
    assert not list(tmp_path.rglob("*.csv"))


def test_two_archives_of_one_name_are_refused_before_anything_is_fetched(server: Server, tmp_path: Path) -> None:
    """The second one, of another language perhaps, was taken for the first, and nothing of it was imported."""
    server.contents["data.tar.gz"] = corpus_archive(tmp_path)
    archives = [RemoteFile(server.url.replace("archive.tar.gz", f"data.{end}")) for end in ("tar.gz", "tgz")]
    with pytest.raises(ImportingError, match=r"data\.tgz and .*/data\.tar\.gz would be unpacked into one folder"):
        fetch_archives(iter(archives), tmp_path / "out", lambda _: None)
    assert not server.asked
    assert fetch_archives([archives[0]] * 2, tmp_path / "out", lambda _: None).is_dir()


@pytest.mark.parametrize("name", ["../escaped.wav", "here/../../escaped.wav"])
def test_an_archive_that_writes_elsewhere_is_refused(name: str, server: Server, tmp_path: Path) -> None:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz") as archive:
        link = tarfile.TarInfo("here")
        link.type, link.linkname = tarfile.SYMTYPE, "/"
        archive.addfile(link)
        archive.addfile(tarfile.TarInfo(name))
    server.content = stream.getvalue()
    digest = hashlib.sha256(server.content).hexdigest()
    with pytest.raises(ImportingError, match="cannot be unpacked"):
        fetch_archives([RemoteFile(server.url, digest)], tmp_path / "deep" / "out", lambda _: None)
    assert not list(tmp_path.rglob("escaped.wav"))
    with pytest.raises(ImportingError, match="is not an archive"):
        fetch_archives([RemoteFile("http://127.0.0.1/page.html", digest)], tmp_path, lambda _: None)


@pytest.mark.parametrize("encoding", ["utf-8", "cp437"])
def test_names_in_a_zip_archive_are_utf_8_also_without_its_flag(encoding: str, server: Server, tmp_path: Path) -> None:
    """`zip` and macOS write them so, and each row of a list that names such a recording was left out."""
    stream, name = io.BytesIO(), "été.wav".encode(encoding)
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("x" * len(name), b"")
        archive.writestr("flagged_é.wav", b"")
    server.contents["corpus.zip"] = stream.getvalue().replace(b"x" * len(name), name)
    address = RemoteFile(server.url.replace("archive.tar.gz", "corpus.zip"))
    assert names(fetch_archives([address], tmp_path / "out", lambda _: None)) == {"été.wav", "flagged_é.wav"}
