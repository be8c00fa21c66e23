"""What leaves this machine names recordings and lists by their addresses, not by their copies here."""

from __future__ import annotations

import io
import json
import os
import re
import tarfile
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from checkpoint_sessions import STATE, session_of
from corpora import TinyCorpus
from object_store import ObjectStore
from program import Program
from xdg import BaseDirectory

from deepspeech.checkpoints.choice import choose
from deepspeech.checkpoints.model_figures import ModelFigures
from deepspeech.checkpoints.recovery import find_intact
from deepspeech.cli import flags
from deepspeech.cli.storage.local_copies import with_local_copies
from deepspeech.errors import CheckpointError, CorpusError, ExportError
from deepspeech.export.folder import check_files
from deepspeech.schedule.jobs import EpochReport, SetName, Tally
from deepspeech.training.lifecycle import RunLifecycle
from deepspeech.util.checks.bad_rows.exclusion import Exclusions
from deepspeech.util.checks.overlap import overlap
from deepspeech.util.corpus import read_corpus
from deepspeech.util.corpus_files import Row, read_files, read_transcripts
from deepspeech.util.features import FeatureOptions, front_end
from deepspeech.util.figures.output_file import OutputFile
from deepspeech.util.shards.writing import write_shards
from deepspeech.util.storage import copies
from deepspeech.util.text import Alphabet

pytest_plugins = ["store_fixtures"]


def test_the_output_of_a_test_names_recordings_by_their_addresses(
    store: ObjectStore, tiny_corpus: TinyCorpus, tmp_path: Path
) -> None:
    folder = tiny_corpus.test.parent
    names = {path.relative_to(folder).as_posix() for path in folder.glob("wav/test-*")}
    for name in (tiny_corpus.test.name, *names):
        store.put(f"corpus/{name}", (folder / name).read_bytes())
    features, listed = front_end(FeatureOptions(feature_type="psf")), Path(store.address("corpus/test.csv"))
    corpus = read_corpus([listed], Alphabet.load(tiny_corpus.alphabet), features, progress=False)
    output = OutputFile(tmp_path / "test.json", corpus)
    for utterance in corpus:
        output.add(utterance, "", 1.0)
    output.write()
    entries = json.loads((tmp_path / "test.json").read_text())
    assert {entry["wav_filename"] for entry in entries} == {store.address(f"corpus/{name}") for name in names}


def test_a_list_may_name_a_recording_of_this_machine_by_its_address(tmp_path: Path) -> None:
    recording = tmp_path / "a 1#2.wav"
    (tmp_path / "list.csv").write_text(f"wav_filename,transcript\n{recording.as_uri()},a\n")
    (tmp_path / "list.jsonl").write_text(json.dumps({"audio_filepath": recording.as_uri(), "text": "a"}))
    rows = read_files([tmp_path / "list.csv", tmp_path / "list.jsonl"], None)
    assert [row.path for row in rows if isinstance(row, Row)] == [str(recording)] * 2


@pytest.mark.parametrize("folder", ["cache", "./cache/", "other/../cache"])
@pytest.mark.parametrize("absolute", [True, False])
def test_a_copy_is_known_however_the_folder_of_the_cache_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folder: str, absolute: bool
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(BaseDirectory, "xdg_cache_home", f"{tmp_path}/{folder}" if absolute else folder)
    copy = copies.copy_of("s3://bucket/corpus/train.csv")
    assert copy == tmp_path / "cache/deepspeech/storage/files/s3/bucket/corpus/train.csv"
    assert copies.original_of(copy) == copies.original_of(copy.resolve()) == "s3://bucket/corpus/train.csv"


