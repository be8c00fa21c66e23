"""JSON-lines manifests, like NeMo's: audio_filepath, text, and optionally offset and duration, in seconds.

The recording and its text may be wav and txt, as in WeNet's lists, or source and target, as in FunASR's. An offset may
be called start, and there may be an end in place of a duration, as in WeNet's lists of segments. Relative recordings
are looked for from the manifest's folder. Without an offset, a row is the whole recording.

Lists for `datasets` have audio, whose value may be an object with a path, and sentence, text or transcription, or path
and sentence. Those of ms-swift and LLaMA-Factory have audios, with one recording, and messages; the last message of the
assistant is the transcript. Other names, such as file and transcript, are read, too. A *.json may also be one array of
rows, or one object that has them by name, as SpeechBrain's, with wav and words or wrd. Its rows are numbered in place
of lines. What Label Studio, doccano and Prodigy export is read, too.
"""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Iterator, Mapping
from itertools import chain, product
from pathlib import Path
from typing import Any, TextIO

from ..errors import BadRow
from ..shards.members import SUFFIX
from ..storage.copies import joined
from ..transcripts import Normalizer
from .annotators import utterances_of
from .csv_files import COLUMNS, DURATION, END, STARTS
from .json_values import JsonReader, MalformedJsonError
from .lines import numbered_lines, readable_text
from .rows import Entry, Row, Unusable, row_of
from .speakers import names_speaker, speaker_of

_LONGEST = 1e9
"""Seconds."""
_KEYS = (
    *(("audio_filepath", "text"), ("wav", "txt"), ("source", "target"), ("wav", "words"), ("wav", "wrd")),
    *(("audio", "sentence"), ("audio", "text"), ("audio", "transcription"), ("path", "sentence")),
    *product(
        ("audio_filepath", "wav", "audio", "path", "file", "audio_path", "audio_file", "wav_path", "filename"),
        ("text", "transcript", "transcription", "sentence"),
    ),
)
"""The keys of the recording and of the text; the first pair that a row has counts."""
_MODELS = ("assistant", "gpt")
"""The roles of a language model in its lists."""
_DATA_ROOT = "{data_root}/"
"""SpeechBrain's lists may have this in place of a folder."""


def read_rows(path: Path, normalizer: Normalizer | None) -> Iterator[Row | BadRow]:
    """Yield the rows of one manifest. Raise CorpusError."""
    for entry in read_entries(path):
        yield row_of(str(path), entry, normalizer)


