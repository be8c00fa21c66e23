"""Transcripts in a .json beside a recording: segments or words with their times, or one text.

Such files are written by Whisper and its variants, by the services of many companies, and by annotators. Their lists
are found by their names anywhere in the file.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any

from .....corpus_files.json_lines import texts_of
from .....corpus_files.lines import read_text
from .....corpus_files.speakers import speaker_of
from .....transcripts import continued_by_all
from ....pipeline.columns import TEXTS
from ..tiers import AnnotationsError, Segment, Tier
from .rows import BEST_FIRST, Origin, Timed, channel_of, in_seconds, text_of, timed_of, within
from .words import LONGEST, utterances_of

_SEGMENTS_OF_AWS = "audio_segments"
_SEGMENTS = (
    *("segments", "normalized", "verbatim", _SEGMENTS_OF_AWS, "utterances", "sentences", "sentence_info"),
    *("speakers", "turnLevelTranscription", "chunks"),
    *("recognizedPhrases", "phrases", "transcription", "events", "results"),
)
_WORDS = ("words", "items", "elements", "terms", "word_segments", "result", "results")
"""Names of lists of segments and of words, in order of preference."""
_WHOLE = ("transcripts", "results", "channels", "combinedPhrases", "segments")
"""Names of lists whose texts together are the whole."""
_TEXTS_WITHIN = (*TEXTS, "translabeltext", "orglabeltext", "labeltext", "standard", "stt")
"""Names of texts in objects in the file, in lower case; the last are those of AIHub."""
_OF_YOUTUBE = "events"
_OF_AWS = "items"
"""The words. If `channel_labels` is beside them, it has those of each channel once more."""
_BY_CHANNEL = "channels"
"""What each channel has, in order, as Deepgram writes it."""
_TRANSLATED = "translation"
"""What Gladia also has of the utterances, in other languages."""
_TYPES_OF_WORDS = ("word", "punctuation", "pronunciation")


def read_json(path: Path) -> list[Tier]:
    """Return the segments of each speaker as a tier, or the whole text as a segment without an end.

    Raise AnnotationsError, or UnicodeDecodeError if the file is not UTF-8, or OSError.
    """
    try:
        value = json.loads(read_text(path))
        return _tiers_of(_of_aws(value) if isinstance(value, dict) else {"segments": value})
    except UnicodeDecodeError:
        raise
    except (ValueError, RecursionError) as error:
        raise AnnotationsError(f"it is not JSON: {error}") from error


def speaker_in(path: Path) -> str:
    """Return the speaker that a file names for all of its recording, as those of shards do; empty if it names none."""
    try:
        value = json.loads(read_text(path))
    except (OSError, ValueError, RecursionError):  # ValueError: also what is not UTF-8
        return ""
    return speaker_of(texts_of(value)) if isinstance(value, dict) else ""


def _of_aws(of_file: dict[str, Any]) -> dict[str, Any]:
    """Return a file of AWS with the speakers in its words, and the words in its segments; others unchanged."""
    results = of_file.get("results")
    if not isinstance(results, dict) or not isinstance(results.get(_OF_AWS), list):
        return of_file
    labels, segments = results.get("speaker_labels"), results.get(_SEGMENTS_OF_AWS)
    of_start = {str(row.get("start_time")): row for rows, _ in _lists(labels, _OF_AWS) for row in rows}
    items = [
        {"speaker_label": of_start.get(str(row.get("start_time")), {}).get("speaker_label"), **row}
        for row in results[_OF_AWS]
        if isinstance(row, dict)
    ]
    by_number = {str(item.get("id")): item for item in items}
    whole = [
        {**row, _OF_AWS: [by_number[str(each)] for each in within(row, [_OF_AWS]) if str(each) in by_number]}
        for row in (segments if isinstance(segments, list) else ())
        if isinstance(row, dict)
    ]
    return {**of_file, "results": {**results, _OF_AWS: items, _SEGMENTS_OF_AWS: whole}}


def _tiers_of(of_file: dict[str, Any]) -> list[Tier]:
    found = next(filter(None, (_segments_of(of_file, name) for name in _SEGMENTS)), [])
    text = text_of(of_file) or ""
    if not found:
        found = next(filter(None, (_of_words(of_file, name) for name in _WORDS)), [])
        if text and found and _is_short(found):
            found = []
    if found:
        return _by_speaker(found)
    if text := text or next(filter(None, (_joined(of_file, name) for name in _WHOLE)), ""):
        speaker = speaker_of(texts_of(of_file))
    else:
        text, speaker = _first_within(of_file, _text_by_name), _first_within(of_file, speaker_of)
    if text:
        return [Tier(speaker or "text", speaker, [Segment(0.0, math.inf, text)])]
    raise AnnotationsError("it has no text, and no segments with start, end and text")


def _lists(value: Any, name: str, origin: Origin = Origin()) -> Iterator[tuple[list[Any], Origin]]:  # noqa: B008
    """Yield all lists of rows of this name, each with the speaker and the channel of what it is in.

    What is beside such a list may have it once more, as stable-ts keeps Whisper's segments beside its own.
    """
    if isinstance(value, dict):
        origin = Origin(speaker_of(texts_of(value)) or origin.speaker, channel_of(value, origin.channel))
        if name == _OF_AWS and isinstance(by_channel := value.get("channel_labels"), dict):
            value = by_channel
        if isinstance(found := value.get(name), list) and any(isinstance(row, dict) for row in found):
            yield [row for row in found if isinstance(row, dict)], origin
            return
        for key, each in value.items():
            if key == _TRANSLATED:
                continue
            of_channels = key == _BY_CHANNEL and isinstance(each, list)
            for channel, part in enumerate(each) if of_channels else ((origin.channel, each),):
                best = part[:1] if key in BEST_FIRST and isinstance(part, list) else part
                yield from _lists(best, name, origin._replace(channel=channel))
    elif isinstance(value, list):
        for each in value:
            yield from _lists(each, name, origin)


def _segments_of(value: Any, name: str) -> list[Timed]:
    """Return the segments of all lists of this name; none if a row with a text has no time, or rows are words."""
    found = list[Timed]()
    for rows, origin in _lists(value, name):
        if said := _words_of_all(rows, origin):
            found += utterances_of(said)
            continue
        pairs = [(row, timed) for row in rows if (timed := timed_of(row, origin)) and timed.text]
        if any(row.get("type") in _TYPES_OF_WORDS for row, _ in pairs):
            return []
        segments = in_seconds([timed for _, timed in pairs])
        found += [
            part
            for (row, _), segment in zip(pairs, segments, strict=True)
            for part in _divided(segment, _timed(within(row, _WORDS), Origin(segment.speaker, segment.channel)))
        ]
    if any(segment.start is None and segment.end is None for segment in found):
        return []
    return _completed(found, captions=name == _OF_YOUTUBE)


def _divided(segment: Timed, words: Sequence[Timed]) -> list[Timed]:
    """Return a segment, with the times and the speaker of its words if it has none.

    Return utterances of its words if it is long, or if only they tell its speakers, and there are several.
    """
    if segment.start is None and words:
        segment = segment._replace(start=words[0].start, end=words[-1].end)
    is_long = segment.start is not None and segment.end is not None and segment.end - segment.start > LONGEST
    speakers = {segment.speaker or word.speaker for word in words} - {""}
    if words and (is_long or len(speakers) > 1):
        return utterances_of(words)
    return [segment._replace(speaker=speakers.pop())] if speakers else [segment]


def _words_of_all(rows: Sequence[dict[str, Any]], origin: Origin) -> list[Timed]:
    """Return the words of the last row if they are those of all rows once more, with speakers, as Google's of v1."""
    if text_of(rows[-1]):
        return []
    first, words = (_timed(within(row, _WORDS), origin) for row in (rows[0], rows[-1]))
    are_all = bool(first and words) and first[0].start == words[0].start
    return words if are_all and any(word.speaker for word in words) else []


