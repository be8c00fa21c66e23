"""Each experiment imports a tree laid out as its corpus, makes its alphabet, and has utterances in every set."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from corpora import TinyCorpus
from program import Program
from trees import write
from trees_of_corpora import TREES, aishell, librispeech, recordings, speak

from deepspeech.cli.flags import parse
from deepspeech.errors import DeepSpeechError, FlagError
from deepspeech.experiments.experiment import experiments
from deepspeech.options import Options
from deepspeech.schedule.jobs import SetName
from deepspeech.training.inputs import Inputs, read_inputs
from deepspeech.util.importing import MODULES
from deepspeech.util.importing.published import PUBLISHED


def options_of(*arguments: str) -> Options:
    options = parse(arguments)
    assert options is not None
    return options


def read(name: str, folder: Path, *arguments: str) -> tuple[Options, Inputs]:
    options = options_of(f"--experiment={name}", f"--from={folder}/tree", f"--work={folder}/work", *arguments)
    return options, read_inputs(options)


@pytest.mark.parametrize("name", TREES)
def test_an_experiment_imports_its_corpus_and_has_every_set(name: str, tmp_path: Path) -> None:
    tree, labels = TREES[name]
    tree(tmp_path / "tree")
    options, inputs = read(name, tmp_path)
    assert all(len(inputs.corpora[each]) for each in SetName)
    if labels:
        assert set(inputs.alphabet.labels) == set(labels)
        assert options.alphabet_path == tmp_path / "work/alphabet.txt"
    else:
        assert inputs.alphabet.labels[:2] == (" ", "a") and len(inputs.alphabet.labels) == 28
    if options.experiment.parts:
        assert "train-other-500" in options.experiment.parts or "train-other-500" not in (
            tmp_path / "work/corpus/train.csv"
        ).read_text(encoding="utf-8")


def test_an_alphabet_of_another_unit_is_made_where_an_experiment_takes_the_packaged_one(tmp_path: Path) -> None:
    tree, _ = TREES["mini_librispeech"]
    tree(tmp_path / "tree")
    options, inputs = read("mini_librispeech", tmp_path, "--output_unit=wordpieces")
    assert options.alphabet_path == tmp_path / "work/alphabet.txt"
    assert inputs.alphabet.unit == "wordpieces" and options.alphabet_path.exists()


def test_every_format_is_the_corpus_of_an_experiment_and_its_parts_are_published() -> None:
    known = experiments()
    formats = {name for name, module in MODULES.items() if module.startswith("formats.")}
    imported = {name for experiment in known.values() for name in (experiment.corpus, *experiment.besides)}
    assert formats - imported == set(), "of these formats, no experiment imports a corpus"
    alone = {name: experiment for name, experiment in known.items() if not experiment.besides}
    elsewhere = {"fsdd", "yesno"}  # test_experiments.py trains on digits
    named = {name for name, each in alone.items() if each.corpus in formats - elsewhere}
    assert named ^ TREES.keys() == set(), "each experiment of a format needs a tree in trees_of_corpora.py"
    for experiment in known.values():
        assert not experiment.parts or PUBLISHED[experiment.corpus].choose("", experiment.parts)


def test_a_folder_becomes_a_model_and_a_report_by_one_command(tiny_corpus: TinyCorpus, tmp_path: Path) -> None:
    recordings(tmp_path / "tree")
    program = Program(tiny_corpus, tmp_path)
    command = ["--experiment=folder", "--from=tree", "--work=work", "--n_hidden=16", "--beam_width=4"]
    done = program.run(*command, "--epoch=1", "--export_dir=model")
    assert done.code == 0, done.stderr
    assert (tmp_path / "model/output_graph.pb").exists()
    labels = "12 labels (characters) made of the transcripts; 2 of them in no training transcript"
    assert f"work/alphabet.txt: {labels}" in done.stderr
    report = tmp_path / "work/report/report.html"
    assert "größe" in report.read_text(encoding="utf-8")

    again = program.run(*command, "--epoch=2", "--notest")
    assert again.code == 0 and "labels, one for each" not in again.stderr


def test_labels_that_are_made_and_cannot_be_exported_are_refused_before_training(
    tiny_corpus: TinyCorpus, tmp_path: Path
) -> None:
    aishell(tmp_path / "tree")
    program = Program(tiny_corpus, tmp_path)
    command = ["--experiment=aishell1", "--from=tree", "--work=work", "--output_unit=pinyin", "--feature_type=fbank"]
    done = program.run(*command, "--n_hidden=4", "--network=lstm", "--export_format=sherpa", "--export_dir=model")
    assert done.code == 1 and (tmp_path / "work/alphabet.txt").exists()
    assert "--output_unit=pinyin: sherpa-onnx writes characters and word pieces; export another format" in done.stderr
    assert not (tmp_path / "work/checkpoints").exists()


def test_what_an_experiment_imports_can_be_chosen(tmp_path: Path) -> None:
    librispeech("train-clean-5", "dev-clean-2", "train-clean-100")(tmp_path / "tree")
    _, inputs = read("mini_librispeech", tmp_path, "--part=train-clean-5,train-clean-100", "--split=1:1:1")
    assert [len(inputs.corpora[each]) for each in SetName] == [2, 2, 2]
    with pytest.raises(DeepSpeechError, match="has no folder test-other"):
        read("mini_librispeech", tmp_path, "--part=test-other")
    with pytest.raises(DeepSpeechError, match=r"no train set: all recordings are in other sets.*--split=90:5:5"):
        read("mini_librispeech", tmp_path, "--part=dev-clean-2")
    with pytest.raises(FlagError, match="--split: '1:1' is not three numbers"):
        options_of("--experiment=folder", "--split=1:1")
    with pytest.raises(FlagError, match="--tier: needs --experiment"):
        options_of("--train_files=a.csv", "--tier=words")


def test_a_folder_too_small_for_sets_says_so_and_can_be_trained_on_alone(tmp_path: Path) -> None:
    speak(tmp_path / "tree" / "one.wav")
    write(tmp_path / "tree" / "one.txt", "a word")
    with pytest.raises(DeepSpeechError, match="no dev and no test set: there are too few recordings") as raised:
        read("folder", tmp_path)
    _, inputs = read("folder", tmp_path, *str(raised.value).split(": ")[-1].split())
    assert {name.value: len(corpus) for name, corpus in inputs.corpora.items()} == {"train": 1}


def test_a_missing_language_model_is_named_before_the_import_that_the_alphabet_waits_for(tmp_path: Path) -> None:
    recordings(tmp_path / "tree")
    with pytest.raises(FlagError, match="--lm_binary_path=missing: there is no such file"):
        read("folder", tmp_path, "--lm_binary_path=missing")
    assert not (tmp_path / "work").exists()


def test_the_experiments_are_listed_for_who_does_not_know_their_names(capsys: pytest.CaptureFixture[str]) -> None:
    assert parse(["--experiment=list"]) is None
    listed = capsys.readouterr().out
    assert all(any(line.startswith(f"{name} ") for line in listed.splitlines()) for name in experiments())
    for name, advice in {"fsd": "did you mean fsdd? See", "english": "see"}.items():
        with pytest.raises(
            FlagError, match=f"={name}: there is no such experiment; {re.escape(advice)} --experiment list"
        ):
            parse([f"--experiment={name}"])
        assert capsys.readouterr().err == listed


def test_a_wrong_name_in_a_file_lists_no_experiments_of_the_package(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "mine.py").write_text("from deepspeech.experiments.yesno import YESNO\n\nOTHER = YESNO\n")
    with pytest.raises(FlagError, match=r"mine\.py has no experiment MINE; there are .*YESNO, OTHER$"):
        parse([f"--experiment={tmp_path / 'mine.py'}:MINE"])
    assert capsys.readouterr().err == ""