def further_columns(path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield the line of each row, and its values for keys that training does not read. Raise CorpusError."""
    for entry in read_entries(path):
        if isinstance(entry, Entry):
            further = {name: text for name, text in entry.columns.items() if name not in STARTS}
            yield entry.line, {**({"speaker": entry.speaker} if entry.speaker else {}), **further}


def read_entries(path: Path) -> Iterator[Entry | Unusable]:
    """Yield the entry of each line; further keys with texts or numbers become columns. Raise CorpusError."""
    if path.suffix.lower() == ".json":
        with readable_text(path) as file:
            if (rows := _rows_of_one_value(file)) is not None:
                yield from _entries_of(path, rows)
                return
    for number, line in numbered_lines(path):
        try:
            value = json.loads(line)
        except (ValueError, RecursionError) as error:
            if line.rstrip().endswith(SUFFIX):
                yield Unusable(number, "a shard, not JSON; give the shards in place of their list")
            else:
                yield Unusable(number, "not JSON", "", str(error))
        else:
            yield from (_entry_of(path, number, each) for each in utterances_of(value))


def _entries_of(path: Path, rows: Iterator[Any]) -> Iterator[Entry | Unusable]:
    """Yield the entries of the rows of one value, and, where it is malformed, the last one, which says so."""
    number = 0
    try:
        for number, row in enumerate(chain.from_iterable(map(utterances_of, rows)), start=1):
            yield _entry_of(path, number, row)
    except MalformedJsonError as error:
        yield Unusable(number + 1, "not JSON", "", str(error))


def _rows_of_one_value(file: TextIO) -> Iterator[Any] | None:
    """Return the rows of a text that is one array of them, or one object that has them by name; None for others."""
    reader = JsonReader(file)
    begin = reader.begin().lstrip()
    if not begin.startswith(("[", "{")) or _begins_with_line(begin):
        return None
    if begin.startswith("["):
        return _to_end(reader, reader.elements())
    members = reader.members()
    try:
        first = next(members, None)
    except MalformedJsonError:
        return None
    if first is None or not isinstance(first[1], dict):
        return None
    named = ({"ID": name, **row} if isinstance(row, dict) else row for name, row in chain((first,), members))
    return _to_end(reader, named)


def _to_end(reader: JsonReader, rows: Iterator[Any]) -> Iterator[Any]:
    yield from rows
    reader.end()


def _begins_with_line(begin: str) -> bool:
    """Return whether the first line of a text is one of JSON lines, and no part of a value over the whole text."""
    line, _, more = begin.partition("\n")
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return False
    return bool(more.strip()) or (isinstance(value, dict) and bool(texts_of(value)))


def _entry_of(path: Path, number: int, values: Any) -> Entry | Unusable:
    if not isinstance(values, dict):
        return Unusable(number, "not a JSON object")
    values = _of_chat(values)
    keys = next((keys for keys in _KEYS if keys[0] in values and keys[1] in values), _KEYS[0])
    if isinstance(audio := values.get(keys[0]), dict) and isinstance(audio.get("path"), str):
        values = {**values, keys[0]: audio["path"]}
    if missing := [key for key in keys if not isinstance(values.get(key), str)]:
        return Unusable(number, f"no {missing[0]}", "", f"the keys are {', '.join(values)}")
    file, text = values[keys[0]].removeprefix(_DATA_ROOT), values[keys[1]]
    try:
        os.fsencode(file)
    except UnicodeEncodeError as error:
        return Unusable(number, f"{keys[0]} is a name that no file can have", "", str(error))
    plain = texts_of(values)
    recording = joined(path.parent, file)
    try:
        text.encode()
    except UnicodeEncodeError as error:  # JSON can escape a lone surrogate
        return Unusable(number, "a text that cannot be written as UTF-8", recording, str(error))
    start = next((values[name] for name in STARTS if values.get(name) is not None), None)
    duration, end = values.get(DURATION), values.get(END)
    if wrong := _why_no_times(start, duration, end):
        return Unusable(number, wrong[0], recording, wrong[1])
    if start is None:
        duration = None  # that of a whole recording is measured
    elif duration is None and end is not None:
        duration = end - start
    return Entry(number, recording, text, speaker_of(plain), start, duration, columns_of(plain, keys))


def _of_chat(values: dict[str, Any]) -> dict[str, Any]:
    """Return a row of a list for language models with the keys audio and text, and any other row unchanged.

    Such a row has a list of one recording, and messages, of which the last by the model is the transcript.
    """
    audios, messages = values.get("audios"), values.get("messages", values.get("conversations"))
    if not (isinstance(audios, list) and len(audios) == 1 and isinstance(messages, list)):
        return values
    said = [message for message in messages if isinstance(message, dict)]
    answers = [each for each in said if each.get("role", each.get("from")) in _MODELS]
    text = answers[-1].get("content", answers[-1].get("value")) if answers else None
    return {**values, "audio": audios[0], "text": text} if text is not None else values


def texts_of(values: Mapping[str, Any]) -> dict[str, str]:
    """Return the texts of a row by name, with its numbers as texts."""
    return {
        key: str(value)
        for key, value in values.items()
        if isinstance(value, str | int | float) and not isinstance(value, bool)
    }


def columns_of(texts: Mapping[str, str], used: Collection[str]) -> dict[str, str]:
    """Return the texts of a row without those `used`, its speaker, and the columns of a corpus; its times stay."""
    read = {*used, *COLUMNS}
    return {key: text for key, text in texts.items() if key not in read and not names_speaker(key)}


def _why_no_times(start: Any, duration: Any, end: Any) -> tuple[str, str] | None:
    """Return why the times of a row cannot be used, and which they are; None if they can."""
    if not (_is_time(start) and _is_time(duration)):
        return "an offset or duration that is not a number", f"{start!r}, {duration!r}"
    if start is not None and duration is None and not _is_time(end):
        return f"an {END} that is not a number", f"{end!r}"
    return None


def _is_time(value: Any) -> bool:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return value is None or (is_number and -_LONGEST < value < _LONGEST)
