"""Corpora that are imported by the address of their folder in an object store."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from corpora import say, write_wav
from object_store import ObjectStore

from deepspeech.cli.importing.corpus import main

pytest_plugins = ["store_fixtures"]


def put_corpus(store: ObjectStore, folder: Path, names: str) -> None:
    for name in names:
        store.put(
            f"corpus/{name}.wav", write_wav(folder / f"{name}.wav", say(name, np.random.default_rng(1))).read_bytes()
        )
        store.put(f"corpus/{name}.txt", f"word {name}".encode())


def imported(store: ObjectStore, folder: Path) -> set[str]:
    """Import the corpus; return the names of its recordings."""
    assert main(["auto", "--from", store.address("corpus"), "--to", str(folder)]) == 0
    rows = [row for each in folder.glob("*.csv") if each.name != "left_out.csv" for row in each.read_text().split("\n")]
    return {Path(row.partition(",")[0]).stem for row in rows if ".wav," in row}


def test_files_are_fetched_once_again_if_they_change_and_removed_with_their_originals(
    store: ObjectStore, tmp_path: Path
) -> None:
    put_corpus(store, tmp_path, "abc")
    store.put("corpus/.hidden.wav", b"x")
    store.put("corpus//elsewhere.wav", b"x")
    store.put("corpus/../above.wav", b"x")
    out = tmp_path / "out"
    assert imported(store, out) == {"a", "b", "c"}
    fetched = out / "fetched"
    assert {path.name for path in fetched.rglob("*")} == {f"{name}.{kind}" for name in "abc" for kind in ("wav", "txt")}
    asked = store.faults.requests
    (fetched / ".d.wav.part").touch()
    assert imported(store, out) == {"a", "b", "c"}
    assert store.faults.requests - asked < 5
    put_corpus(store, tmp_path, "d")
    store.put("corpus/a.txt", b"another word")
    store.client.delete_object(Bucket="speech", Key="corpus/b.wav")
    assert imported(store, out) == {"a", "c", "d"}
    assert (fetched / "a.txt").read_text() == "another word"
    assert not (fetched / "b.wav").exists() and not (fetched / ".d.wav.part").exists()


@pytest.mark.parametrize(
    ("address", "reason"),
    [
        ("s3://speech/none", "--from=s3://speech/none: there are no files"),
        ("s3://none/corpus", "s3://none/corpus: The specified bucket does not exist"),
        (
            "https://host/corpus",
            "--from=https://host/corpus: the files of a web server cannot be listed; name archives",
        ),
        ("ftp://host/corpus", "ftp: an address begins with s3://, gs://, hf://, http://, https:// or file:"),
    ],
)
def test_an_address_without_files_is_refused_in_one_line(
    address: str, reason: str, store: ObjectStore, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert store.environment
    assert main(["auto", "--from", address, "--to", str(tmp_path / "out")]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert reason in line
    assert not (tmp_path / "out").exists()


def test_a_format_that_is_not_known_is_refused_before_anything_is_fetched(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["parket", "--from", "s3://speech/corpus", "--to", str(tmp_path / "out")]) == 1
    assert "there is no corpus 'parket'; there are aishell, " in capsys.readouterr().err
