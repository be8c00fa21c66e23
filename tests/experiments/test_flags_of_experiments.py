"""Flags that an experiment in Python gives, beside what its fields say."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from deepspeech.errors import FlagError
from deepspeech.experiments.experiment import Experiment
from deepspeech.experiments.fsdd import FSDD
from deepspeech.options import Options


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
