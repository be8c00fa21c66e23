"""An experiment of several corpora imports all of them, learns from each, and is tested on its own."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from corpora import TinyCorpus, say, write_wav
from program import Program

from deepspeech.cli.flags import parse
from deepspeech.errors import DeepSpeechError, FlagError
from deepspeech.experiments.experiment import experiments
from deepspeech.schedule.jobs import SetName
from deepspeech.training.inputs import Inputs, read_inputs

TINY = ("--n_hidden=8", "--lstm_layers=1", "--beam_width=4", "--lm_binary_path=", "--report_count=0")


@pytest.fixture
def folders(tmp_path: Path) -> Path:
    """Return folders that are named after corpora and laid out as these, each of three speakers or takes."""
    random = np.random.default_rng(1)
    for take in (0, 5, 10):
        write_wav(tmp_path / "fsdd" / f"1_ann_{take}.wav", say("abc", random), 8000)
    for speaker in "123":
        write_wav(tmp_path / "an4" / "wav" / speaker / "one.wav", say("abcdeabcde", random))
        chapter = tmp_path / "librispeech" / "LibriSpeech" / "train-clean-5" / speaker / "7"
        write_wav(chapter / f"{speaker}-7-0.wav", say("abcdeabcde", random))
        (chapter / f"{speaker}-7.trans.txt").write_text(f"{speaker}-7-0 A BOOK\n")
    lists = tmp_path / "an4" / "etc"
    lists.mkdir()
    (lists / "an4_train.fileids").write_text("1/one\n2/one\n3/one\n")
    (lists / "an4_train.transcription").write_text("<s> YES </s> (one)\n" * 3)
    return tmp_path


def read(name: str, folders: Path, *corpora: str) -> Inputs:
    sources = ",".join(str(folders / corpus) for corpus in corpora)
    options = parse([f"--experiment={name}", f"--from={sources}", f"--work={folders / 'work'}"])
    assert options is not None
    return read_inputs(options)


@pytest.mark.parametrize(
    ("name", "own", "besides"),
    [("fsdd_with_an4", "one", "yes"), ("an4_with_librispeech", "yes", "a book")],
)
def test_each_corpus_is_learned_from_and_the_first_is_tested_on(
    name: str, own: str, besides: str, folders: Path
) -> None:
    experiment = experiments()[name]
    inputs = read(name, folders, experiment.corpus, *experiment.besides)
    said = {name: [utterance.transcript for utterance in inputs.corpora[name].utterances] for name in SetName}
    assert said == {SetName.TRAIN: [own, besides], SetName.DEV: [own, besides], SetName.TEST: [own]}


def test_folders_of_some_corpora_are_refused_with_the_names_of_all(folders: Path) -> None:
    with pytest.raises(FlagError, match="--experiment=fsdd_with_an4 needs the folders of fsdd and an4, in this order"):
        read("fsdd_with_an4", folders, "fsdd")
    with pytest.raises(DeepSpeechError, match=r"no recording in .*an4 has a name like"):
        read("fsdd_with_an4", folders, "an4", "fsdd")


def test_a_run_goes_on_and_is_repeated_without_being_told_the_folders_again(
    folders: Path, tiny_corpus: TinyCorpus
) -> None:
    program = Program(tiny_corpus, folders)
    command = ["--experiment=fsdd_with_an4", "--work=work", *TINY]
    first = program.run(*command, "--from=fsdd,an4", "--epoch=1", "--notest")
    assert first.code == 0 and "Training of epoch 1" in first.stderr and ", 2 utterances" in first.stderr
    again = program.run(*command, "--epoch=2")
    assert again.code == 0 and "Training of epoch 2" in again.stderr and "Test: 1 utterances" in again.stderr

    repeated = program.run("--params_file=work/checkpoints", "--work=other", "--notest")
    assert repeated.code == 0 and (folders / "other/besides/an4/train.csv").exists()
    parameters = [(folders / work / "checkpoints/params.txt").read_text() for work in ("work", "other")]
    assert "besides : ('an4',)" in parameters[0]
    assert parameters[1] == parameters[0].replace("test : True", "test : False")