def _timed(rows: Sequence[Any], origin: Origin) -> list[Timed]:
    """Return the words of rows, in seconds, up to the last with a time."""
    words = in_seconds([word for row in rows if isinstance(row, dict) and (word := timed_of(row, origin))])
    return words if any(word.start is not None for word in words) else []


def _completed(segments: Sequence[Timed], *, captions: bool) -> list[Timed]:
    """Return segments with the end of the one before as a missing start, and the next start as a missing end.

    Captions end where the next begins, as they stay visible for longer.
    """
    completed = list[Timed]()
    for segment, after in zip_longest(segments, segments[1:]):
        before = completed[-1].end if completed else 0.0
        later = after.start if after is not None and after.start is not None else math.inf
        end = later if segment.end is None else min(segment.end, later) if captions else segment.end
        completed.append(segment._replace(start=before if segment.start is None else segment.start, end=end))
    return completed


def _of_words(value: Any, name: str) -> list[Timed]:
    return [each for rows, origin in _lists(value, name) for each in utterances_of(_timed(rows, origin))]


def _is_short(found: Sequence[Timed]) -> bool:
    """Return whether utterances are as one, by one speaker on one channel."""
    return len({(each.speaker, each.channel) for each in found}) < 2 and (found[-1].end or 0.0) <= LONGEST


def _joined(value: Any, name: str) -> str:
    rows = [row for rows, _ in _lists(value, name) for row in rows]
    return continued_by_all(text for row in rows if (text := text_of(row)))


def _first_within(of_file: dict[str, Any], read: Callable[[dict[str, str]], str]) -> str:
    """Return what is read first from the texts of an object, or of those in it, as in AIHub's; empty if nothing is."""
    inner = (each for each in of_file.values() if isinstance(each, dict))
    return read(texts_of(of_file)) or next(filter(None, (_first_within(each, read) for each in inner)), "")


def _text_by_name(texts: dict[str, str]) -> str:
    by_name = {name.lower(): text for name, text in texts.items()}
    return next((by_name[name].strip() for name in _TEXTS_WITHIN if by_name.get(name)), "")


def _by_speaker(found: Sequence[Timed]) -> list[Tier]:
    """Return what each speaker says as a tier; on each channel, if there are several."""
    several = len({each.channel for each in found} - {None}) > 1
    tiers: dict[tuple[str, int | None], list[Segment]] = {}
    for text, start, end, speaker, channel in found:
        segment = Segment(start or 0.0, math.inf if end is None else end, text)
        tiers.setdefault((speaker, channel if several else None), []).append(segment)
    return [Tier(said[0] or "segments", said[0], segments, channel=said[1]) for said, segments in tiers.items()]
