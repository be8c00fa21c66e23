"""An experiment of several corpora imports all of them, learns from each, and is tested on its own."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from corpora import TinyCorpus, say, write_wav
from program import Program

from deepspeech.cli.flags import parse
from deepspeech.errors import DeepSpeechError, FlagError
from deepspeech.schedule.jobs import SetName
from deepspeech.training.inputs import Inputs, read_inputs

TINY = ("--n_hidden=8", "--lstm_layers=1", "--beam_width=4", "--lm_binary_path=", "--report_count=0")


@pytest.fixture
def folders(tmp_path: Path) -> Path:
    """Return folders that are named after corpora and laid out as these, each of three speakers."""
    random = np.random.default_rng(1)
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


def read(folders: Path, *corpora: str) -> Inputs:
    sources = ",".join(str(folders / corpus) for corpus in corpora)
    options = parse(["--experiment=an4_with_librispeech", f"--from={sources}", f"--work={folders / 'work'}"])
    assert options is not None
    return read_inputs(options)


def test_each_corpus_is_learned_from_and_the_first_is_tested_on(folders: Path) -> None:
    inputs = read(folders, "an4", "librispeech")
    said = {name: [utterance.transcript for utterance in inputs.corpora[name].utterances] for name in SetName}
    assert said == {SetName.TRAIN: ["yes", "a book"], SetName.DEV: ["yes", "a book"], SetName.TEST: ["yes"]}


def test_several_corpora_of_one_format_are_all_learned_from(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for number, letter in enumerate("abc"):
        for place in range(20):
            write_wav(
                tmp_path / letter / f"{place}.wav", say("abcdeabcde", np.random.default_rng(100 * number + place))
            )
            (tmp_path / letter / f"{place}.txt").write_text(letter)
    (tmp_path / "own.py").write_text(
        "from dataclasses import replace\n"
        "from deepspeech.experiments.experiment import find_experiment\n"
        'THREE = replace(find_experiment("folder")[1], besides=("folder", "folder"))\n'
    )
    options = parse(["--experiment=own.py:THREE", "--from=a,b,c", "--work=work"])
    assert options is not None
    said = [each.transcript for each in read_inputs(options).corpora[SetName.TRAIN].utterances]
    assert {letter: said.count(letter) > 10 for letter in "abc"} == dict.fromkeys("abc", True)


def test_folders_of_some_corpora_are_refused_with_the_names_of_all(folders: Path) -> None:
    with pytest.raises(FlagError, match="--experiment=an4_with_librispeech needs the folders of an4 and librispeech"):
        read(folders, "an4")
    with pytest.raises(DeepSpeechError, match=r"LibriSpeech has no etc.*, so it isn't laid out as AN4 is"):
        read(folders, "librispeech", "an4")


def test_a_corpus_that_does_not_exist_is_named_before_another_is_imported(folders: Path) -> None:
    (folders / "own.py").write_text(
        "from dataclasses import replace\n"
        "from deepspeech.experiments.experiment import find_experiment\n"
        'MISSPELLED = replace(find_experiment("an4")[1], besides=("librispech",))\n'
    )
    sources, work = f"{folders / 'an4'},{folders / 'librispeech'}", folders / "work"
    options = parse([f"--experiment={folders / 'own.py'}:MISSPELLED", f"--from={sources}", f"--work={work}"])
    assert options is not None
    with pytest.raises(DeepSpeechError, match="there is no corpus 'librispech'"):
        read_inputs(options)
    assert not (work / "corpus").exists()


def test_a_run_goes_on_and_is_repeated_without_being_told_the_folders_again(
    folders: Path, tiny_corpus: TinyCorpus
) -> None:
    program = Program(tiny_corpus, folders)
    command = ["--experiment=an4_with_librispeech", "--work=work", *TINY]
    first = program.run(*command, "--from=an4,librispeech", "--epoch=1", "--notest")
    assert first.code == 0 and "Training of epoch 1" in first.stderr and ", 2 utterances" in first.stderr
    again = program.run(*command, "--epoch=2")
    assert again.code == 0 and "Training of epoch 2" in again.stderr and "Test: 1 utterance in" in again.stderr

    repeated = program.run("--params_file=work/checkpoints", "--work=other", "--notest")
    assert repeated.code == 0 and (folders / "other/besides/librispeech/train.csv").exists()
    parameters = [(folders / work / "checkpoints/params.txt").read_text() for work in ("work", "other")]
    assert "besides : ('librispeech',)" in parameters[0]
    assert parameters[1] == parameters[0].replace("test : True", "test : False")
