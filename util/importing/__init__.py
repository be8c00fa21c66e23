"""Importing corpora: a corpus, selected by its name, becomes CSVs and recordings in a folder.

For most corpora, `import_corpus("fsdd", out)` writes OUT/train.csv, OUT/dev.csv and OUT/test.csv. To add a corpus, add
a line to `MODULES` and write one of these modules:

* a module of `formats/` with a function `read_records(source, choices)` that yields the records in a folder;
  `pipeline/` does the rest;
* a module beside this one with a function `import_corpus(out, source, report)` that does everything itself.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import cast

from ..errors import CorpusError, DeepSpeechError, ImportingError, OtherFormatError, line_of
from ..progress import Report, without_warnings
from ..progress import report as report_to_stderr
from .advice import nothing_found, packed, unread
from .columns_of_rows import with_columns
from .corpus_csv import is_whole
from .formats.lists.moved import with_converted, with_moved
from .pipeline.folders import innermost
from .pipeline.importing import import_records
from .pipeline.records import NO_TRANSCRIPT, SAME_NAME, SETS, Choices, Item, LeftOut, Record, each_once
from .pipeline.speakers import with_speakers
from .published import check_parts, fetch_published, missing_source
from .unpacked_archives import unpacked

FOLDER = "folder"
LISTS = "lists"
TABLE = "table"

MODULES = {
    "aishell": "formats.aishell",
    "an4": "formats.an4",
    "an4_digits": "formats.published.an4_digits",
    "arabic_speech_commands": "formats.arabic_speech_commands",
    "audio_folder": "formats.lists.audio_folder",
    "common_voice": "formats.common_voice",
    "demo": "demo",
    "fleurs": "formats.fleurs",
    FOLDER: "formats.text_files.folder",
    "fsdd": "formats.published.fsdd",
    "gigaspeech": "formats.published.gigaspeech",
    "json_lines": "formats.lists.json_lines",
    "kaldi": "formats.lists.kaldi",
    "ksponspeech": "formats.published.ksponspeech",
    "ldc93s1": "ldc93s1",
    "lhotse": "formats.lists.lhotse",
    "librispeech": "formats.librispeech",
    "libritts": "formats.text_files.libritts",
    LISTS: "formats.lists.of_any_kind",
    "ljspeech": "formats.ljspeech",
    "mgb": "formats.published.mgb",
    "mls": "formats.mls",
    "nchlt": "formats.published.nchlt",
    "parallel_lines": "formats.lists.parallel_lines",
    "parquet": "formats.lists.parquet",
    "speech_commands": "formats.speech_commands",
    TABLE: "formats.lists.table",
    "tedlium": "formats.tedlium",
    "thchs30": "formats.thchs30",
    "timit": "formats.text_files.timit",
    "tuda_de": "formats.published.tuda_de",
    "vctk": "formats.text_files.vctk",
    "voxforge": "formats.voxforge",
    "yesno": "formats.published.yesno",
}
"""The module of each corpus or format of corpora; it is loaded only when it is used."""

TRIED = (
    *("common_voice", "gigaspeech", LISTS, "audio_folder", "parquet", "ljspeech", "kaldi", "json_lines", "lhotse"),
    *("librispeech", "mls", "fleurs", "tedlium", "voxforge", "an4", "aishell", "thchs30", "vctk", "libritts", "timit"),
    *("nchlt", "tuda_de", "ksponspeech", "mgb", "parallel_lines", "arabic_speech_commands"),
    *(TABLE, FOLDER, "fsdd", "yesno"),
)
"""Formats that are tried, in this order, with a folder of unknown format; each refuses the layouts of the others.

