"""bin/demo/make_demo_corpus.py, by the folder it leaves behind."""

import csv
import hashlib
from pathlib import Path

import numpy as np
import pytest
import soundfile
from running import ROOT, assert_fails_with, run_script

SMALL = ("--train", 20, "--dev", 4, "--test", 8)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("demo") / "corpus"
    done = run_script("demo/make_demo_corpus.py", folder, *SMALL)
    assert done.returncode == 0, done.stderr
    return folder


def rows(corpus: Path, name: str) -> list[dict[str, str]]:
    with (corpus / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def voices(corpus: Path, name: str) -> set[str]:
    return {row["wav_filename"].split("-", maxsplit=1)[1] for row in rows(corpus, name)}


def digest(corpus: Path) -> dict[str, str]:
    files = sorted(path for path in corpus.rglob("*") if path.is_file())
    return {str(path.relative_to(corpus)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def test_every_row_names_a_16_khz_16_bit_mono_recording_of_that_size(corpus: Path) -> None:
    for name, count in (("train", 20), ("dev", 4), ("test", 8)):
        assert len(rows(corpus, name)) == count
        for row in rows(corpus, name):
            path = corpus / row["wav_filename"]
            info = soundfile.info(str(path))
            assert (info.samplerate, info.channels, info.subtype) == (16000, 1, "PCM_16")
            assert 0.4 < info.duration < 5
            assert path.stat().st_size == int(row["wav_filesize"])


def test_recordings_are_neither_silent_nor_clipped(corpus: Path) -> None:
    for path in corpus.rglob("*.wav"):
        samples, _ = soundfile.read(str(path), dtype="int16")
        assert np.sqrt(np.mean(np.square(samples.astype(float)))) > 200
        assert np.mean(np.abs(samples.astype(int)) >= 32767) < 0.001


def test_transcripts_need_only_the_default_alphabet(corpus: Path) -> None:
    letters = set("abcdefghijklmnopqrstuvwxyz' ")
    for name in ("train", "dev", "test"):
        assert all(set(row["transcript"]) <= letters for row in rows(corpus, name))


def test_voices_of_the_test_set_are_heard_in_no_other(corpus: Path) -> None:
    assert len(voices(corpus, "test")) >= 4
    assert not voices(corpus, "test") & (voices(corpus, "train") | voices(corpus, "dev"))


def test_no_sentence_is_said_twice(corpus: Path) -> None:
    texts = [row["transcript"] for name in ("train", "dev", "test") for row in rows(corpus, name)]
    assert len(set(texts)) == len(texts)


def test_the_same_settings_give_the_same_bytes_and_another_seed_others(corpus: Path, tmp_path: Path) -> None:
    assert run_script("demo/make_demo_corpus.py", tmp_path / "same", *SMALL).returncode == 0
    assert digest(tmp_path / "same") == digest(corpus)
    assert run_script("demo/make_demo_corpus.py", tmp_path / "other", *SMALL, "--seed", 2).returncode == 0
    assert rows(tmp_path / "other", "train") != rows(corpus, "train")


def test_a_whole_corpus_is_left_alone_and_a_damaged_one_made_anew(tmp_path: Path) -> None:
    folder = tmp_path / "corpus"
    run_script("demo/make_demo_corpus.py", folder, *SMALL)
    before, made = digest(folder), folder.stat().st_ino
    assert "already" in run_script("demo/make_demo_corpus.py", folder, *SMALL).stderr
    assert folder.stat().st_ino == made
    next(folder.rglob("*.wav")).unlink()
    assert run_script("demo/make_demo_corpus.py", folder, *SMALL).returncode == 0
    assert digest(folder) == before
    assert [path.name for path in tmp_path.iterdir()] == ["corpus"]


def test_other_settings_replace_the_corpus(tmp_path: Path) -> None:
    folder = tmp_path / "corpus"
    run_script("demo/make_demo_corpus.py", folder, *SMALL)
    assert run_script("demo/make_demo_corpus.py", folder, *SMALL, "--train", 6).returncode == 0
    assert len(rows(folder, "train")) == 6
    assert len(list((folder / "train").iterdir())) == 6


def test_a_folder_with_anything_else_in_it_is_refused_and_untouched(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("years of work")
    assert_fails_with(run_script("demo/make_demo_corpus.py", tmp_path, *SMALL), str(tmp_path), "not a demo corpus")
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


def test_more_sentences_than_the_grammar_has_are_refused(tmp_path: Path) -> None:
    grammar = ROOT / "data" / "lm" / "digits.txt"
    done = run_script("demo/make_demo_corpus.py", tmp_path / "corpus", "--grammar", grammar, *SMALL)
    assert_fails_with(done, "only 10 of 32 different sentences")
    assert not list(tmp_path.iterdir())
    assert_fails_with(run_script("demo/make_demo_corpus.py", tmp_path / "corpus", "--test", 0), "--test", "at least 1")
