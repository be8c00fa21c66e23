"""Recordings in a folder, and tables that name them: .csv, .tsv, .txt …, with a line for each recording or segment.

A table is a file whose lines mostly name a recording in one of their fields: by its path, which may lead out of the
folder, or by the name of one below it, with or without the ending. Fields are separated by tabs, |, semicolons or
commas, or the name is the first word of a line, or ends with a colon. If the first line names the columns, columns of
speakers, sets and times in seconds are used. Otherwise, the transcript is the last of the columns with the most text,
and a column of words that repeat names the speakers. A field that names a text file stands for its text. Sets are those
of a column, or of the names of tables or folders.
"""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from functools import cache, partial
from itertools import chain, islice
from pathlib import Path

from ....containers.endings import is_recording
from ....corpus_files.kaldi import RECORDINGS, TEXT, read_pairs
from ....corpus_files.lines import read_text
from ....corpus_files.lookup import Lookup
from ....errors import CorpusError, ImportingError
from ....files.folders import walk
from ...pipeline.columns import SETS_OF_ROWS, TIMES, part_in
from ...pipeline.folders import named_as_sets, set_of_name, sets_of_lists, tests_first
from ...pipeline.output import LEFT_OUT_FILE
from ...pipeline.records import SURPLUS, WRONG_TIMES, Choices, Item, LeftOut, Record
from ..text_files.reading import unreadable
from .named_recordings import SEVERAL, NamedRecordings, distinct_ends
from .table_layout import Layout, divided, layout_of, lines_of

log = logging.getLogger(__name__)

_TABLES = (
    *(".csv", ".tsv", ".tab", ".txt", ".lst", ".list", ".trn", ".trans", ".data"),
    *(".transcription", ".transcriptions", ".tdf", ".dot"),
)
_WITHOUT_ENDING = re.compile(r"(.*[_.-])?(text|transcripts?|transcriptions?|prompts|label)", re.IGNORECASE)
"""Names of tables without an ending, such as Kaldi's text."""
_TEXTS_OF_REGIONS = re.compile(r'\["[^"].*"\]', re.DOTALL)
_OF_REGIONS = "the texts of several regions in one field; export them as JSON"
_LACKS_TIMES = "one of many texts of a whole recording; name the columns of their times start and end"
_TEXTS_OF_RECORDINGS = (".txt", ".trn")
_USED = {*SETS_OF_ROWS, *chain(*TIMES)}
"""Names of columns that are not kept, as they are used."""
_SPEAKER_IN_NAME = re.compile(r"([a-z]{2,4}_\d{4,5})_\d{8,}")
"""Names of recordings in Google's crowdsourced corpora (OpenSLR 32 to 80): language, speaker and utterance."""


def read_records(source: Path, choices: Choices) -> Iterator[Item]:
    """Yield the rows of the tables in a folder and below; raise ImportingError if there are none."""
    with NamedRecordings(source) as recordings:
        layouts = dict(_tables(source, recordings, choices.out))
        sets = sets_of_lists(source, layouts)
        for path in tests_first(named_as_sets(list(layouts)), sets):
            if layouts[path].is_guessed:
                log.warning(
                    "%s: read with %s; if that is wrong, name the columns in a first line: file, text, speaker",
                    *(path, layouts[path]),
                )
            for item in _with_speakers_beside(path, _rows(source, path, layouts[path], recordings)):
                if isinstance(item, Record):
                    named = item.official_set or sets[path] or recordings.set_of(item.path)
                    yield item._replace(official_set=named)
                else:
                    yield item


def _with_speakers_beside(table: Path, items: Iterator[Item]) -> Iterator[Item]:
    """Yield the items of a table named text or train_text with the speakers of Kaldi's utt2spk or train_utt2spk."""
    beside = table.with_name(f"{table.name.removesuffix(TEXT)}utt2spk")
    if not table.name.endswith(TEXT) or not beside.is_file():
        yield from items
        return
    with Lookup(read_pairs(beside)) as speakers:
        for item in items:
            name = Path(item.path).stem
            speaker = speakers.get(name) or ""
            known = speaker not in ("", name)  # Kaldi's unknown speakers are named as their utterances
            yield item._replace(speaker=speaker) if known and isinstance(item, Record) else item


def _tables(source: Path, recordings: NamedRecordings, out: Path | None) -> Iterator[tuple[Path, Layout]]:
    """Yield the tables with their layouts, without those of a corpus that was imported into the folder `out`.

    A warning names a file that cannot be read. Raise ImportingError if there is none, CorpusError if it is unreadable.
    """
    empty = True
    unreadable: list[CorpusError] = []
    imported = out.resolve() if out else None
    for folder, files in walk(source):
        if Path(folder) != source and Path(folder).resolve() == imported:
            continue
        heard = set(filter(is_recording, files))
        others = [file for file in files if file not in heard and (file != TEXT or RECORDINGS not in files)]
        heard |= {file.rpartition(".")[0] for file in heard}
        for path in (Path(folder, file) for file in others):
            if not _may_be_table(path) or (path.suffix.lower() in _TEXTS_OF_RECORDINGS and path.stem in heard):
                continue
            try:
                layout = layout_of(path, partial(recordings.find, path))
            except CorpusError as error:
                unreadable.append(error)
                continue
            if layout is not None:
                empty = False
                yield path, layout
    if empty:
        none = ImportingError(f"{source} has no table ({', '.join(_TABLES)}) whose lines name recordings")
        raise next(iter(unreadable), none)
    for each in unreadable:
        log.warning("%s; nothing in it is taken", each)


