"""Parts of recordings in the report of a test and in its other files."""

from __future__ import annotations

import csv
import json
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
from corpora import RATE, write_wav
from tested_utterances import results

from deepspeech.util.checks.bad_rows.listing import write_list
from deepspeech.util.checks.bad_rows.page import write_page
from deepspeech.util.checks.bad_rows.ranking import RowFigures, worst_first
from deepspeech.util.corpus import Corpus, read_corpus
from deepspeech.util.features import FeatureOptions, front_end
from deepspeech.util.figures.error_report.comparison import compare
from deepspeech.util.figures.error_report.folder import ReportFolder
from deepspeech.util.figures.error_report.results import csv_of, read_results
from deepspeech.util.figures.output_file import OutputFile
from deepspeech.util.text import Alphabet


def corpus(folder: Path) -> Corpus:
    """Return two parts of a recording, the second of them ten times as loud, and a whole recording."""
    samples = np.random.default_rng(1).uniform(-0.05, 0.05, 3 * RATE).astype(np.float32)
    samples[RATE:] *= 10
    write_wav(folder / "talk.flac", samples)
    write_wav(folder / "word.wav", samples[: RATE // 4])
    rows = ["talk.flac,9,a b,0.25,0.5,x", "talk.flac,9,b,1.5,1.25,y", "word.wav,9,c,,,z"]
    header = "wav_filename,wav_filesize,transcript,start,duration,kind"
    (folder / "test.csv").write_text("\n".join([header, *rows]) + "\n")
    options = FeatureOptions()
    return read_corpus([folder / "test.csv"], Alphabet(tuple(" abc")), front_end(options), progress=False)


def test_a_report_measures_and_plays_the_part(tmp_path: Path) -> None:
    tested = corpus(tmp_path)
    report = ReportFolder(tmp_path / "report", "model", tested)
    output = OutputFile(tmp_path / "test.json", tested)
    for utterance in tested:
        report.add(utterance, "", 1.0, None)
        output.add(utterance, "", 1.0)
    report.write(progress=False)
    output.write()
    first, second, third = read_results(tmp_path / "report" / "utterances.csv")
    assert [first.start, second.start, third.start] == [0.25, 1.5, None]
    assert [each.columns for each in (first, third)] == [
        {"duration": "0.5", "kind": "x"},
        {"duration": "", "kind": "z"},
    ]
    assert first.loudness is not None
    assert second.loudness is not None
    assert 19 < second.loudness - first.loudness < 21
    page = (tmp_path / "report" / "report.html").read_text()
    assert 'src="../talk.flac#t=0.250,0.750"' in page
    assert 'src="../talk.flac#t=1.500,2.750"' in page
    assert 'src="../word.wav"' in page
    entries = json.loads((tmp_path / "test.json").read_text())
    assert [(entry.get("start"), entry["duration"]) for entry in entries] == [(0.25, 0.5), (1.5, 1.25), (None, 0.25)]


def test_what_is_written_names_recordings_whose_folder_is_not_utf_8(tmp_path: Path) -> None:
    folder = tmp_path / os.fsdecode(b"caf\xe9")
    (tmp_path / "corpus").mkdir()
    corpus(tmp_path / "corpus")
    (tmp_path / "corpus").rename(folder)
    tested = read_corpus([folder / "test.csv"], Alphabet(tuple(" abc")), front_end(FeatureOptions()), progress=False)
    report = ReportFolder(tmp_path / "report", "model", tested)
    output = OutputFile(tmp_path / "test.json", tested)
    for utterance in tested:
        report.add(utterance, "", 1.0, None)
        output.add(utterance, "", 1.0)
    report.write(progress=False)
    output.write()
    ranked = worst_first([RowFigures(utterance, 1.0, 0.0, "a") for utterance in tested])
    write_list(ranked, tmp_path / "bad_rows.csv")
    write_page(ranked, 3, tmp_path / "bad_rows.html")
    entries = json.loads((tmp_path / "test.json").read_text())
    assert {entry["wav_filename"] for entry in entries} == {utterance.path for utterance in tested}
    assert json.loads((tmp_path / "report" / "report.json").read_text())["test_files"] == [str(folder / "test.csv")]
    for name in ("report/report.html", "report/utterances.csv", "bad_rows.csv", "bad_rows.html"):
        assert "caf\\udce9" in (tmp_path / name).read_text("utf-8")


def test_two_reports_are_compared_part_by_part() -> None:
    one = [replace(each, recording="/talk.flac", reference="one", start=0.5 * n) for n, each in enumerate(results(4))]
    moved = [replace(each, recording="/other/talk.flac") for each in reversed(one)]
    for first, second in ((one, one[::-1]), ([replace(each, recording="/a/other/talk.flac") for each in one], moved)):
        assert compare(first, second).differing_texts == 0
    assert not any("start_seconds" in csv_of(results(2)).splitlines()[0] for _ in one)


def test_a_list_of_bad_rows_with_parts_is_a_corpus_of_the_same_parts(tmp_path: Path) -> None:
    tested = corpus(tmp_path)
    ranked = worst_first([RowFigures(utterance, 1.0, 0.0, "a") for utterance in tested])
    write_list(ranked, tmp_path / "bad_rows.csv")
    with (tmp_path / "bad_rows.csv").open(newline="") as file:
        assert csv.DictReader(file).fieldnames[-2:] == ["start", "duration"]  # type: ignore[index]
    options = front_end(FeatureOptions())
    again = read_corpus([tmp_path / "bad_rows.csv"], Alphabet(tuple(" abc")), options, progress=False)
    assert [(each.transcript, each.part, each.samples) for each in again] == [
        (each.transcript, each.part, each.samples) for each in tested
    ]
    write_page(ranked, 3, tmp_path / "report.html")
    assert "talk.flac#t=0.250,0.750" in (tmp_path / "report.html").read_text()