def test_rows_that_cannot_be_used_are_told_by_the_addresses_of_list_and_recording(
    store: ObjectStore, tiny_corpus: TinyCorpus
) -> None:
    store.put("corpus/a.wav", b"no recording")
    store.put("corpus/train.csv", b"wav_filename,transcript\na.wav,a\n,b\nb.wav,c\n")
    features, listed = front_end(FeatureOptions(feature_type="psf")), store.address("corpus/train.csv")
    with pytest.raises(CorpusError) as caught:
        read_corpus([Path(listed)], Alphabet.load(tiny_corpus.alphabet), features, progress=False)
    told = [str(row) for row in caught.value.bad_rows]
    assert [line.partition(": ")[0] for line in told] == [f"{listed}:2", f"{listed}:3", f"{listed}:4"]
    assert told[0].startswith(f"{listed}:2: {store.address('corpus/a.wav')}: ")
    assert str(copies.root()) not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("empty.csv", b"wav_filename,transcript\n", "no rows below the column names"),
        ("other.csv", b"a,b\n1,2\n", "no column wav_filename"),
        ("gap.csv", b'wav_filename,transcript\n"a\n', "malformed CSV in the row that starts here"),
        ("empty.tsv", b"", "no column wav_filename"),
        ("bytes.jsonl", b"\xff\xff\xff", "not UTF-8"),
        ("cut.tar", b"", "not a tar file without compression"),
        ("train.tar.gz", b"", "shards must be tar files without compression"),
        ("train-{3..1}.tar", b"", "the range {3..1} ends before it begins"),
    ],
)
def test_a_list_that_cannot_be_read_is_told_by_its_address(
    store: ObjectStore, name: str, content: bytes, told: str
) -> None:
    store.put(name, content)
    for path in (Path(store.address(name)), copies.copy_of(store.address(name))):
        with pytest.raises(CorpusError) as caught:
            list(read_files([path], None))
        assert str(caught.value).startswith(f"{store.address(name)}:")
        assert told in str(caught.value)
        assert str(copies.root()) not in str(caught.value)


def test_a_list_given_twice_and_a_folder_are_told_by_their_addresses(store: ObjectStore) -> None:
    store.put("a.csv", b"wav_filename,transcript\na.wav,a\n")
    listed, folder = Path(store.address("a.csv")), Path("s3://speech")
    with pytest.raises(CorpusError, match=f"^{store.address('a.csv')}: given twice$"):
        list(read_files([listed, listed], None))
    with pytest.raises(CorpusError, match=r"^s3://speech: a directory without wav.scp"):
        list(read_files([folder], None))


def test_transcripts_and_members_of_shards_are_told_by_their_addresses(store: ObjectStore) -> None:
    with tarfile.open(fileobj=(content := io.BytesIO()), mode="w") as archive:
        archive.addfile(tarfile.TarInfo("a.txt"))
    store.put("a.tar", content.getvalue())
    store.put("a.csv", b"wav_filename,transcript\na.wav,a\n")
    shard = store.address("a.tar")
    (row,) = read_files([Path(shard)], None)
    assert str(row).startswith(f"{shard}:1: {shard}/a.txt: no recording beside it")
    assert list(read_transcripts([Path(store.address("a.csv"))])) == [(f"{store.address('a.csv')}:2", "a", "")]


def test_a_recording_that_shards_cannot_be_written_of_is_told_by_its_address(
    store: ObjectStore, tmp_path: Path
) -> None:
    store.put("corpus/train.csv", b"wav_filename,transcript\na.wav,a\n")
    folder = store.address("corpus")
    with pytest.raises(CorpusError) as error:
        write_shards([Path(f"{folder}/train.csv")], str(tmp_path / "shard"), 1_000, seed=1)
    assert str(error.value) == f"{folder}/train.csv:2: {folder}/a.wav: No such file or directory"


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"wav_filename\n\xff\n", ": not a CSV in UTF-8"),
        (b"name\na.wav\n", ":1: a list of rows to leave out has columns"),
        (b"csv_file,line,wav_filename\n,,\n", ":2: neither the csv_file and line of a row nor a wav_filename"),
        (b"wav_filename,start\na.wav,x\n", ":2: a start and a duration must be numbers"),
    ],
)
def test_a_list_of_rows_to_leave_out_is_told_by_its_address(store: ObjectStore, content: bytes, told: str) -> None:
    store.put("bad_rows.csv", content)
    address = store.address("bad_rows.csv")
    copies.fetch_missing(copies.copy_of(address))
    with pytest.raises(CorpusError) as error:
        Exclusions.read([copies.copy_of(address)])
    assert str(error.value).startswith(f"{address}{told}")


