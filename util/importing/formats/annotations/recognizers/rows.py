"""The text, times and speaker of a row of JSON, by the names that recognizers have for them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from .....corpus_files.json_lines import texts_of
from .....corpus_files.rows import seconds_in_json, seconds_of
from .....corpus_files.speakers import SPEAKERS, speaker_of
from ....pipeline.columns import DURATIONS, ENDS, STARTS, TEXTS

_TEXTS = (*TEXTS, "punctuated_word", "word", "display", "DisplayText", "value", "content")
_SPEAKERS = (*SPEAKERS, "speaker_label", "speakerLabel", "speakerTag")
_UNKNOWN = ("speakerTag", "0")
"""Google counts speakers from 1."""
_SOUND = "audio_event"
"""What ElevenLabs calls (laughter) and (music)."""
BEST_FIRST = ("alternatives", "nBest")
"""Lists whose first item is the likeliest, as those of Google, Speechmatics and Azure."""
_STARTS = (*STARTS, "startoffset", "from", "ts", "tstart")
_ENDS = (*ENDS, "endoffset", "to", "endts", "resultendtime", "resultendoffset")
_DURATIONS = (*DURATIONS, "dduration")
_UNITS = {"inticks": 1e-7, "milliseconds": 1e-3, "ms": 1e-3, "": 1.0}
"""Seconds in the units that end names, the most exact first."""
_PERIOD = re.compile(r"(?:PT)?(?:(\d+)H)?(?:(\d+)M)?(\d+(?:\.\d+)?)S", re.IGNORECASE)
"""A time such as 1.5s or PT1M1.5S."""
_OF_SPEECHMATICS = re.compile(r"S(\d+)")
_CHANNEL = re.compile(r"ch_(\d)|(?:channel_)?([1-9])")
"""AWS's, Speechmatics' and AssemblyAI's."""
_LETTERS_PER_UNIT = 0.04
"""Texts have more letters in a second, and fewer in a millisecond."""


class Timed(NamedTuple):
    """A text with the times at which it is said."""

    text: str
    start: float | None
    """Seconds; None if the row does not say."""
    end: float | None
    speaker: str = ""
    channel: int | None = None
    """Counted from 0; None if the row does not say."""


class Origin(NamedTuple):
    """The speaker and the channel of rows that do not say theirs."""

    speaker: str = ""
    channel: int | None = None


def timed_of(row: Mapping[str, Any], origin: Origin) -> Timed | None:
    """Return the text of a row, with its speaker and channel or else those of its origin; None if it has no text."""
    text = text_of(row)
    if text is None:
        return None
    names = {key: value for key, value in texts_of(row).items() if key in _SPEAKERS and (key, value) != _UNKNOWN}
    own = speaker_of(names) or next(iter(names.values()), "") or _speaker_of_best(row) or origin.speaker
    start, end = _times_of(row)
    return Timed(text, start, end, own, channel_of(row, origin.channel))


def channel_of(row: Mapping[str, Any], otherwise: int | None) -> int | None:
    """Return the channel that a row names, counted from 0: numbers and AWS's ch_0 are so counted, others from 1."""
    tag = row.get("channelTag")
    channel = row.get("channel", row.get("channel_label")) if tag is None else str(tag)
    if isinstance(channel, int) and channel >= 0:
        return channel
    if isinstance(channel, str) and (found := _CHANNEL.fullmatch(channel)):
        return int(found[1]) if found[1] else int(found[2]) - 1
    return otherwise


def text_of(row: Mapping[str, Any]) -> str | None:
    """Return the text of a row, or of its likeliest alternative; None if it has none, or that of another sound."""
    if row.get("type") == _SOUND:
        return None
    text = next((row[name] for name in _TEXTS if isinstance(row.get(name), str)), None)
    if text is None and isinstance(row.get("segs"), list):  # YouTube's
        return "".join(str(part.get("utf8", "")) for part in row["segs"] if isinstance(part, dict)).strip()
    best = next(_best_of(row), None) if text is None else None
    return text_of(best) if best is not None else text.strip() if text is not None else None


def within(row: Mapping[str, Any], names: Sequence[str]) -> list[Any]:
    """Return the first list of these names in a row or in its likeliest alternative."""
    return next(
        (each[name] for each in (row, *_best_of(row)) for name in names if isinstance(each.get(name), list)), []
    )


def in_seconds(rows: Sequence[Timed]) -> list[Timed]:
    """Return rows with times in seconds: whole numbers are milliseconds if they are too large for the texts."""
    times = [time for row in rows for time in (row.start, row.end) if time is not None]
    letters = sum(len(row.text) for row in rows)
    length = sum(row.end - row.start for row in rows if row.start is not None and row.end is not None)
    if any(time % 1 for time in times) or letters >= _LETTERS_PER_UNIT * length:
        return list(rows)
    return [row._replace(start=_thousandth(row.start), end=_thousandth(row.end)) for row in rows]


def _thousandth(time: float | None) -> float | None:
    return None if time is None else time / 1000


def _best_of(row: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for name in BEST_FIRST:
        if isinstance(row.get(name), list) and row[name] and isinstance(row[name][0], dict):
            yield row[name][0]


def _speaker_of_best(row: Mapping[str, Any]) -> str:
    """Return the speaker of the likeliest alternative; Speechmatics' S1 is the first in each recording."""
    speaker = next((speaker_of(texts_of(best)) for best in _best_of(row)), "")
    found = _OF_SPEECHMATICS.fullmatch(speaker)
    return f"speaker {found[1]}" if found else "" if speaker == "UU" else speaker


def _times_of(row: Mapping[str, Any]) -> tuple[float | None, float | None]:
    if isinstance(offsets := row.get("offsets"), dict):  # whisper.cpp's, in ms
        start, end = _times_of(offsets)
        return _thousandth(start), _thousandth(end)
    pair = row.get("timestamp")  # that of pipelines of transformers; FunASR has a pair for each word there
    if isinstance(pair, list) and len(pair) == 2 and not isinstance(pair[0], list):
        return _seconds(pair[0]), _seconds(pair[1])
    values = {name.lower().replace("_", ""): value for name, value in row.items()}
    start, end, duration = (_first(values, names) for names in (_STARTS, _ENDS, _DURATIONS))
    return start, start + duration if end is None and start is not None and duration is not None else end


def _first(values: Mapping[str, Any], names: Sequence[str]) -> float | None:
    for unit, seconds in _UNITS.items():
        for name in names:
            time = _seconds(values.get(name.replace("_", "") + unit))
            if time is not None:
                return round(time * seconds, 6)
    return None


def _seconds(value: Any) -> float | None:
    """Return a number of seconds, also of 1.5s, PT1.5S and 00:01,500; None for anything else."""
    if isinstance(value, str):
        if found := _PERIOD.fullmatch(value):
            return int(found[1] or 0) * 3600 + int(found[2] or 0) * 60 + float(found[3])
        try:
            return seconds_of(value)
        except ValueError:
            return None
    is_number = not isinstance(value, bool) and value == value  # WhisperX writes NaN for times that it does not find
    return seconds_in_json(value) if is_number else None
