"""Experiments: their description, and a registry by name.

    from deepspeech.experiments.experiment import register
    from deepspeech.experiments.fsdd import FSDD

    WIDER = register("fsdd_wider", FSDD.with_flags(n_hidden=512))

in a file `my.py` is an experiment. Run it with `--experiment my.py:fsdd_wider`, or with `--experiment my.py:WIDER`.
"""

from __future__ import annotations

import difflib
from collections.abc import Collection
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from ..errors import FlagError, PythonFileError
from ..options import Options, values_of, with_values
from ..options.experiment import ALPHABET, corpus_folders
from ..options.rows.values import Value, listed
from ..util.files.python_files import errors_of_code, load_python_file
from ..util.importing.pipeline.records import SETS, TEST

MODULES = (
    *("an4", "auto.choosing", "common_voice", "demo", "fsdd", "ldc93s1", "librispeech", "recordings"),
    *("speech_commands", "mandarin.aishell", "mandarin.thchs30", "yesno"),
)
"""The modules of this package that register experiments, one for each corpus."""

OF_CORPUS = ("train_files", "dev_files", "test_files", "besides", "parts")
"""The fields of an experiment that choose what to use of a corpus."""


@dataclass(frozen=True)
class Experiment:
    """Everything that decides a result: a corpus, and the options of the run; options that are not given have defaults.

    `corpus` is the name of an importer of `deepspeech.util.importing`. The files of the sets are those that the
    importer writes, in the corpus's folder. `summary` is a line about the experiment, with its result. To make a
    variant of this frozen dataclass, use `with_flags`, `dataclasses.replace`, or a subclass with other defaults.
    """

    corpus: str = ""
    summary: str = ""
    train_files: tuple[str, ...] = ("train.csv",)
    dev_files: tuple[str, ...] = ("dev.csv",)
    test_files: tuple[str, ...] = ("test.csv",)
    cached_sets: tuple[str, ...] = ()
    """The sets (train, dev, test) whose features are kept in the work folder."""
    besides: tuple[str, ...] = ()
    """Further corpora whose train and dev sets are also used; `--from` names the folders of all corpora, in order."""
    parts: tuple[str, ...] = ()
    """The parts of the corpus, if it is published in several."""
    makes_alphabet: bool = False
    """Whether the labels are the characters of the corpus's transcripts, in WORK/alphabet.txt."""
    writes_report: bool = False
    """Whether the test writes WORK/report, with report.html."""
    options: Options = field(default_factory=Options)

    def __post_init__(self) -> None:
        """Split a text into a list, as for flags of a command line."""
        for each in (*OF_CORPUS, "cached_sets"):
            value: object = getattr(self, each)
            if isinstance(value, str):
                object.__setattr__(self, each, listed(value))

    def with_flags(self, **flags: Value) -> Experiment:
        """Return this experiment with other values of some flags, as a command line sets them.

        Raise FlagError for a name that is not a flag's, and for a value that is not of the flag's type.
        """
        changed: dict[str, Any] = {f"{each}_files": () for each in SETS if f"{each}_files" in flags}  # of the corpus
        return replace(self, options=with_values(self.options, flags), **changed)

    def options_in(self, name: str, work: Path) -> Options:
        """Return the options of a run under this name that reads and writes in the folder `work`.

        The other fields set the flags that `options` leaves at their defaults. Raise FlagError for fields of a corpus
        in an experiment without one.
        """
        for each in OF_CORPUS if not self.corpus else ():
            value = getattr(self, each)
            if value and value != getattr(Experiment, each):
                raise FlagError(
                    f"--experiment={name}: its {each}, {', '.join(value)}, is for a corpus, and the experiment imports "
                    "none; set its field corpus, or give lists with with_flags(train_files=...)"
                )
        own, *others = corpus_folders(work, self.besides)
        files: dict[str, Value] = {}
        for each in SETS if self.corpus else ():
            names = getattr(self, f"{each}_files")
            further = [folder / f"{each}.csv" for folder in others] if names and each != TEST else []
            files[f"{each}_files"] = (*(own / name for name in names), *further)
        caches = {f"{each}_cached_features_path": work / f"{each}.h5" for each in self.cached_sets}
        folders = {"checkpoint_dir": work / "checkpoints", "summary_dir": work / "summaries"}
        if self.makes_alphabet:
            folders["alphabet_config_path"] = work / ALPHABET
        if self.writes_report:
            folders["report_dir"] = work / "report"
        fields: dict[str, Value] = {"part": self.parts, **files, **caches, **folders}
        defaults = values_of(Options())
        chosen = {flag: value for flag, value in values_of(self.options).items() if value != defaults[flag]}
        of_run: dict[str, Value] = {"experiment": name, "work": work, "corpus": self.corpus, "besides": self.besides}
        return with_values(Options(), {**fields, **chosen, **of_run})


_registered: dict[str, Experiment] = {}


def register(name: str, experiment: Experiment) -> Experiment:
    """Give an experiment a name, and return it; raise FlagError if another experiment has the name."""
    if _registered.setdefault(name, experiment) != experiment:
        raise FlagError(f"there is an experiment {name!r} already; choose another name")
    return experiment


def experiments() -> dict[str, Experiment]:
    """Return all experiments by their names: those of this package, and those of loaded files."""
    _own_names()
    return dict(sorted(_registered.items()))


@cache
def _own_names() -> frozenset[str]:
    """Return the names of this package's experiments; the first call must come before a file is loaded."""
    for module in MODULES:
        import_module(f".{module}", __package__)
    return frozenset(_registered)


def find_experiment(text: str) -> tuple[str, Experiment]:
    """Return the experiment that `--experiment` names, NAME or FILE.py:NAME, and the NAME.

    A file's NAME is a registered name, or the name of a variable with an experiment, or of a class of experiments.
    Raise FlagError if there is no such experiment, PythonFileError if the file cannot be run.
    """
    file, colon, name = text.rpartition(":")
    own_names = _own_names()
    known: dict[str, Experiment | type[Experiment]] = {**experiments()}
    if colon:
        module = load_python_file(Path(file), f"--experiment={text}")
        registered = {each: experiment for each, experiment in experiments().items() if each not in own_names}
        known = {**registered, **_in_variables(module)}
    if name not in known:
        raise FlagError(f"--experiment={text}: {_why_unknown(file, name, known)}")
    found = known[name]
    if isinstance(found, type):
        with errors_of_code(f"--experiment={text}", PythonFileError):
            found = found()
    return name, found


def _why_unknown(file: str, name: str, known: Collection[str]) -> str:
    if file:
        return f"{file} has no experiment {name}; there are {', '.join(known) or 'none'}"
    near = difflib.get_close_matches(name, known, n=1)
    return f"there is no such experiment; {f'did you mean {near[0]}? See' if near else 'see'} --experiment list"


def _in_variables(module: ModuleType) -> dict[str, Experiment | type[Experiment]]:
    """Return the experiments, and classes of experiments, of a file's variables."""
    return {
        name: value
        for name, value in vars(module).items()
        if isinstance(value, Experiment)
        or (isinstance(value, type) and issubclass(value, Experiment) and value is not Experiment)
    }
