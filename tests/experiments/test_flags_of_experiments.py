"""Flags that an experiment in Python gives, beside what its fields say."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from corpora import TinyCorpus

from deepspeech.cli.flags import parse
from deepspeech.errors import FlagError, ImportingError, PythonFileError
from deepspeech.experiments.experiment import Experiment
from deepspeech.experiments.fsdd import FSDD
from deepspeech.options import Options
from deepspeech.options.parameters.of_run import run_parameters
from deepspeech.options.parameters.text import FILE_NAME, write_parameters
from deepspeech.schedule.jobs import SetName
from deepspeech.training import inputs
from deepspeech.training.inputs import Inputs, read_inputs


def options_of(experiment: Experiment) -> Options:
    return experiment.options_in("mine", Path("work"))


def test_files_that_are_given_take_the_place_of_the_corpus_s_sets() -> None:
    options = options_of(FSDD.with_flags(train_files="mine.csv,more.csv", test_files=()))
    assert options.train.files == (Path("mine.csv"), Path("more.csv"))
    assert options.dev.files == (Path("work/corpus/dev.csv"),)
    assert options.test.files == ()
    assert options_of(Experiment(corpus="fsdd", options=options)).train.files == options.train.files


def test_files_and_folders_that_are_given_take_the_place_of_those_in_the_work_folder() -> None:
    makes = replace(FSDD, makes_alphabet=True, writes_report=True, parts=("one", "two"))
    given = {
        "alphabet_config_path": "a.txt",
        "report_dir": "r",
        "checkpoint_dir": "c",
        "train_cached_features_path": "t",
    }
    options = options_of(makes.with_flags(**given, part="two"))
    assert options.alphabet.path == Path("a.txt") and options.report.report_dir == Path("r")
    assert options.checkpoints.directory == Path("c") and options.train.cached_features_path == Path("t")
    assert options.experiment.parts == ("two",) and options.experiment.work == Path("work")
    without = options_of(makes)
    assert without.alphabet.path == Path("work/alphabet.txt") and without.experiment.parts == ("one", "two")


@pytest.mark.parametrize(
    "field", [{"train_files": ("other.csv",)}, {"test_files": ("a.csv", "b.csv")}, {"besides": ("an4",)}]
)
def test_what_is_said_of_a_corpus_is_refused_where_there_is_none(field: dict[str, Any]) -> None:
    own_lists = Experiment().with_flags(train_files="mine.csv", test_files="test.csv")
    assert options_of(own_lists).test.files == (Path("test.csv"),)
    ((name, values),) = field.items()
    with pytest.raises(FlagError, match=f"--experiment=mine: its {name}, {', '.join(values)}, is for a corpus"):
        options_of(replace(own_lists, **field))


def test_a_text_lists_what_it_does_on_a_command_line() -> None:
    texts: dict[str, Any] = {
        "train_files": "train.csv,more.csv",
        "besides": "an4",
        "cached_sets": "dev",
        "parts": "one",
    }
    options = options_of(replace(FSDD, **texts))
    names = ("corpus/train.csv", "corpus/more.csv", "besides/an4/train.csv")
    assert options.train.files == tuple(Path("work") / name for name in names)
    assert options.dev.files == (Path("work/corpus/dev.csv"), Path("work/besides/an4/dev.csv"))
    assert options.experiment.besides == ("an4",) and options.experiment.parts == ("one",)
    assert options.dev.cached_features_path == Path("work/dev.h5") and options.train.cached_features_path is None


@pytest.mark.parametrize(
    ("before", "flag", "told"),
    [
        ("--split=80:10:10", "--split=50:25:25", "with --split=80:10:10"),
        ("--part=one,two", "--part=three", "with --part=one,two"),
        ("--part=one", "--tier=words", "without it"),
        ("--speakers={speaker}/*", "--speakers={speaker}_*", r"with --speakers=\{speaker\}/\*"),
    ],
)
def test_a_run_whose_corpus_is_there_goes_on_with_the_flags_that_it_was_imported_with(
    before: str, flag: str, told: str, tmp_path: Path
) -> None:
    command = ["--experiment=folder", f"--work={tmp_path}", before]
    begun = parse([*command, "--from=recordings"])
    assert begun is not None
    (tmp_path / "checkpoints").mkdir()
    write_parameters(tmp_path / "checkpoints" / FILE_NAME, run_parameters(begun))
    assert parse(command) and parse(command[:2])
    assert parse([*command[:2], flag, "--from=recordings"])  # it is imported again
    name = flag.partition("=")[0]
    with pytest.raises(FlagError, match=f"{name}: the run in --work={tmp_path} began {told}; .* go on without {name}"):
        parse([*command[:2], flag])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--from=x", "--train_files=a.csv"], "--from: needs --experiment"),
        (["--experiment=fsdd", "--params_file=params.txt"], "--experiment: cannot be combined"),
        (["--experiment=missing.py:it"], "there is no file missing.py"),
    ],
)
def test_what_makes_no_experiment_is_named(arguments: list[str], words: str) -> None:
    with pytest.raises(Exception, match=words):
        parse(arguments)


def test_a_file_that_ends_the_program_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("import sys\nsys.exit(0)\n")
    with pytest.raises(PythonFileError, match=r"mine\.py:2 cannot be run: SystemExit: 0"):
        parse([f"--experiment={tmp_path / 'mine.py'}:MINE"])


def test_a_file_that_fails_is_named_with_its_line(tmp_path: Path) -> None:
    experiment = "from deepspeech.experiments.experiment import Experiment\n\nMINE = Experiment(epoch=3)\n"
    for text, words in ((experiment, r"mine\.py:3 cannot be run: TypeError"), ("\n(", r"mine\.py.*, line 2\)$")):
        (tmp_path / "mine.py").write_text(text)
        with pytest.raises(PythonFileError, match=words):
            parse([f"--experiment={tmp_path / 'mine.py'}:MINE"])


def test_a_class_that_cannot_be_an_experiment_is_named_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "from deepspeech.experiments.experiment import Experiment\n\nclass Mine(Experiment):\n"
        "    def __init__(self):\n        self.corpus = 'fsdd'\n"
    )
    with pytest.raises(PythonFileError, match=r"^--experiment=.*mine\.py:5: FrozenInstanceError: .*corpus"):
        parse([f"--experiment={tmp_path / 'mine.py'}:Mine"])


def test_a_folder_that_does_not_exist_is_no_list_that_cannot_be_read(tmp_path: Path) -> None:
    missing = tmp_path / "recordings"
    with pytest.raises(FlagError, match=f"^--from={re.escape(str(missing))}: there is no such folder or list$"):
        parse(["--experiment=auto", f"--from={missing}", f"--work={tmp_path / 'work'}"])


def test_an_experiment_imports_its_corpus_only_for_the_sets_that_the_run_reads(
    tiny_corpus: TinyCorpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def read(*flags: str) -> Inputs:
        alphabet = f"--alphabet_config_path={tiny_corpus.alphabet}"
        options = parse(["--experiment=an4", "--work=work", "--audio_sample_rate=16000", alphabet, *flags])
        assert options
        return read_inputs(options)

    def imported(corpus: str, folder: Path, *_: object, **__: object) -> None:
        raise ImportingError(f"{corpus} to {folder}")

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(inputs, "import_corpus", imported)
    train, dev, test = (f"--{name.value}_files={getattr(tiny_corpus, name.value)}" for name in SetName)
    assert len(read(train, dev, test).corpora[SetName.TEST].utterances) == 6
    assert set(read(train, dev, "--test_files=").corpora) == {SetName.TRAIN, SetName.DEV}
    assert set(read("--notrain", test).corpora) == {SetName.TEST}
    with pytest.raises(ImportingError, match="an4 to work/corpus"):
        read(train, dev)
    assert "an4 is imported for --test_files: give another list" in capfd.readouterr().err
    with pytest.raises(ImportingError, match="an4 to work/corpus"):
        read("--experiment=an4_with_librispeech")
    assert "is imported for" not in capfd.readouterr().err
    for flag in ("--from=recordings", "--split=8:1:1"):
        with pytest.raises(ImportingError, match="an4 to work/corpus"):
            read(train, dev, test, flag)
