"""Experiments: runs whose options have a name, or come from the `params.txt` of another run."""

from dataclasses import dataclass
from os.path import commonpath
from pathlib import Path
from typing import Any, ClassVar

from ..util.importing.pipeline.records import Choices, read_split
from .rows.checks import Check
from .rows.flag import flag

ALPHABET = "alphabet.txt"
"""The file in the work folder of an alphabet that is made of the corpus."""


class SplitCheck(Check):
    """Shares of the sets, or none."""

    def complaint(self, name: str, value: Any) -> str:
        """Return what is wrong with the shares."""
        try:
            if value:
                read_split(value)
        except ValueError as error:
            return f"--{name}: {error}"
        return ""


@dataclass(frozen=True)
class ExperimentOptions:
    """The experiment that is run, the corpus that it imports first, and the folder that it reads and writes."""

    title: ClassVar[str] = "Experiments"
    name: str = flag("", "the experiment to run, by its name, or FILE.py:NAME", name="experiment")
    sources: tuple[Path, ...] = flag(
        (),
        "folder of the experiment's recordings, or lists of them for the experiment auto; without it, they are "
        "downloaded or synthesized",
        name="from",
    )
    work: Path | None = flag(
        None,
        "folder of the experiment's corpus, checkpoints and summaries; default: deepspeech/NAME in XDG's cache",
        decides_result=False,
    )
    parts: tuple[str, ...] = flag(
        (),
        "parts of the experiment's corpus, such as train-clean-100, separated by commas; default: those it names",
        name="part",
    )
    split: str = flag(
        "", "shares of train, dev and test, such as 80:10:10; default: the corpus's own sets", check=SplitCheck()
    )
    tiers: tuple[str, ...] = flag(
        (), "tiers of TextGrid or ELAN files that have the transcripts, separated by commas", name="tier"
    )
    params_file: Path | None = flag(
        None, "params.txt of another run, to run with the same parameters", decides_result=False
    )
    list_experiments: bool = flag(False, "print the names of all experiments", decides_result=False)
    corpus: str = flag("", "the corpus that is imported into the work folder", on_command_line=False)
    measured: tuple[str, ...] = flag(
        (), "what the experiment auto has measured of the corpus and the machine", on_command_line=False
    )

    @property
    def source(self) -> Path | None:
        """The folder of the recordings, or the list; of several lists, the folder that all of them are in."""
        if len(self.sources) > 1:
            return Path(commonpath([path.absolute().parent for path in self.sources]))
        return self.sources[0] if self.sources else None

    @property
    def corpus_folder(self) -> Path | None:
        """The folder that the corpus is imported to; None if the run imports no corpus."""
        return self.work / "corpus" if self.corpus and self.work else None

    @property
    def own_alphabet(self) -> Path | None:
        """The alphabet of the experiment's own, which is made of its transcripts if it is used and not there."""
        return self.work / ALPHABET if self.work else None

    def choices(self, *, download: bool) -> Choices:
        """Return how the corpus is imported; `download` says whether it may be downloaded."""
        split = read_split(self.split) if self.split else None
        lists = self.sources if len(self.sources) > 1 else ()
        return Choices(split, tiers=self.tiers, parts=self.parts, download=download, lists=lists)
