"""Recordings in two sets are found by their files and, as copies, by their content."""

import logging
import shutil
import tracemalloc
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from corpora import RATE, TinyCorpus, write_csv, write_wav

from deepspeech.cli.flags import parse
from deepspeech.training.inputs import read_inputs
from deepspeech.util.checks import overlap as overlap_module
from deepspeech.util.checks.overlap import overlap
from deepspeech.util.corpus import Corpus, Utterance, read_corpus
from deepspeech.util.features import FeatureOptions, front_end
from deepspeech.util.shards.writing import write_shards
from deepspeech.util.text import Alphabet

LETTERS = Alphabet(("a", "b"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with ten wavs of one size, 0.wav to 9.wav."""
    random = np.random.default_rng(1)
    for name in range(10):
        write_wav(tmp_path / f"{name}.wav", random.uniform(-0.5, 0.5, RATE).astype(np.float32))
    return tmp_path


def corpus(folder: Path, name: str, rows: Sequence[tuple[str, str]]) -> Corpus:
    csv_file = write_csv(folder / f"{name}.csv", [(folder / wav, transcript) for wav, transcript in rows])
    return read_corpus([csv_file], LETTERS, front_end(FeatureOptions()), progress=False)


def test_sets_without_a_common_recording_do_not_overlap(folder: Path) -> None:
    train = corpus(folder, "train", [(f"{name}.wav", "a") for name in range(5)])
    assert overlap(train, corpus(folder, "test", [(f"{name}.wav", "a") for name in range(5, 10)])) is None


def test_the_same_file_is_found_whatever_its_name_and_transcript(folder: Path) -> None:
    (folder / "link.wav").symlink_to(folder / "3.wav")
    train = corpus(folder, "train", [(f"{name}.wav", "a") for name in range(5)])
    found = overlap(
        train, corpus(folder, "test", [("7.wav", "b"), ("link.wav", "b"), ("../" + folder.name + "/4.wav", "b")])
    )
    assert found is not None
    assert found.count == 2
    assert (found.there.source, found.here.source) == (f"{folder}/train.csv:5", f"{folder}/test.csv:3")


def test_a_copy_with_the_same_transcript_is_found(folder: Path) -> None:
    for name in ("6", "8"):
        shutil.copyfile(folder / f"{name}.wav", folder / f"copy{name}.wav")
    train = corpus(folder, "train", [(f"{name}.wav", "a") for name in range(10)])
    found = overlap(train, corpus(folder, "test", [("copy6.wav", "b"), ("copy8.wav", "a")]))
    assert str(found) == (
        f"1 recording (such as {folder}/8.wav and {folder}/copy8.wav, {folder}/train.csv:10 and {folder}/test.csv:3)"
    )


def test_copies_in_shards_are_found(folder: Path) -> None:
    listed = corpus(folder, "train", [(f"{name}.wav", "a") for name in range(10)])
    write_shards([folder / "train.csv"], str(folder / "train"), 1 << 30, seed=1)
    in_shards = read_corpus([folder / "train-000000.tar"], LETTERS, front_end(FeatureOptions()), progress=False)
    test = corpus(folder, "test", [("3.wav", "a"), ("4.wav", "b")])
    found = [overlap(in_shards, test), overlap(listed, in_shards)]
    assert [each and each.count for each in found] == [1, 10]


def test_not_more_files_are_read_than_is_cheap(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(overlap_module, "MOST_READ", 5)
    shutil.copyfile(folder / "1.wav", folder / "copy.wav")
    train = corpus(folder, "train", [(f"{name}.wav", "a") for name in range(10)])
    assert overlap(train, corpus(folder, "test", [("copy.wav", "a")])) is None


def test_a_run_says_which_of_its_sets_overlap(tiny_corpus: TinyCorpus, caplog: pytest.LogCaptureFixture) -> None:
    flags = [f"--train_files={tiny_corpus.train}", f"--dev_files={tiny_corpus.dev}", "--validation_step=1"]
    alphabet = f"--alphabet_config_path={tiny_corpus.alphabet}"
    for test, warned in ((tiny_corpus.test, []), (tiny_corpus.dev, ["test"])):
        caplog.clear()
        options = parse([*flags, alphabet, f"--test_files={test}", "--noshow_progressbar"])
        assert options is not None
        read_inputs(options)
        warnings = [each.getMessage() for each in caplog.records if each.levelno == logging.WARNING]
        assert [text.split()[1] for text in warnings] == warned
        assert all("6 recordings" in text and "validation set" in text and "dev.csv:" in text for text in warnings)


def test_a_large_set_is_compared_with_a_small_one_in_little_memory() -> None:
    def utterance(number: int) -> Utterance:
        return Utterance(f"{number}.wav", f"text {number}", np.zeros(0, np.int32), 1, 1, 1000 + number, 1, "list", 2)

    train, test = (Corpus(tuple(map(utterance, range(*of_set))), RATE) for of_set in ((0, 20_000), (19_990, 20_010)))
    tracemalloc.start()
    try:
        found = overlap(train, test)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert found is not None and found.count == 10
    assert peak < 1 << 20