The last two, whose transcripts are names of files, are only tried with recordings without any other transcript.
"""

_OF_LISTS = ("kaldi", "lhotse", LISTS, "json_lines")
"""Formats whose recordings may be outside the folder, from the most particular to the most general."""

_TOLD = (TABLE, FOLDER, "audio_folder", "tedlium", "ksponspeech", "mgb", "nchlt")
"""Formats that a folder has for sure if it has their files, so that it is told why no row of them can be imported."""

_WITH_COLUMNS = (TABLE, LISTS, "json_lines", "audio_folder", "parquet")
"""Formats whose rows may have any columns, also such as say which part of a recording a row is."""

_IN_LISTS = (*_WITH_COLUMNS, "parallel_lines", "lhotse")
"""Formats whose folders may have several lists with the same utterances."""

_AT_THE_TOP = (
    *("common_voice", "gigaspeech", "ljspeech", "lhotse", "mls", "fleurs", "an4", "aishell", "thchs30", "vctk"),
    *("arabic_speech_commands", "speech_commands", "json_lines", LISTS, FOLDER),
)
"""Formats with files or sets right in their folder, which may be the only one in a folder, as in unpacked archives."""

_MAY_HAVE_MOVED = (*_OF_LISTS, "tedlium")
"""Formats whose recordings are looked for by their names if they are not where the lists say."""

DOWNLOADS = "download"
"""The subfolder of the corpus's folder for unpacked archives."""


def import_corpus(
    name: str,
    out: Path,
    source: Path | None = None,
    report: Report = report_to_stderr,
    choices: Choices = Choices(),  # noqa: B008 (never changed)
) -> bool:
    """Import the corpus of this name into the folder `out`; complete files there are not fetched again.

    Return whether anything was imported: a corpus of a format that is there stays as it is without a source.

    `source` is the folder of its recordings, an archive of it, which is unpacked below `out`, or a list of them.
    Without one they are downloaded (for a format, only if `choices` say so) or synthesized. Each corpus's module
    describes its output. Only formats accept `choices`. Raise DeepSpeechError, mostly an ImportingError.
    """
    check_known(name)
    check_parts(name, choices.parts)
    if choices.tiers and name != FOLDER and is_format(name):
        raise ImportingError(f"{name} has no tiers; leave out --tier, or import annotations with the format {FOLDER}")
    if choices.lists and name != LISTS:
        several = f"{name} is imported from one folder, and these are {len(choices.lists)} paths"
        raise ImportingError(rf"--from: {several}; write a comma in a path as \,")
    try:
        if source is not None:
            source = unpacked_source(source, out, report)
        if name == LISTS and source is not None and source.is_file():
            choices, source = replace(choices, lists=(source,)), source.parent
        if not is_format(name):
            _check_no_choices(name, choices)
            _module(name).import_corpus(out, source, report)
        elif source is not None or choices.download:
            source = source or fetch_published(name, choices.parts, out / DOWNLOADS, report)
            _import_folder(name, source, out, choices, report)
        elif is_imported(out):
            return False
        else:
            raise ImportingError(missing_source(name))
        return True
    except CorpusError as error:  # from a list that is read as for training
        raise ImportingError(str(error)) from error
    except (OSError, sqlite3.Error) as error:
        why = line_of(error) if isinstance(error, OSError) else error
        raise ImportingError(f"the corpus {name} cannot be imported into {out}: {why}") from error


def _import_folder(name: str, source: Path, out: Path, choices: Choices, report: Report) -> None:
    """Import a folder of this format; if it has another one, say which in the error."""
    try:
        import_records(partial(read_items, name), source, out, replace(choices, out=out, writes=True), report)
    except OtherFormatError as error:
        try:
            found = format_of(source, choices)
        except DeepSpeechError:
            raise error from None
        raise ImportingError(f"{error}; its format is {found}") from error


def unpacked_source(source: Path, out: Path, report: Report = report_to_stderr) -> Path:
    """Return the folder that an archive of recordings is unpacked into for an import to `out`; other paths unchanged.

    Raise ImportingError, or OSError.
    """
    return unpacked(source, out / DOWNLOADS, report)


