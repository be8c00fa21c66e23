"""What leaves this machine names recordings and lists by their addresses, not by their copies here."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from checkpoint_sessions import STATE, session_of
from corpora import TinyCorpus
from object_store import ObjectStore
from program import Program
from xdg import BaseDirectory

from deepspeech.checkpoints.model_figures import ModelFigures
from deepspeech.cli import flags
from deepspeech.cli.storage.local_copies import with_local_copies
from deepspeech.errors import CorpusError
from deepspeech.schedule.jobs import EpochReport, SetName, Tally
from deepspeech.training.lifecycle import RunLifecycle
from deepspeech.util.corpus import read_corpus
from deepspeech.util.corpus_files import Row, read_files
from deepspeech.util.features import FeatureOptions, front_end
from deepspeech.util.figures.output_file import OutputFile
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
