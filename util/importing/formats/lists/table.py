"""Recordings in a folder, and tables that name them: .csv, .tsv or .txt, with a line for each recording or segment.

A table is a file whose lines mostly name a recording in one of their fields: by its path, which may lead out of the
folder, or by the name of one below it, with or without the ending. Fields are separated by tabs, |, semicolons or
commas, or the name is the first word of a line. If the first line names the columns, columns of speakers, sets and
times in seconds are used. Otherwise, the transcript is the last of the columns with the most text, and a column of
words that repeat names the speakers.
"""

from __future__ import annotations

import csv
import logging
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path, PurePosixPath

from ....containers.endings import by_name_and_ending, is_recording
from ....corpus_files.lines import numbered_lines
from ....corpus_files.lookup import Lookup
from ....corpus_files.rows import seconds_of, why_not_times
from ....corpus_files.speakers import SPEAKERS
from ....errors import CorpusError, ImportingError
from ....files.folders import walk
from ...pipeline.columns import DURATIONS, ENDS, SETS_OF_ROWS, STARTS, TEXTS, column_name
from ...pipeline.folders import named_as_sets, set_of_name
from ...pipeline.output import LEFT_OUT_FILE
from ...pipeline.records import SURPLUS, Choices, Item, LeftOut, Record

log = logging.getLogger(__name__)

_TABLES = (".csv", ".tsv", ".tab", ".txt")
_SEPARATORS = ("\t", "|", ";", ",", " ")
"""In the order in which they are tried; a space only ends the first word."""
_QUOTING = (";", ",")
_LOOKED_AT = 2000
"""The number of lines that show how a table is laid out."""
_SEVERAL = ""
"""Stands for the path where several recordings have a name."""
_SPEAKER_IN_NAME = re.compile(r"([a-z]{2,4}_\d{4,5})_\d{8,}")
"""Names of recordings in Google's crowdsourced corpora (OpenSLR 32 to 80): language, speaker and utterance."""
_NO_NAME = re.compile(r"\s|^\d*[.,]\d+$")
"""Several words, or a fraction, such as a duration."""


@dataclass(frozen=True)
class _Layout:
    """How the lines of a table are divided, and which columns, counted from 0, hold what."""

    separator: str
    header: tuple[str, ...]
    """The names of the columns; none if the first line is no header."""
    width: int
    """The number of columns."""
    recording: int
    text: int
    speaker: int | None

    @property
    def is_guessed(self) -> bool:
        """Whether no column is named as that of the transcript."""
        return set(TEXTS).isdisjoint(self.header)

    def __str__(self) -> str:
        """Return which columns are used, for the user to check."""
        columns = {"recordings": self.recording, "transcripts": self.text, "speakers": self.speaker}
        return ", ".join(
            f"{what} in column {column + 1}{f' ({self.header[column]})' if self.header else ''}"
            for what, column in columns.items()
            if column is not None
        )

    def field(self, fields: Sequence[str], names: Iterable[str]) -> str:
        """Return the field of the first of these columns that there is; empty if there is none."""
        return next((fields[self.header.index(name)].strip() for name in names if name in self.header), "")


def read_records(source: Path, choices: Choices) -> Iterator[Item]:
    """Yield the rows of the tables in a folder and below; raise ImportingError if there are none."""
    with Lookup(_names_of_recordings(source), repeated=_SEVERAL) as recordings:
        layouts = dict(_tables(source, recordings))
        for path in named_as_sets(list(layouts)):
            if layouts[path].is_guessed:
                log.warning(
                    "%s: read with %s; if that is wrong, name the columns in a first line: file, text, speaker",
                    *(path, layouts[path]),
                )
            yield from _rows(source, path, layouts[path], recordings)


def _names_of_recordings(source: Path) -> Iterator[tuple[str, str]]:
    """Yield each name that a table may have for a recording, with the recording's path."""
    for folder, files in walk(source):
        by_stem: dict[str, str] = {}
        for file in sorted(filter(is_recording, files), key=by_name_and_ending):
            by_stem.setdefault(file.rpartition(".")[0], file)
        for stem, file in by_stem.items():
            path = Path(folder, file)
            relative = path.relative_to(source)
            for name in {str(relative), str(relative.with_suffix("")), file, stem}:
                yield unicodedata.normalize("NFC", name), str(path)


