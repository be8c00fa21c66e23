"""Common Voice, any language: validated.tsv, or train.tsv, dev.tsv and test.tsv, and clips/*.mp3.

The sets are those of train.tsv, dev.tsv and test.tsv. If there are none, or if a split is requested, the rows of
validated.tsv are divided by speaker (`client_id`). Quotes in these files are plain characters.
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
    official = [name for name in SETS if (source / f"{name}.tsv").is_file()]
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
    for name in official:
        yield from _read(source, f"{name}.tsv", name)


def _read(source: Path, file: str, official_set: str) -> Iterator[Item]:
    for where, row, surplus in read_table(source / file, ("client_id", "path", "sentence")):
        if surplus:
            yield LeftOut(where, SURPLUS, clip_path(source, row["path"]))
            continue
        columns = {column: row[column] for column in KEPT if row.get(column)}
        clip = clip_path(source, row["path"])
        yield Record(clip, row["sentence"], where, row["client_id"], official_set, columns=columns)