def _may_be_table(path: Path) -> bool:
    by_name = path.suffix.lower() in _TABLES or _WITHOUT_ENDING.fullmatch(path.name) is not None
    return by_name and path.name != LEFT_OUT_FILE


def _rows(source: Path, path: Path, layout: Layout, recordings: NamedRecordings) -> Iterator[Item]:
    ends = distinct_ends(path.parent, lambda: (name for name, _ in _names_and_texts(path, layout)))
    place = path.relative_to(source)
    with ExitStack() as stack:
        differing = cache(lambda: stack.enter_context(_names_of_several_texts(path, layout)))
        for number, fields in _fields(path, layout):
            where = f"{place}:{number}"
            line = layout.separator.join(fields)
            if len(fields) > layout.width and layout.text == layout.width - 1:  # the separator is in the transcript
                fields = [*fields[: layout.text], f"{layout.separator} ".join(fields[layout.text :])]
            if len(fields) != layout.width:
                yield LeftOut(where, SURPLUS if len(fields) > layout.width else "fewer fields than columns", "", line)
                continue
            name = fields[layout.recording].strip()
            if not name and not layout.header:  # goes on about the recording above, as pinyin does
                continue
            recording = recordings.find(path, name, ends)
            if recording is None:
                yield LeftOut(where, "no recording of this name in the folder", "", name)
            elif recording == SEVERAL:
                yield LeftOut(where, "several recordings of this name in the folder", "", name)
            elif _TEXTS_OF_REGIONS.fullmatch(fields[layout.text].strip()):
                yield LeftOut(where, _OF_REGIONS, recording, fields[layout.text])
            elif layout.lacks_times:
                yield LeftOut(where, _LACKS_TIMES, recording, line)
            elif _may_be_of_several(path, layout, name, recording) and differing().get(name) == SEVERAL:
                yield LeftOut(where, "several rows of this name with other texts, and no folder", recording, name)
            else:
                yield _record(where, path, recording, fields, layout)


def _fields(path: Path, layout: Layout) -> Iterator[tuple[int, list[str]]]:
    """Yield the fields of each row below the header, with the number of its first line; raise CorpusError."""
    return islice(divided(path, lines_of(path), layout.separator), 1 if layout.header else 0, None)


def _names_and_texts(path: Path, layout: Layout) -> Iterator[tuple[str, str]]:
    """Yield the name of the recording, and the text, of each row that has both."""
    for _, fields in _fields(path, layout):
        if len(fields) > max(layout.recording, layout.text):
            yield fields[layout.recording].strip(), fields[layout.text]


def _may_be_of_several(path: Path, layout: Layout, name: str, recording: str) -> bool:
    """Return whether rows with this name of a recording may mean recordings of several folders, as of speakers."""
    return "/" not in name and not layout.has_starts and os.path.dirname(recording) != str(path.parent)  # noqa: PTH120 (fast)


def _names_of_several_texts(path: Path, layout: Layout) -> Lookup:
    """Return SEVERAL by the names that rows with different texts have."""
    texts = Lookup()
    for name, text in _names_and_texts(path, layout):
        texts.put_or(name, text or " ", SEVERAL)
    return texts


def _record(where: str, table: Path, recording: str, fields: Sequence[str], layout: Layout) -> Item:
    named = layout.named(fields)
    try:
        start, duration = part_in(named)
    except ValueError as error:
        return LeftOut(where, WRONG_TIMES, recording, str(error))
    speaker = fields[layout.speaker].strip() if layout.speaker is not None else _speaker_in(recording)
    official = set_of_name(next((named[name] for name in SETS_OF_ROWS if name in named), ""))
    others: Mapping[str, str] = {
        name: fields[column].strip()
        for column, name in enumerate(layout.header)
        if name and name not in _USED and column not in (layout.recording, layout.text, layout.speaker)
    }
    try:
        text = _text_of(table, fields[layout.text].strip())
    except (OSError, UnicodeDecodeError) as error:
        return unreadable(where, Path(recording), error)
    return Record(recording, text, where, speaker, official, start, duration, others)


def _text_of(table: Path, field: str) -> str:
    """Return the text of a file that a field names, from the table's folder, or else the field itself.

    Raise OSError, or UnicodeDecodeError.
    """
    path = os.path.join(table.parent, field)  # noqa: PTH118 (as below)
    if field.lower().endswith(".txt") and os.path.isfile(path):  # noqa: PTH113 (a Path raises errors for long names)
        return read_text(Path(path))
    return field


def _speaker_in(recording: str) -> str:
    found = _SPEAKER_IN_NAME.fullmatch(Path(recording).stem)
    return found[1] if found else ""