def _tables(source: Path, recordings: Lookup) -> Iterator[tuple[Path, _Layout]]:
    """Yield the tables with their layouts; raise ImportingError if there is none, CorpusError if it is unreadable."""
    empty = True
    unreadable: CorpusError | None = None
    for folder, files in walk(source):
        texts = {f"{file.rpartition('.')[0]}.txt" for file in filter(is_recording, files)}
        for file in files:
            path = Path(folder, file)
            if path.suffix.lower() not in _TABLES or file in texts or file == LEFT_OUT_FILE:
                continue
            try:
                layout = _layout(path, _finder(source, path, recordings))
            except CorpusError as error:
                unreadable = unreadable or error
                continue
            if layout is not None:
                empty = False
                yield path, layout
    if empty:
        raise unreadable or ImportingError(f"{source} has no table ({', '.join(_TABLES)}) whose lines name recordings")


def _finder(source: Path, table: Path, recordings: Lookup) -> Callable[[str], str | None]:
    """Return a function that finds the path of the recording with a name in a table; _SEVERAL if there are several."""
    folder = table.parent.relative_to(source)

    def find(name: str) -> str | None:
        posix = PurePosixPath(unicodedata.normalize("NFC", name.strip().replace("\\", "/")))
        if not posix.name:
            return None
        names = (posix.name, posix.stem) if is_recording(posix.name) else (posix.name,)
        by_path = map(recordings.get, (str(folder / posix), str(posix)))
        paths = chain(by_path, map(_elsewhere, (table,), (name.strip(),)), map(recordings.get, names))
        return next((path for path in paths if path is not None), None)

    return find


def _elsewhere(table: Path, name: str) -> str | None:
    """Return the path of a recording that a table names by its path, from the table's folder; None if it has none."""
    with suppress(ValueError):  # a name that no file can have
        path = table.parent / name
        return str(path.resolve()) if is_recording(name) and path.is_file() else None
    return None


def _layout(path: Path, find: Callable[[str], str | None]) -> _Layout | None:
    """Return the layout of a table; None if its first lines, which may end in a quoted field, name no recordings.

    Raise CorpusError.
    """
    lines = list(islice(numbered_lines(path), _LOOKED_AT))
    for separator in _SEPARATORS:
        rows = [fields for _, fields in _divided(path, lines, separator, strict=False)]
        found = Counter(
            column for row in rows for column, field in enumerate(row) if len(row) > 1 and find(field) is not None
        )
        column, count = found.most_common(1)[0] if found else (0, 0)
        if count and 2 * count >= len(rows) - 1:
            first = (rows[0] + [""] * column)[column]
            has_header = find(first) is None and not is_recording(first.strip())
            return _with_columns(separator, rows[0] if has_header else (), rows[has_header:], column)
    return None


def _with_columns(
    separator: str, header: Sequence[str], rows: Sequence[Sequence[str]], recording: int
) -> _Layout | None:
    """Return the layout with the columns that these rows show; None if there is no transcript."""
    names = tuple(column_name(name).replace("-", "_") for name in header)
    lengths = Counter(map(len, rows))
    usual = [length for length, count in lengths.items() if 20 * count >= len(rows) and length > max(1, recording)]
    width = len(names) or min(usual, default=0)
    values = {
        column: [row[column].strip() for row in rows if len(row) > column]
        for column in range(width)
        if column != recording
    }
    text, speaker = (next((names.index(name) for name in kind if name in names), None) for kind in (TEXTS, SPEAKERS))
    if text is None:
        sizes = {column: sum(map(_letters, texts)) for column, texts in values.items()}
        if not any(sizes.values()):  # numbers alone
            sizes = {column: sum(map(len, texts)) for column, texts in values.items()}
        text = max((column for column, size in sizes.items() if 2 * size >= max(sizes.values()) > 0), default=None)
    if text is None:
        return None
    repeating = [column for column, texts in values.items() if column != text and _repeat(texts)]
    if speaker is None and set(TEXTS).isdisjoint(names) and len(repeating) == 1:
        (speaker,) = repeating
    return _Layout(separator, names, width, recording, text, speaker)


