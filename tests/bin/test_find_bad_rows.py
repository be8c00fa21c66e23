"""bin/find_bad_rows.py finds rows whose transcripts were exchanged on purpose."""

from __future__ import annotations

import csv
import os
import random
from pathlib import Path

import numpy as np
import pytest
from corpora import TinyCorpus
from running import assert_fails_with, run_script

from deepspeech.options import Options, SetOptions
from deepspeech.options.corpora import AlphabetOptions, ExclusionOptions
from deepspeech.schedule.jobs import SetName
from deepspeech.training.inputs import read_inputs


def exchanged(csv_file: Path, out: Path, count: int) -> set[int]:
    """Write a corpus with this many exchanged transcripts; return the lines of their rows."""
    rows = list(csv.DictReader(csv_file.open(encoding="utf-8")))
    texts = [row["transcript"] for row in rows]
    chosen = random.Random(7).sample([place for place, text in enumerate(texts) if texts.count(text) == 1], count)
    for place, other in zip(chosen, chosen[1:] + chosen[:1], strict=True):
        rows[place]["transcript"] = texts[other]
    with out.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows({**row, "wav_filename": str(csv_file.parent / row["wav_filename"])} for row in rows)
    return {place + 2 for place in chosen}


def listed(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_exchanged_transcripts_are_listed_shown_and_left_out_of_training(
    graph_file: Path, tiny_corpus: TinyCorpus, tmp_path: Path
) -> None:
    corpus, output, page = (tmp_path / name for name in ("train.csv", "bad_rows.csv", "report.html"))
    lines = exchanged(tiny_corpus.train, corpus, 3)
    done = run_script("find_bad_rows.py", graph_file, corpus, "--worst", 3, "--output", output, "--report", page)
    assert done.returncode == 0, done.stderr
    rows = listed(output)
    assert {int(row["line"]) for row in rows} == lines
    assert {row["csv_file"] for row in rows} == {str(corpus.resolve())}
    assert all(int(row["character_edits"]) > 0 and float(row["loss_per_label"]) > 1 for row in rows)
    assert np.all(np.diff([float(row["suspicion"]) for row in rows]) <= 0)
    html = page.read_text(encoding="utf-8")
    assert html.count('<audio controls preload="none" src="data:audio/mpeg;base64,') == 3
    assert "The 3 rows that stand out most, of 24 that were checked" in html
    assert all(f"heard: <b dir=auto>{row['hypothesis']}</b>" in html for row in rows)

    options = Options(
        train=SetOptions(files=(corpus,)),
        dev=SetOptions(files=(corpus,)),
        excluded=ExclusionOptions(files=(output,)),
        alphabet=AlphabetOptions(given_path=tiny_corpus.alphabet),
    )
    corpora = read_inputs(options).corpora
    assert {utterance.line for utterance in corpora[SetName.TRAIN]} == set(range(2, 26)) - lines


def test_transcripts_are_normalized_as_in_training_if_asked(
    graph_file: Path, tiny_corpus: TinyCorpus, tmp_path: Path
) -> None:
    corpus, output = tmp_path / "train.csv", tmp_path / "bad_rows.csv"
    lines = exchanged(tiny_corpus.train, corpus, 3)
    rows = [{**row, "transcript": f"{row['transcript'].upper()}!"} for row in listed(corpus)]
    with corpus.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    arguments = ("find_bad_rows.py", graph_file, corpus, "--worst", 3, "--output", output)
    assert "--normalize_transcripts" in run_script(*arguments).stderr
    done = run_script(*arguments, "--normalize_transcripts")
    assert done.returncode == 0, done.stderr
    assert {int(row["line"]) for row in listed(output)} == lines


def test_arguments_that_cannot_be_used_are_errors(tmp_path: Path) -> None:
    done = run_script("find_bad_rows.py", tmp_path / "none.pb", "a.csv", "--worst", "0%")
    assert_fails_with(done, "argument --worst: '0%' is neither a share, such as 5%, nor a number of rows")
    done = run_script("find_bad_rows.py", tmp_path / "none.pb", "a.csv", "--report", "s3://bucket/page.html")
    assert_fails_with(done, "argument --report: s3://bucket/page.html is an address; give a path of this machine")
    done = run_script("find_bad_rows.py", "s3://bucket/a.pb", "a.csv")
    assert_fails_with(done, "argument MODEL: s3://bucket/a.pb is an address; download it, and give a path")


def test_a_corpus_that_is_checked_is_not_written_over(tmp_path: Path) -> None:
    corpus = tmp_path / "train.csv"
    corpus.write_text("wav_filename,wav_filesize,transcript\n")
    again = tmp_path / ".." / tmp_path.name / "train.csv"
    done = run_script("find_bad_rows.py", "model.pb", corpus, "--report", again)
    assert_fails_with(done, f"{again}: is read here, and would be written over")
    assert corpus.read_text() == "wav_filename,wav_filesize,transcript\n"


def test_outputs_that_cannot_both_be_written_are_refused_before_the_model_runs(tmp_path: Path) -> None:
    for flag in ("--output", "--report"):
        done = run_script("find_bad_rows.py", "none.pb", "none.csv", flag, tmp_path)
        assert_fails_with(done, f"{tmp_path}: is a folder; name a file in it")
    same = ("--output", tmp_path / "rows", "--report", tmp_path / "." / "rows")
    done = run_script("find_bad_rows.py", "none.pb", "none.csv", *same)
    assert_fails_with(done, f"--report={tmp_path / 'rows'}: is the file of --output; name another one")


def test_of_3_percent_of_exchanged_transcripts_9_of_10_are_among_the_worst_5_percent(
    demo: Path, tmp_path: Path
) -> None:
    corpus, output = tmp_path / "train.csv", tmp_path / "bad_rows.csv"
    lines = exchanged(demo / "corpus/train.csv", corpus, 36)
    done = run_script("find_bad_rows.py", demo / "model/output_graph.pb", corpus, "--output", output)
    assert done.returncode == 0, done.stderr
    rows = listed(output)
    assert len(rows) == 60
    assert len(lines & {int(row["line"]) for row in rows}) >= 0.9 * len(lines)


def test_the_extra_is_named_where_what_counts_errors_is_not_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "sitecustomize.py").write_text("import sys\nsys.modules['rapidfuzz'] = None\n")
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}{os.pathsep}{os.environ.get('PYTHONPATH', '')}")
    done = run_script("find_bad_rows.py", tmp_path / "none.pb", "none.csv", "--output", tmp_path / "bad_rows.csv")
    assert_fails_with(done, "needs rapidfuzz", "'.[train]'")