def test_a_recording_in_two_sets_is_told_by_its_address(store: ObjectStore, tiny_corpus: TinyCorpus) -> None:
    recording = next(tiny_corpus.train.parent.glob("wav/train-*.wav"))
    store.put("a.wav", recording.read_bytes())
    store.put("a.csv", b"wav_filename,transcript\na.wav,a\n")
    features, listed = front_end(FeatureOptions(feature_type="psf")), Path(store.address("a.csv"))
    corpus = read_corpus([listed], Alphabet.load(tiny_corpus.alphabet), features, progress=False)
    assert f"(such as {store.address('a.wav')}, {store.address('a.csv')}:2 and" in str(overlap(corpus, corpus))


def test_a_list_that_is_an_address_is_named_as_it_is_written() -> None:
    assert copies.named_for_all(Path("s3://bucket/train.csv")) == "s3://bucket/train.csv"
    assert copies.named_for_all(Path("data/train.csv")) == "data/train.csv"


@pytest.mark.usefixtures("store")
@pytest.mark.parametrize(
    ("wanted", "told"),
    [
        ("auto", "s3://bucket/run: holds no checkpoint; train first"),
        ("best", "--checkpoint=best: s3://bucket/run holds no best checkpoint of a validation"),
        ("last", "--checkpoint=last: s3://bucket/run holds no newest checkpoint"),
        ("train-9", "--checkpoint=train-9: s3://bucket/run holds no such checkpoint"),
    ],
)
def test_a_folder_without_the_wanted_checkpoint_is_told_by_its_address(wanted: str, told: str) -> None:
    folder = copies.copy_of("s3://bucket/run", copies.FOLDERS)
    with pytest.raises(CheckpointError, match=f"^{re.escape(told)}"):
        choose(folder, wanted, lambda kind: find_intact(folder, kind, set()), "Testing")


@pytest.mark.usefixtures("store")
def test_a_folder_that_is_no_export_is_told_by_its_address() -> None:
    folder = copies.copy_of("s3://bucket/export", copies.FOLDERS)
    for names, why in (({"a.txt"}, "it also holds 'a.txt'"), ({"model.md"}, "there is no output_graph.pb in it")):
        with pytest.raises(ExportError, match=f"^--remove_export: s3://bucket/export is not an export: {why}"):
            check_files(folder, names)


class NoSummaries:
    def epoch_done(self, _report: EpochReport) -> None:
        pass


class Progress:
    state = STATE
    training_is_over = True


def test_the_figures_of_a_model_name_test_sets_by_their_addresses(store: ObjectStore, program: Program) -> None:
    given = flags.parse([*program.model(), f"--test_files={store.address('test.csv')},{program.corpus.test}"])
    assert given is not None
    program.checkpoints.mkdir()
    options = with_local_copies(given)
    with session_of(program.checkpoints) as (checkpoints, session):
        summaries: Any = NoSummaries()
        run = RunLifecycle(options, {}, Progress(), session, checkpoints, summaries)
        run.epoch_done(EpochReport(1, SetName.TEST, True, Tally.of_utterance("a.wav", "a", "b", 1.0)), "")
    figures = ModelFigures.read(program.checkpoints)
    assert figures.test_files == (store.address("test.csv"), str(program.corpus.test))


def test_the_folder_of_copies_is_found_once_for_all_rows_of_a_list(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "list.csv").write_text("wav_filename,transcript\n" + "a.wav,a\n" * 1000)
    monkeypatch.setattr(BaseDirectory, "xdg_cache_home", str(tmp_path / "cache"))
    monkeypatch.setattr(os.path, "abspath", made_absolute := Mock(wraps=os.path.abspath))
    assert len({row.source for row in read_files([tmp_path / "list.csv"], None)}) == 1000
    assert made_absolute.call_count < 100


def test_a_name_that_no_file_can_have_is_a_bad_row_at_an_address_too(tmp_path: Path) -> None:
    """JSON can escape half a character, and a byte that is not UTF-8, which a name of a file can have."""
    names = (r"http://host/\ud800.wav", r"\ud800.wav", r"http://host/caf\udce9.wav")
    lines = (f'{{"audio_filepath": "{name}", "text": "a"}}\n' for name in names)
    (tmp_path / "a.jsonl").write_text("".join(lines))
    *bad, good = read_files([tmp_path / "a.jsonl"], None)
    assert [str(row).split(": ")[:2] for row in bad] == [
        [f"{tmp_path}/a.jsonl:{line}", "audio_filepath is a name that no file can have"] for line in (1, 2)
    ]
    assert isinstance(good, Row) and good.path.endswith("/host/caf\udce9.wav")
