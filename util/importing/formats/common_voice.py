"""Common Voice, any language: validated.tsv, or train.tsv, dev.tsv and test.tsv, and clips/*.mp3.

The sets are those of train.tsv, dev.tsv and test.tsv, or of the largest train_*.tsv and so on, as in the Swiss
Parliaments Corpus. If there are none, or if a split is requested, the rows of validated.tsv are divided by speaker
(`client_id`). Quotes in these files are plain characters.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ...corpus_files.csv_files import clip_path
from ...errors import ImportingError
from ..pipeline.lines import read_table
from ..pipeline.records import SETS, SURPLUS, Choices, Item, LeftOut, Record

KEPT = ("age", "gender", "accent", "accents", "variant", "locale", "segment")
"""Further columns that are kept."""

_VALIDATED = "validated.tsv"


def read_records(source: Path, choices: Choices) -> Iterator[Item]:
    """Yield the rows of a language's folder, or of the only language in a folder; raise ImportingError otherwise."""
    official = {name: path for name in SETS if (path := _table_of_set(source, name))}
    if (source / _VALIDATED).is_file() and (choices.split or not official):
        yield from _read(source, _VALIDATED, "")
        return
    if not official:
        languages = sorted(path.parent for path in source.glob(f"*/{_VALIDATED}"))
        if len(languages) == 1:
            yield from read_records(languages[0], choices)
            return
        names = ", ".join(path.name for path in languages)
        here = f"; it has the languages {names}: name the folder of one" if languages else ""
        raise ImportingError(f"{source} has no {_VALIDATED} and no train.tsv{here}")
    for name, path in official.items():
        yield from _read(source, path.name, name)


def _table_of_set(source: Path, name: str) -> Path | None:
    """Return the table of a set; if it is missing, the largest one whose name begins so, such as train_all.tsv."""
    if (path := source / f"{name}.tsv").is_file():
        return path
    return max(source.glob(f"{name}_*.tsv"), key=lambda path: path.stat().st_size, default=None)


def _read(source: Path, file: str, official_set: str) -> Iterator[Item]:
    for where, row, surplus in read_table(source / file, ("client_id", "path", "sentence")):
        if surplus:
            yield LeftOut(where, SURPLUS, clip_path(source, row["path"]))
            continue
        columns = {column: row[column] for column in KEPT if row.get(column)}
        clip = clip_path(source, row["path"])
        yield Record(clip, row["sentence"], where, row["client_id"], official_set, columns=columns)
