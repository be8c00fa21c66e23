"""GigaSpeech and WenetSpeech: GigaSpeech.json or WenetSpeech.json, and audio/.

The file has an array `audios`, each with its path and its segments, which have times, a text and subsets. The subsets
DEV and TEST are sets; all others are for training. GigaSpeech's marks of punctuation are removed, and its segments
without speech, such as <MUSIC>, are left out; its capitals become lower case.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ....corpus_files.json_values import JsonReader, MalformedJsonError
from ....corpus_files.rows import seconds_in_json, why_not_times
from ....errors import CorpusError, ImportingError, OtherFormatError
from ...pipeline.folders import set_of_name
from ...pipeline.records import TRAIN, Choices, Item, LeftOut, Record

_BLOCK = 1 << 20
"""Characters in which the array begins; such files have gigabytes."""
_BEGIN = re.compile(r'"audios"\s*:\s*\[')
_MARK = re.compile(r"<[A-Z]+>")
_UNKNOWN = "N/A"


def read_records(source: Path, choices: Choices) -> Iterator[Item]:
    """Yield the segments of all recordings; raise ImportingError if there is no such file, or CorpusError."""
    found = [path for path in sorted(source.glob("*.json")) if _BEGIN.search(_read_start(path))]
    if not found:
        raise OtherFormatError(f"{source} has no *.json with audios, so it is neither GigaSpeech nor WenetSpeech")
    for path in found:
        for number, audio in enumerate(_audios(path), start=1):
            yield from _segments(source, f"{path.name}:{number}", audio)


def _read_start(path: Path) -> str:
    try:
        with path.open(encoding="utf-8-sig", errors="replace") as file:
            return file.read(_BLOCK)
    except OSError as error:
        raise ImportingError(f"{path}: {error.strerror or error}") from error


def _audios(path: Path) -> Iterator[Any]:
    """Yield the elements of the array one by one; raise CorpusError if it is malformed or ends too early."""
    try:
        with path.open(encoding="utf-8-sig") as file:
            text = file.read(_BLOCK)
            begin = _BEGIN.search(text)
            yield from JsonReader(file, text[begin.end() - 1 :] if begin else "").elements()
    except MalformedJsonError as error:
        raise CorpusError(f"{path}: malformed, or cut off: {error}") from error
    except UnicodeDecodeError as error:
        raise CorpusError(f"{path}: not UTF-8: {error}") from error


def _segments(source: Path, where: str, audio: Any) -> Iterator[Item]:
    path = audio.get("path") if isinstance(audio, Mapping) else None
    segments = audio.get("segments") if path else None
    if not (isinstance(path, str) and isinstance(segments, list)):
        yield LeftOut(where, "an element of audios without a path and segments")
        return
    for segment in segments:
        if not isinstance(segment, Mapping):
            yield LeftOut(where, "a segment that is no object", str(source / path))
            continue
        values = {"speaker": audio.get("speaker"), "subsets": audio.get("subsets"), **segment}
        yield _record(f"{where} {values.get('sid', '')}".strip(), str(source / path), values)


def _record(where: str, recording: str, segment: Mapping[str, Any]) -> Item:
    written = segment.get("text_tn", segment.get("text"))
    start, end = seconds_in_json(segment.get("begin_time")), seconds_in_json(segment.get("end_time"))
    if not isinstance(written, str):
        return LeftOut(where, "no text", recording)
    if start is None or end is None:
        return LeftOut(where, "no begin_time or end_time", recording)
    if reason := why_not_times(start, end - start):
        return LeftOut(where, "times that cannot be used", recording, reason)
    text = " ".join(_MARK.sub(" ", written).split())
    if written.strip() and not text:
        return LeftOut(where, "a segment without speech", recording, written)
    subsets = segment.get("subsets")
    names = map(str, subsets) if isinstance(subsets, list) else ()
    official_set = next(filter(None, map(set_of_name, names)), TRAIN)
    speaker = str(segment.get("speaker") or "").replace(_UNKNOWN, "")
    return Record(
        *(recording, text.lower() if "text_tn" in segment else text, where, speaker, official_set),
        *(start, end - start),
    )
