"""How the lines of a table are divided into fields, and which of these name the recording, its text and its speaker."""

from __future__ import annotations

import csv
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from ....containers.endings import is_recording
from ....corpus_files.lines import numbered_lines
from ....corpus_files.speakers import SPEAKERS, column_name
from ....errors import CorpusError
from ...pipeline.columns import TEXTS, TIMES, are_facts
from .named_recordings import SEVERAL

_QUOTED, _NAMED_LAST = '" "', ")"
"""Separators that stand for lines such as `"a 1.wav" "TEXT"`, and `<s> TEXT </s> (a_1)` of Sphinx."""
_SEPARATORS = (" :: ", _QUOTED, "\t", "|", ";", ",", ":", " ", _NAMED_LAST)
"""In the order in which they are tried."""
_LINE_OF_SPHINX = re.compile(r"\s*(?:<s>)?\s*(.*?)\s*(?:</s>)?\s*\((\S+)\)\s*")
_OF_LDC = ".tdf"
"""Ends the names of tables with types after the names of columns, as in `start;float`, and notes after ;;."""
_ENDS_FIRST = (":", " ")
"""Separators that only end the first field."""
_LIST_OF_FLASHLIGHT = ".lst"
"""Ends the names of tables with lines such as `NAME PATH LENGTH TEXT`."""
_LINE_OF_FESTVOX = re.compile(r"\(\s*(\S+)\s+\"(.*)\"\s*\)\s*")
"""A line such as `( arctic_a0001 "TEXT" )`."""
_LINE_OF_EXCEL = re.compile(r"sep=.\s*", re.IGNORECASE)
_QUOTING = (";", ",")
_QUOTED_FIELD = re.compile(r'"(?=.*(?:,|""))((?:[^"]|"")+)"')
"""A field between tabs as spreadsheets write one with a comma or a quote: in quotes, and its own quotes doubled."""
_OTHER_NAME = re.compile(
    r"(.*_)?(gender|sex|age|age_group|country|language|lang|locale|accent|dialect|family|device|city|emotion|topic)"
    r"|(country|language|dialect)_.*|\w*(duration|length|date|url|source)s?"
)
"""Names of columns with other facts than a text or a speaker."""
_FEW_COLUMNS = 2
_WORD_OR_MORE = 9
"""The bytes in UTF-8 of a text that may be longer than a code: three Chinese characters, or nine Latin letters."""
_LOOKED_AT = 2000
"""The number of lines that show how a table is laid out."""
_STARTS = TIMES[0].keys()
"""Names of columns of starts."""
_TEXTS_OF_PARTS = 3
"""Texts of a recording, on average, that are those of parts of it, and not of several people."""
_FRACTION = re.compile(r"\d*[.,]\d+")
_NO_NAME = re.compile(r"\s|^\d*[.,]\d+$")
"""Several words, or a fraction, such as a duration."""


@dataclass(frozen=True)
class Layout:
    """How the lines of a table are divided, and which columns, counted from 0, hold what."""

    separator: str
    header: tuple[str, ...]
    """The names of the columns; none if the first line is no header."""
    width: int
    """The number of columns."""
    recording: int
    text: int
    speaker: int | None
    lacks_times: bool
    """Whether recordings have many texts, as parts of them would have, but no column is named as that of starts."""

    @property
    def has_starts(self) -> bool:
        """Whether a column is named as that of the starts of parts."""
        return not _STARTS.isdisjoint(self.header)

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

    def named(self, fields: Sequence[str]) -> dict[str, str]:
        """Return the fields by the names of their columns, of which the first counts if several have a name."""
        return dict(reversed([*zip(self.header, map(str.strip, fields), strict=False)]))


def layout_of(path: Path, find: Callable[[str], str | None]) -> Layout | None:
    """Return the layout of a table; None if its first lines, which may end in a quoted field, name no recordings.

    Raise CorpusError.
    """
    lines = list(islice(lines_of(path), _LOOKED_AT))
    for separator in _SEPARATORS:
        rows = [fields for _, fields in divided(path, lines, separator, strict=False)]
        column, count = _column_of_recordings(rows, find)
        if count and 2 * count >= len(rows) - 1:
            first = (rows[0] + [""] * column)[column]
            if len(rows) == 1 and not is_recording(first.strip()) and find(path.stem) is not None:
                return None  # the text of a recording, with a word that is the name of another
            has_header = find(first) is None and not is_recording(first.strip())
            return _with_columns(path, separator, rows[0] if has_header else (), rows[has_header:], column)
    return None


def _column_of_recordings(rows: Sequence[Sequence[str]], find: Callable[[str], str | None]) -> tuple[int, int]:
    """Return the column that names most recordings, and of how many rows.

    Of columns in which most rows do, that is the one with most names of a single recording and with endings.
    """
    found, clear = Counter[int](), Counter[int]()
    for row in rows:
        for column, field in enumerate(row if len(row) > 1 else ()):
            if (path := find(field)) is not None:
                found[column] += 1
                clear[column] += (path != SEVERAL) + is_recording(field.strip())
    most = max(found.values(), default=0)
    usual = [column for column, count in found.items() if 10 * count >= 9 * most]
    column = max(usual, key=lambda each: (clear[each], found[each]), default=0)
    return column, found[column]