def _letters(text: str) -> int:
    return sum(map(str.isalpha, text))


def _repeat(texts: Sequence[str]) -> bool:
    """Return whether these are single words, of which at least every tenth repeats another, as names of speakers do."""
    different = len(set(texts))
    return 1 < different <= 0.9 * len(texts) and not any(map(_NO_NAME.search, texts)) and all(texts)


def _rows(source: Path, path: Path, layout: _Layout, recordings: Lookup) -> Iterator[Item]:
    find = _finder(source, path, recordings)
    rows = _divided(path, numbered_lines(path), layout.separator)
    for number, fields in islice(rows, 1 if layout.header else 0, None):
        where = f"{path.relative_to(source)}:{number}"
        line = layout.separator.join(fields)
        if len(fields) > layout.width and layout.text == layout.width - 1:  # the separator is in the transcript
            fields = [*fields[: layout.text], f"{layout.separator} ".join(fields[layout.text :])]
        if len(fields) != layout.width:
            yield LeftOut(where, SURPLUS if len(fields) > layout.width else "fewer fields than columns", "", line)
            continue
        name = fields[layout.recording].strip()
        recording = find(name)
        if recording is None:
            yield LeftOut(where, "no recording of this name in the folder", "", name)
        elif recording == _SEVERAL:
            yield LeftOut(where, "several recordings of this name in the folder", "", name)
        else:
            yield _record(where, path, recording, fields, layout)


def _record(where: str, table: Path, recording: str, fields: Sequence[str], layout: _Layout) -> Item:
    try:
        start, duration = _times(fields, layout)
    except ValueError as error:
        return LeftOut(where, "a start, duration or end that cannot be used", recording, str(error))
    if reason := why_not_times(start, duration):
        return LeftOut(where, "a start, duration or end that cannot be used", recording, reason)
    speaker = fields[layout.speaker].strip() if layout.speaker is not None else _speaker_in(recording)
    official = set_of_name(layout.field(fields, SETS_OF_ROWS)) or set_of_name(table.stem)
    used = {*STARTS, *DURATIONS, *ENDS, *SETS_OF_ROWS}
    others: Mapping[str, str] = {
        name: fields[column].strip()
        for column, name in enumerate(layout.header)
        if name and name not in used and column not in (layout.recording, layout.text, layout.speaker)
    }
    return Record(recording, fields[layout.text].strip(), where, speaker, official, start, duration, others)


def _times(fields: Sequence[str], layout: _Layout) -> tuple[float, float | None]:
    """Return start and duration in seconds, None to the end; raise ValueError for a field that is no number."""
    start, duration, end = (layout.field(fields, names) for names in (STARTS, DURATIONS, ENDS))
    if not start:
        return 0.0, None
    begin = seconds_of(start)
    if duration:
        return begin, seconds_of(duration)
    return begin, seconds_of(end) - begin if end else None


def _speaker_in(recording: str) -> str:
    found = _SPEAKER_IN_NAME.fullmatch(Path(recording).stem)
    return found[1] if found else ""


def _divided(
    path: Path, lines: Iterable[tuple[int, str]], separator: str, *, strict: bool = True
) -> Iterator[tuple[int, list[str]]]:
    """Yield the fields of each row of a table, with the number of its first line; raise CorpusError."""
    if separator not in _QUOTING:
        for number, line in lines:
            yield number, line.split(None, 1) if separator == " " else line.split(separator)
        return
    numbers = [0]

    def texts() -> Iterator[str]:
        for number, line in lines:
            numbers.append(number)
            yield f"{line}\n"

    try:
        for fields in csv.reader(texts(), strict=strict, delimiter=separator, skipinitialspace=True):
            yield numbers[1], fields
            del numbers[1:]
    except csv.Error as error:
        raise CorpusError(f"{path}:{numbers[-1]}: malformed CSV: {error}") from error