@without_warnings()
def format_of(source: Path, choices: Choices) -> str:
    """Return the name of the first format of `TRIED` that finds utterances in a folder; an import warns of these.

    Raise ImportingError if there are only packed recordings, or a table without a usable row, else CorpusError if there
    are only lists that cannot be read, else ImportingError: what is wrong with the transcripts of recordings, or, if
    there are no recordings, with the rows of lists, or what else may be the transcripts, or that of `FOLDER`, as the
    others are not likely, or one that says what to do if that format finds only recordings.
    """
    unreadable: CorpusError | None = None
    last: ImportingError | None = None
    unusable: dict[str, ImportingError] = {}
    for name in TRIED:
        try:
            for item in read_items(name, source, choices):
                if isinstance(item, Record):
                    return name
                if name in (*_OF_LISTS, *_TOLD) and item.reason not in (NO_TRANSCRIPT, SAME_NAME):
                    unusable.setdefault(name, _none_usable(source, name, item))
        except ImportingError as error:
            last = error if name == FOLDER else last
        except CorpusError as error:
            unreadable = unreadable or error
    raise (
        packed(source)
        or unusable.get(TABLE)
        or unreadable
        or next((unusable[name] for name in _TOLD if name in unusable), None)
        or (last and next((unusable[name] for name in _OF_LISTS if name in unusable), None))
        or unread(source)
        or last
        or nothing_found(source)
    )


def _none_usable(source: Path, name: str, item: LeftOut) -> ImportingError:
    detail = f" ({item.detail})" if item.detail else ""
    why = f"none of its rows can be imported, such as {item.source}: {item.reason}{detail}"
    return ImportingError(f"{source} has the format {name}, but {why}")


def read_items(name: str, source: Path, choices: Choices) -> Iterator[Item]:
    """Yield the rows of a folder, or of lists in it, in this format; recordings are not read.

    For some formats, the only folder in it is read in its place.
    Raise ImportingError if the folder has another format, or CorpusError for a list that cannot be read.
    """
    source = source.absolute()
    inner = innermost(source) if name in _AT_THE_TOP else source
    read = cast(Callable[[], Iterator[Item]], partial(_module(name).read_records, inner, choices))
    read = partial(with_columns, read) if name in _WITH_COLUMNS else read
    items = with_moved(read, source) if name in _MAY_HAVE_MOVED else with_converted(read())
    items = each_once(items, divided=choices.split is not None) if name in _IN_LISTS else items
    return with_speakers(items, source, choices.speakers) if choices.speakers else items


def check_known(name: str) -> None:
    """Raise ImportingError if there is no corpus or format of this name."""
    if name not in MODULES:
        raise ImportingError(f"there is no corpus {name!r}; there are {', '.join(sorted(MODULES))}")


def is_format(name: str) -> bool:
    """Return whether a corpus is one of a format, read from a folder of recordings; raise ImportingError if unknown."""
    return hasattr(_module(name), "read_records")


def is_imported(out: Path) -> bool:
    """Return whether `out` has CSVs and all recordings that they name."""
    files = [path for path in (out / f"{name}.csv" for name in SETS) if path.exists()]
    return bool(files) and all(map(is_whole, files))


def descriptions() -> dict[str, str]:
    """Return the first line of the description of each corpus or format, by its name."""
    return {name: (_module(name).__doc__ or "").partition("\n")[0] for name in MODULES}


def _check_no_choices(name: str, choices: Choices) -> None:
    none = Choices()
    for field, flag in (("split", "split"), ("seed", "seed"), ("speakers", "speakers"), ("tiers", "tier")):
        if getattr(choices, field) != getattr(none, field):
            raise ImportingError(f"{name} is always divided in the same way, and has no tiers; leave out --{flag}")


def _module(name: str) -> ModuleType:
    check_known(name)
    return import_module(f".{MODULES[name]}", __name__)
