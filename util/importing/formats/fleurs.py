"""FLEURS, the folder of a language: train.tsv, dev.tsv and test.tsv, and audio/train/*.wav or train/*.wav.

The tables do not name their columns: number of the sentence, recording, sentence as written, sentence in lower case
without punctuation, its characters, samples, and gender. The fourth is the transcript, without the spaces that it has
between all Chinese characters. The columns `sentence_number`, `written` and `gender` are kept. Speakers are unknown.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

from ...errors import ImportingError, OtherFormatError
from ...transcripts import written_without_spaces
from ..pipeline.folders import set_of_name
from ..pipeline.lines import read_lines
from ..pipeline.records import SETS, Choices, Item, LeftOut, Record

_COLUMNS = 7


def read_records(source: Path, choices: Choices) -> Iterator[Item]:
    """Yield the rows of the tables in a folder; raise ImportingError if there are none, or no recordings."""
    tables = [path for name in SETS if (path := source / f"{name}.tsv").is_file()]
    if not tables:
        raise OtherFormatError(f"{source} has no train.tsv, dev.tsv or test.tsv, so it isn't a language of FLEURS")
    for table in tables:
        folder = _recordings(source, table.stem)
        for where, line in read_lines(table):
            yield _item(folder, table.stem, where, line)


def _recordings(source: Path, name: str) -> Path:
    folders = (source / "audio" / name, source / name)
    for folder in folders:
        if folder.is_dir():
            return folder
    raise ImportingError(f"{source} has no audio/{name}/; unpack audio/{name}.tar.gz there first")


def _item(folder: Path, name: str, where: str, line: str) -> Item:
    fields = line.split("\t")
    if len(fields) != _COLUMNS:
        return LeftOut(where, f"not {_COLUMNS} fields, which FLEURS has", "", line)
    number, file, written, spaced, _, _, gender = fields
    columns = {"sentence_number": number, "written": written, "gender": gender.lower()}
    return Record(str(folder / file), _joined(spaced.split()), where, official_set=set_of_name(name), columns=columns)


def _joined(words: list[str]) -> str:
    """Join the words of a sentence, without spaces between characters of scripts that have none."""
    runs = groupby(words, written_without_spaces)  # False for longer words, such as phrases of Thai
    return " ".join(("" if characters else " ").join(run) for characters, run in runs)
