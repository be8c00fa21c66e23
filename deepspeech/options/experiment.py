"""Experiments: runs whose options have a name, or come from the `params.txt` of another run."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import repeat
from os.path import commonpath
from pathlib import Path
from typing import Any, ClassVar

from ..util.errors import FlagError
from ..util.importing.pipeline.records import Choices, read_split
from ..util.importing.pipeline.speakers import SPEAKER, check_speaker_pattern
from .rows.checks import Check
from .rows.flag import flag

ALPHABET = "alphabet.txt"
"""The file of an alphabet that is made from the corpus, in the work folder."""


def corpus_folders(work: Path, besides: Sequence[str]) -> list[Path]:
    """Return the folders of a work folder that corpora are imported to: the experiment's own, and further corpora.

    If several have the same name, such as that of a format, the later ones get a number.
    """
    before = [besides[:place].count(name) for place, name in enumerate(besides)]
    names = [f"{name}-{count + 1}" if count else name for name, count in zip(besides, before, strict=True)]
    return [work / "corpus", *(work / "besides" / name for name in names)]


@dataclass(frozen=True)
class CorpusImport:
    """A corpus, by its importer's name, the folder it is imported to, and the folder of its recordings, if given."""

    corpus: str
    folder: Path
    source: Path | None
    choices: Choices


OF_IMPORT = ("from", "part", "split", "speakers", "tier")
"""The flags that decide what is imported, and into which sets."""


@dataclass(frozen=True)
class ParseCheck(Check):
    """A text that a function parses, or none."""

    parse: Callable[[str], object]

    def complaint(self, name: str, value: Any) -> str:
        """Return what is wrong with the text."""
        try:
            if value:
                self.parse(value)
        except ValueError as error:
            return f"--{name}: {error}"
        return ""


@dataclass(frozen=True)
class ExperimentOptions:
    """The experiment to run, the corpus that it imports first, and its work folder."""

    title: ClassVar[str] = "Experiments"
    name: str = flag("", "name of the experiment to run, or FILE.py:NAME", name="experiment")
    sources: tuple[Path, ...] = flag(
        (),
        "folder of the experiment's recordings, or an archive of it, or one for each of its corpora, or lists of "
        "recordings for the experiment auto; without it, they are downloaded or synthesized",
        name="from",
    )
    work: Path | None = flag(
        None,
        "folder of the experiment's corpus, checkpoints and summaries; default: deepspeech/NAME in XDG's cache folder",
        decides_result=False,
    )
    parts: tuple[str, ...] = flag(
        (),
        "parts of the experiment's corpus, such as train-clean-100, separated by commas; default: the experiment's",
        name="part",
    )
    split: str = flag(
        "",
        "shares of train, dev and test, such as 80:10:10; default: the corpus's own sets",
        check=ParseCheck(read_split),
    )
    speakers: str = flag(
        "",
        f"how the paths of recordings that name their speakers end, such as {SPEAKER}/*; default: none does",
        check=ParseCheck(check_speaker_pattern),
    )
    tiers: tuple[str, ...] = flag(
        (), "tiers with the transcripts in TextGrid or ELAN files, separated by commas", name="tier"
    )
    params_file: Path | None = flag(
        None, "params.txt of another run, to run with the same parameters", decides_result=False
    )
    list_experiments: bool = flag(False, "print the names of all experiments", decides_result=False)
    corpus: str = flag("", "the corpus that is imported into the work folder", on_command_line=False)
    besides: tuple[str, ...] = flag(
        (), "the further corpora that are imported, for training and validation", on_command_line=False
    )
    measured: tuple[str, ...] = flag(
        (), "the measurements of the corpus and the machine by the experiment auto", on_command_line=False
    )

    @property
    def own_alphabet(self) -> Path | None:
        """The experiment's own alphabet, which is made from its transcripts if it is used and missing."""
        return self.work / ALPHABET if self.work else None

    def imports(self) -> Iterator[CorpusImport]:
        """Yield the imports into the work folder: first the experiment's own corpus, to which `choices` apply.

        Raise FlagError if `--from` names the folders of only some of several corpora.
        """
        if self.work is None or not self.corpus:
            return
        if self.besides and len(self.sources) not in (0, 1 + len(self.besides)):
            corpora = " and ".join((self.corpus, *self.besides))
            given = ",".join(map(str, self.sources))
            raise FlagError(f"--from={given}: --experiment={self.name} needs the folders of {corpora}, in this order")
        own, *others = corpus_folders(self.work, self.besides)
        yield CorpusImport(self.corpus, own, self._own_source, self.choices)
        for name, folder, source in zip(self.besides, others, self.sources[1:] or repeat(None), strict=False):
            yield CorpusImport(name, folder, source, Choices())

    @property
    def choices(self) -> Choices:
        """How the experiment's own corpus is imported."""
        split = read_split(self.split) if self.split else None
        return Choices(split, speakers=self.speakers, tiers=self.tiers, parts=self.parts, lists=self._lists)

    @property
    def _lists(self) -> tuple[Path, ...]:
        return self.sources if len(self.sources) > 1 and not self.besides else ()

    @property
    def _own_source(self) -> Path | None:
        """The folder of the recordings, or the list; for several lists, the folder that holds all of them."""
        if self._lists:
            return Path(commonpath([path.absolute().parent for path in self._lists]))
        return self.sources[0] if self.sources else None
