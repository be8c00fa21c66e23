"""Listed rows are left out of a corpus."""

from __future__ import annotations

import logging
import os
import re
from pathlib import Path

import pytest
from corpora import TinyCorpus
from xdg import BaseDirectory

from deepspeech.errors import CorpusError
from deepspeech.options import EvaluationOptions, Options, flags_of
from deepspeech.util.checks.bad_rows.exclusion import Exclusions
from deepspeech.util.corpus import Corpus, read_corpus
from deepspeech.util.corpus_files import Row
from deepspeech.util.features import FeatureOptions, front_end
from deepspeech.util.parts import part_of
from deepspeech.util.storage.copies import INPUTS, copy_of
from deepspeech.util.text import Alphabet


def read(corpus: TinyCorpus, *lists: Path) -> Corpus:
    mfcc = front_end(FeatureOptions())
    excluded = Exclusions.read(lists)
    return read_corpus([corpus.train], Alphabet.load(corpus.alphabet), mfcc, progress=False, excluded=excluded)


def test_rows_are_listed_by_line_or_by_recording(
    tiny_corpus: TinyCorpus, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder = tiny_corpus.train.parent
    by_line, by_name = tmp_path / "lines.csv", tmp_path / "names.csv"
    by_line.write_text(f"csv_file,line\n{tiny_corpus.train},2\n{tiny_corpus.train},4\n{tiny_corpus.dev},3\n")
    by_name.write_text(f"comment,wav_filename\nnoise,{folder}/wav/../wav/train-0.wav\ncough,{folder}/wav/train-9.wav\n")
    with caplog.at_level(logging.INFO):
        kept = read(tiny_corpus, by_line, by_name)
    assert {utterance.line for utterance in kept} == set(range(2, 26)) - {2, 4, 11}
    (line,) = (message for message in caplog.messages if "left out" in message)
    assert line == f"{tiny_corpus.train}: 3 of 24 rows left out, as listed in {by_line}, {by_name}"


def test_each_folder_is_resolved_once_however_many_rows_are_read_and_listed(
    tiny_corpus: TinyCorpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    by_line, by_name = tmp_path / "lines.csv", tmp_path / "names.csv"
    wav = tiny_corpus.train.parent / "wav"
    by_line.write_text("wav_filename,csv_file,line\n" + f"{wav}/train-0.wav,{tiny_corpus.train},2\n" * 9)
    by_name.write_text("wav_filename\n" + "".join(f"{wav}/train-{number}.wav\n" for number in range(1, 10)))
    resolved: list[str] = []
    realpath = os.path.realpath

    def noted(path: str | os.PathLike[str], **settings: bool) -> str:
        resolved.append(os.fspath(path))
        return realpath(path, **settings)

    monkeypatch.setattr(os.path, "realpath", noted)
    assert len(read(tiny_corpus, by_line, by_name)) == 14
    assert [path for path in resolved if path.startswith(str(wav))] == [str(wav)]


def test_lists_that_leave_no_row_out_are_told_in_a_warning(
    tiny_corpus: TinyCorpus, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    moved = tmp_path / "moved.csv"
    moved.write_text("wav_filename\nwav/train-0.wav\n")
    assert len(read(tiny_corpus, moved)) == 24
    (warning,) = (each.getMessage() for each in caplog.records if each.levelno == logging.WARNING)
    assert warning == (
        f"{tiny_corpus.train}: no row is left out: nothing that {moved} names is read here; "
        "relative names are looked for from the folder of the list that has them"
    )


def test_a_list_without_rows_leaves_none_out_and_is_no_reason_to_warn(
    tiny_corpus: TinyCorpus, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "none.csv").write_text("csv_file,line\n")
    assert len(read(tiny_corpus, tmp_path / "none.csv")) == 24
    assert not [each for each in caplog.records if each.levelno == logging.WARNING]


def test_recordings_are_named_as_in_corpora_with_the_backslashes_of_windows_or_by_addresses(
    tiny_corpus: TinyCorpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed = tiny_corpus.train.parent / "names.csv"
    listed.write_text("wav_filename\nwav\\train-0.wav\n")
    assert {utterance.line for utterance in read(tiny_corpus, listed)} == set(range(2, 26)) - {2}
    monkeypatch.setattr(BaseDirectory, "xdg_cache_home", str(tmp_path))
    remote = copy_of("s3://bucket/corpus/bad_rows.csv", INPUTS)
    remote.parent.mkdir(parents=True)
    remote.write_text("wav_filename,csv_file,line\nclips/a.wav,,\ns3://other/b.wav,,\n,train.csv,7\n")
    excluded = Exclusions.read([remote])
    named = [(1, "s3://bucket/corpus/clips/a.wav"), (2, "s3://other/b.wav"), (7, "s3://other/c.wav"), (8, "s3://d/d")]
    train = str(copy_of("s3://bucket/corpus/train.csv"))
    rows = [Row(train, line, str(copy_of(name)), "a") for line, name in named]
    assert excluded.remaining(rows) == rows[3:]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("file,line\n", ":1: a list of rows to leave out has columns csv_file and line, or wav_filename"),
        ("csv_file,line\nx.csv,two\n", ":2: neither the csv_file and line of a row nor a wav_filename"),
        (
            "wav_filename,csv_file,line\nother.wav,TRAIN,2\n",
            ": names .*other.wav for .*:2, where .*train-0.wav is",
        ),
    ],
)
def test_a_list_that_cannot_be_used_is_an_error(
    tiny_corpus: TinyCorpus, tmp_path: Path, text: str, problem: str
) -> None:
    listed = tmp_path / "bad_rows.csv"
    listed.write_text(text.replace("TRAIN", str(tiny_corpus.train)))
    with pytest.raises(CorpusError, match=f"^{re.escape(str(listed))}{problem}"):
        read(tiny_corpus, listed)
    with pytest.raises(CorpusError, match=r"none.csv: cannot read the list of rows to leave out: No such file"):
        read(tiny_corpus, tmp_path / "none.csv")


def test_a_line_that_has_another_part_of_the_same_recording_since_the_list_was_made_is_an_error(tmp_path: Path) -> None:
    train = tmp_path / "train.csv"
    listed = tmp_path / "bad_rows.csv"
    listed.write_text(f"wav_filename,csv_file,line,start,duration\ntalk.flac,{train},2,1.5,2.0\n")
    excluded = Exclusions.read([listed])
    rows = [Row(str(train), 2, str(tmp_path / "talk.flac"), "a", part=part_of(start, 2.0)) for start in (1.5, 3.5)]
    assert excluded.remaining(rows[:1]) == []
    for row, now in ((rows[1], r"talk.flac from 3.5 s on"), (rows[1]._replace(part=None), r"talk.flac")):
        with pytest.raises(CorpusError, match=rf"names .*talk.flac from 1.5 s on for .*:2, where .*{now} is now"):
            excluded.remaining([row])


def test_a_part_that_rounding_puts_before_its_recording_is_left_out_by_the_start_that_reports_have(
    tiny_corpus: TinyCorpus, tmp_path: Path
) -> None:
    corpus, listed = tmp_path / "corpus.csv", tmp_path / "listed.csv"
    wav = tiny_corpus.train.parent / "wav"
    starts = [(0, -0.005), (1, 0.0)]
    rows = "".join(f"{wav}/train-{number}.wav,1,a,{start},0.3\n" for number, start in starts)
    corpus.write_text(f"wav_filename,wav_filesize,transcript,start,duration\n{rows}")
    listed.write_text(f"csv_file,line,wav_filename,start\n{corpus},2,{wav}/train-0.wav,0.0\n")
    letters, mfcc = Alphabet.load(tiny_corpus.alphabet), front_end(FeatureOptions())
    kept = read_corpus([corpus], letters, mfcc, progress=False, excluded=Exclusions.read([listed]))
    assert [utterance.line for utterance in kept] == [3]


def test_one_of_several_utterances_of_a_line_may_be_left_out(tmp_path: Path) -> None:
    train = tmp_path / "train.jsonl"
    listed = tmp_path / "bad_rows.csv"
    listed.write_text(f"wav_filename,csv_file,line,start\na.flac,{train},1,1.5\nb.flac,{train},1,\n")
    names = [("a.flac", part_of(0.0, 1.5)), ("a.flac", part_of(1.5, 2.0)), ("b.flac", None), ("c.flac", None)]
    rows = [Row(str(train), 1, str(tmp_path / name), "a", part=part) for name, part in names]
    assert Exclusions.read([listed]).remaining(rows) == [rows[0], rows[3]]


def test_a_list_that_is_out_of_date_is_an_error_beside_a_newer_one_for_the_same_line(
    tiny_corpus: TinyCorpus, tmp_path: Path
) -> None:
    lists = old, new = tmp_path / "old.csv", tmp_path / "new.csv"
    for listed, name in zip(lists, ("train-9", "train-0"), strict=True):
        recording = tiny_corpus.train.parent / f"wav/{name}.wav"
        listed.write_text(f"wav_filename,csv_file,line\n{recording},{tiny_corpus.train},2\n")
    for order in ((old, new), (new, old)):
        with pytest.raises(CorpusError, match=r": names .*train-9.wav for .*:2, where .*train-0.wav is now"):
            read(tiny_corpus, *order)


def test_leaving_out_all_rows_is_an_error(tiny_corpus: TinyCorpus) -> None:
    with pytest.raises(CorpusError, match=r"train.csv: all rows are left out, as listed in .*train.csv$"):
        read(tiny_corpus, tiny_corpus.train)


def test_only_the_trainer_has_the_flag() -> None:
    assert "exclude_files" in {flag.name for flag in flags_of(Options)}
    assert "exclude_files" not in {flag.name for flag in flags_of(EvaluationOptions)}