def _with_columns(
    path: Path, separator: str, header: Sequence[str], rows: Sequence[Sequence[str]], recording: int
) -> Layout | None:
    """Return the layout with the columns that these rows show; None without a transcript, or if the header is short."""
    names = tuple(map(column_name, header))
    if names and recording >= len(names):
        return None
    if path.suffix == _OF_LDC:
        names = tuple(name.partition(";")[0] for name in names)
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
        values = {column: texts for column, texts in values.items() if not _names_facts(column, names, texts)}
        text = _guessed_text(values, names)
    if text is None:
        return None
    repeating = [column for column, texts in values.items() if column != text and _repeat(texts)]
    if speaker is None and set(TEXTS).isdisjoint(names) and len(repeating) == 1:
        (speaker,) = repeating
    different = {(row[recording], row[text]) for row in rows if len(row) > max(recording, text)}
    many = len(different) >= _TEXTS_OF_PARTS * len({each for each, _ in different})
    return Layout(separator, names, width, recording, text, speaker, many and _STARTS.isdisjoint(names))


def _guessed_text(values: Mapping[int, Sequence[str]], names: Sequence[str]) -> int | None:
    """Return the column of transcripts, by what the columns hold, and by their names if they have any."""
    said = {column: texts for column, texts in values.items() if not (names and names[column].endswith("id"))}
    sizes = {column: sum(map(_letters, texts)) for column, texts in said.items()}
    if not any(sizes.values()):  # numbers alone
        whole = (column for column, texts in said.items() if not all(map(_FRACTION.fullmatch, texts)))
        sizes = {column: sum(map(len, values[column])) for column in whole}
    largest = max(sizes.values(), default=0)
    text = _last_text({column: values[column] for column, size in sizes.items() if 2 * size >= largest > 0})
    of_many = len(names) > _FEW_COLUMNS
    return text if text is not None and (not of_many or _may_be_said(values[text])) else None


def _names_facts(column: int, names: Sequence[str], texts: Sequence[str]) -> bool:
    """Return whether a column has addresses, or a name that says that it has other facts than a text or a speaker."""
    return any("://" in text for text in texts[:1]) or bool(names and _OTHER_NAME.fullmatch(names[column]))


def _may_be_said(texts: Sequence[str]) -> bool:
    """Return whether some texts are several words or a long one, and not all are codes, such as of a country."""
    return any(" " in text or len(text.encode()) >= _WORD_OR_MORE for text in texts)


def _last_text(texts: Mapping[int, Sequence[str]]) -> int | None:
    """Return the last of the columns of texts that is in the script of the first; None if there is no column.

    A column that repeats an earlier one with other code points for its letters, as with those of Hangul, is not it.
    """
    forms: dict[tuple[str, ...], int] = {}
    for column, of_rows in texts.items():
        forms.setdefault(tuple(unicodedata.normalize("NFC", text) for text in of_rows), column)
    scripts = {column: _script("".join(texts[column])) for column in forms.values()}
    return max((column for column, script in scripts.items() if script == scripts[min(scripts)]), default=None)


def _script(text: str) -> str:
    """Return the script of most of the first letters, as in "LATIN"."""
    letters = islice(filter(str.isalpha, text), _LOOKED_AT)
    names = Counter(unicodedata.name(letter, "").partition(" ")[0] for letter in letters)
    return names.most_common(1)[0][0] if names else ""


def _letters(text: str) -> int:
    """Return the size of the letters of a text in UTF-8, in which a syllable or word counts as several letters."""
    return len("".join(filter(str.isalpha, unicodedata.normalize("NFC", text))).encode())


def _repeat(texts: Sequence[str]) -> bool:
    """Return whether these are single words, of which at least every tenth repeats another, as names of speakers do."""
    different = len(set(texts))
    is_name = 1 < different <= 0.9 * len(texts) and not any(map(_NO_NAME.search, texts)) and all(texts)
    return is_name and not are_facts(texts)


def lines_of(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the lines of a table, with tabs in place of the parentheses and quotes of Festvox. Raise CorpusError.

    A first line that tells Excel the separator, such as `sep=;`, is none of them.
    """
    for number, line in numbered_lines(path):
        found = _LINE_OF_FESTVOX.fullmatch(line)
        is_note = path.suffix == _OF_LDC and line.startswith(";;")
        if not is_note and (number > 1 or not _LINE_OF_EXCEL.fullmatch(line)):
            yield number, "\t".join(found.groups()) if found else line


def divided(
    path: Path, lines: Iterable[tuple[int, str]], separator: str, *, strict: bool = True
) -> Iterator[tuple[int, list[str]]]:
    """Yield the fields of each row of a table, with the number of its first line; raise CorpusError."""
    if separator == _NAMED_LAST:
        for number, line in lines:
            found = _LINE_OF_SPHINX.fullmatch(line)
            yield number, [found[2], found[1]] if found else [line]
        return
    if separator not in _QUOTING:
        most = (3 if path.suffix == _LIST_OF_FLASHLIGHT else 1) if separator in _ENDS_FIRST else -1
        for number, line in lines:
            fields = line.split(None if separator == " " else separator, most)
            if separator in (_QUOTED, "\t"):
                fields = [field.strip('"') if separator == _QUOTED else _unquoted(field) for field in fields]
            yield number, fields
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


def _unquoted(field: str) -> str:
    found = _QUOTED_FIELD.fullmatch(field)
    return found[1].replace('""', '"') if found else field
