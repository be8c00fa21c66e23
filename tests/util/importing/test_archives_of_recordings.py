"""Importing from the archive that a corpus is downloaded as, which lies on this machine."""

from __future__ import annotations

import os
import tarfile
import zipfile
from pathlib import Path

import pytest
from trees import Import, read, tone, write

from deepspeech.cli.importing.corpus import main
from deepspeech.cli.importing.shards import main as write_shards
from deepspeech.util.errors import ImportingError
from deepspeech.util.importing import unpacked_source


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """Make a small Common Voice, in the folder of its version and its language."""
    language = tmp_path / "cv-corpus" / "cy"
    for name in ("a", "b", "c"):
        tone(language / "clips" / f"{name}.mp3")
    rows = "".join(f"{name}\t{name}.mp3\tbore da {name}\n" for name in ("a", "b", "c"))
    write(language / "validated.tsv", "client_id\tpath\tsentence\n" + rows)
    return tmp_path / "cv-corpus"


def tar(folder: Path, path: Path) -> Path:
    with tarfile.open(path, "w:gz" if path.suffix == ".gz" else "w") as archive:
        archive.add(folder, folder.name)
    return path


def zipped(folder: Path, path: Path) -> Path:
    """Write a zip archive as macOS does."""
    with zipfile.ZipFile(path, "w") as archive:
        for file in sorted(file for file in folder.rglob("*") if file.is_file()):
            name = file.relative_to(folder.parent)
            archive.write(file, name)
            archive.writestr(f"__MACOSX/{name.parent}/._{name.name}", b"attributes")
    return path


