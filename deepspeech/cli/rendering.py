"""Transcripts as text, JSON or subtitles."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from ..serving.subtitles import cues, srt, webvtt
from ..serving.transcripts import Transcript
from ..util.transcripts import one_line

CSV = "csv"
"""The format of a single list of all recordings, `TrainingList`."""
SUFFIXES = {"text": ".txt", "json": ".json", "srt": ".srt", "vtt": ".vtt"}
"""The formats of a recording, and the extensions of their files."""
SUBTITLES = ("srt", "vtt")


def rendered(candidates: Mapping[int | None, Sequence[Transcript]], form: str, name: str) -> str:
    """Return the transcripts of a recording in a format.

    `candidates` has the transcripts of each channel, best first; without channels, its only key is None. Text and JSON
    have the recording's `name`, unless it is empty; only JSON has more than the best transcript. Text has one line for
    each channel.
    """
    if form in SUBTITLES:
        shown = [
            cue for channel, each in candidates.items() for cue in cues(each[0].words, _voice(channel), each[0].text)
        ]
        shown.sort(key=lambda cue: cue.start)
        return srt(shown) if form == "srt" else webvtt(shown)
    if form == "text":
        voices = (": ".join(filter(None, (name, _voice(channel)))) for channel in candidates)
        texts = (one_line(each[0].text) for each in candidates.values())
        return "\n".join(f"{voice}: {text}" if voice else text for voice, text in zip(voices, texts, strict=True))
    results = [{"transcripts": [_candidate(each) for each in of_channel]} for of_channel in candidates.values()]
    result: dict[str, object] = dict(results[0])
    if None not in candidates:
        result = {"channels": [{"channel": number, **each} for number, each in enumerate(results, 1)]}
    if name:
        return json.dumps({"audio": name, **result}, ensure_ascii=False)
    return json.dumps(result, indent=2, ensure_ascii=False)


def _voice(channel: int | None) -> str:
    return "" if channel is None else f"channel {channel + 1}"


def _candidate(spoken: Transcript) -> dict[str, object]:
    words = [
        {
            "word": word.text,
            "start_time": word.start,
            "duration": round(word.end - word.start, 3),
            "confidence": word.confidence,
        }
        for word in spoken.words
    ]
    return {"confidence": spoken.confidence, "words": words}
