"""Experiments: runs whose options have a name, or come from the `params.txt` of another run."""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from .rows.flag import flag


@dataclass(frozen=True)
class ExperimentOptions:
    """The experiment that is run, the corpus that it imports first, and the folder that it reads and writes."""

    title: ClassVar[str] = "Experiments"
    name: str = flag("", "the experiment to run, by its name, or FILE.py:NAME", name="experiment")
    source: Path | None = flag(
        None, "folder of the experiment's recordings; without it, they are downloaded or synthesized", name="from"
    )
    work: Path | None = flag(
        None,
        "folder of the experiment's corpus, checkpoints and summaries; default: deepspeech/NAME in XDG's cache",
        decides_result=False,
    )
    params_file: Path | None = flag(
        None, "params.txt of another run, to run with the same parameters", decides_result=False
    )
    list_experiments: bool = flag(False, "print the names of all experiments", decides_result=False)
    corpus: str = flag("", "the corpus that is imported into the work folder", on_command_line=False)

    @property
    def corpus_folder(self) -> Path | None:
        """The folder that the corpus is imported to; None if the run imports no corpus."""
        return self.work / "corpus" if self.corpus and self.work else None