@pytest.mark.parametrize("name", ["cy.tar.gz", "cy.tar", "cy.zip", "CY.ZIP"])
def test_an_archive_is_unpacked_and_imported_as_its_folder_is(
    name: str, corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    archive = (zipped if name.lower().endswith(".zip") else tar)(corpus, tmp_path / name)
    folder = corpus.rename(tmp_path / "elsewhere")
    assert main(["auto", "--from", str(archive), "--to", str(tmp_path / "out")]) == 0
    said = capsys.readouterr().err
    assert f"{archive} is unpacked into {tmp_path / 'out' / 'download' / name.partition('.')[0]}\n" in said
    assert "has the format common_voice" in said
    assert sorted(row["transcript"] for row in read(tmp_path / "out" / "train.csv")) == sorted(
        row["transcript"] for row in Import("common_voice", folder / "cy", tmp_path / "other").rows("train")
    )


def test_archives_inside_an_archive_are_unpacked_but_not_the_files_of_macos_beside_them(tmp_path: Path) -> None:
    tone(tmp_path / "inner" / "wavs" / "a.wav")
    (tmp_path / "outer").mkdir()
    zipped(tmp_path / "inner" / "wavs", tmp_path / "outer" / "A.ZIP")
    write(tmp_path / "outer" / "._A.ZIP", b"attributes")
    write(tmp_path / "outer" / "metadata.csv", "a|yes\n")
    done = Import("ljspeech", tar(tmp_path / "outer", tmp_path / "mine.tar.gz"), tmp_path / "out")
    assert done.transcripts == {"a.wav": "yes"}


@pytest.mark.parametrize("name", ["mine.tar.gz", "mine.tar", "mine.zip"])
def test_lists_in_an_archive_are_imported_as_those_of_its_folder_are(name: str, tmp_path: Path) -> None:
    tone(tmp_path / "mine" / "a.wav")
    write(tmp_path / "mine" / "all.csv", "wav_filename,transcript\na.wav,bore da\n")
    archive = (zipped if name.endswith(".zip") else tar)(tmp_path / "mine", tmp_path / name)
    assert Import("lists", archive, tmp_path / "out").transcripts == {"a.wav": "bore da"}


def test_an_archive_is_unpacked_once_and_again_if_it_has_changed(corpus: Path, tmp_path: Path) -> None:
    archive, out = tar(corpus, tmp_path / "cy.tar.gz"), tmp_path / "out"
    news: list[str] = []
    language = unpacked_source(archive, out, news.append)
    assert language.name == "cy" and (language / "validated.tsv").is_file()
    unpacked_source(archive, out, news.append)
    assert len(news) == 1
    write(corpus / "cy" / "clips" / "new.txt", "new")
    tar(corpus, archive)
    os.utime(archive, (1, 1))
    assert (unpacked_source(archive, out, news.append) / "clips" / "new.txt").is_file()
    assert len(news) == 2
    archive.unlink()
    assert unpacked_source(archive, out, news.append) == language


def test_a_damaged_archive_is_named_and_kept(corpus: Path, tmp_path: Path) -> None:
    archive = tar(corpus, tmp_path / "cy.tar.gz")
    archive.write_bytes(archive.read_bytes()[:-400])
    with pytest.raises(ImportingError, match=r"cy\.tar\.gz cannot be unpacked: .*; copy or download it again$"):
        Import("common_voice", archive, tmp_path / "out")
    assert archive.is_file()
    assert not [path for path in (tmp_path / "out").rglob("*") if path.is_file()]


def test_an_archive_without_a_name_for_its_folder_replaces_no_other_folder(corpus: Path, tmp_path: Path) -> None:
    archive, mine = zipped(corpus, tmp_path / "...zip"), write(tmp_path / "out" / "mine.txt", "mine")
    (tmp_path / "out" / "download").mkdir()
    assert unpacked_source(archive, tmp_path / "out", print) == archive
    assert mine.is_file()


def test_the_name_of_an_archive_need_not_be_utf_8(corpus: Path, tmp_path: Path) -> None:
    archive, news = tar(corpus, tmp_path / os.fsdecode(b"caf\xe9.tar")), list[str]()
    first = unpacked_source(archive, tmp_path / "out", news.append)
    assert unpacked_source(archive, tmp_path / "out", news.append) == first
    assert len(news) == 1 and (first / "validated.tsv").is_file()


def test_links_that_lead_out_of_an_archive_are_left_out_alone(
    corpus: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (corpus / "cy" / "latest").symlink_to("/of/another/machine")
    (corpus / "cy" / "above").symlink_to("../../../above")
    os.mkfifo(corpus / "cy" / "pipe")
    done = Import("common_voice", tar(corpus, tmp_path / "cy.tar"), tmp_path / "out")
    assert len(done.all_rows) == 3
    assert not {"latest", "above", "pipe"} & {path.name for path in (tmp_path / "out").rglob("*")}
    assert caplog.text.count("left out") == 3


@pytest.mark.parametrize("name", ["/tmp/escaped.wav", "here/escaped.wav"])
def test_absolute_paths_and_those_through_a_link_stay_below_the_folder(name: str, tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "a.tar", "w") as archive:
        link = tarfile.TarInfo("here")
        link.type, link.linkname = tarfile.SYMTYPE, str(tmp_path / "elsewhere")
        archive.addfile(link)
        archive.addfile(tarfile.TarInfo(name))
    (tmp_path / "elsewhere").mkdir()
    unpacked_source(tmp_path / "a.tar", tmp_path / "out")
    assert [path.is_relative_to(tmp_path / "out" / "download" / "a") for path in tmp_path.rglob("escaped.wav")] == [
        True
    ]


def test_what_a_killed_import_has_unpacked_is_removed_by_the_next(corpus: Path, tmp_path: Path) -> None:
    archive, downloads = tar(corpus, tmp_path / "cy.tar"), tmp_path / "out" / "download"
    write(downloads / ".cy.part-x1y2" / "new" / "a.wav", "half")
    write(downloads / ".de.part-x1y2" / "new" / "a.wav", "half")
    unpacked_source(archive, tmp_path / "out")
    assert {path.name for path in downloads.glob("*.part-*")} == {".de.part-x1y2"}


def test_the_speakers_of_an_unpacked_shard_are_known(corpus: Path, tmp_path: Path) -> None:
    Import("common_voice", corpus, tmp_path / "out")
    assert write_shards([str(tmp_path / "out" / "train.csv"), "--to", str(tmp_path / "shard")]) == 0
    done = Import("folder", tmp_path / "shard-000000.tar", tmp_path / "again")
    assert sorted((row["transcript"], row["speaker"]) for row in done.all_rows) == sorted(
        (row["transcript"], row["speaker"]) for row in read(tmp_path / "out" / "train.csv")
    )
