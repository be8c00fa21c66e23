"""The same words as programs and services that recognize speech write them in JSON."""

from __future__ import annotations

from typing import Any

WORDS = (("good", 0.2, 0.6), ("morning", 0.7, 1.0), ("how", 2.0, 2.3), ("so", 2.4, 2.8))
ONE, TWO = "good morning", "how so"


def words(text: str = "word", start: str = "start", end: str = "end", unit: float = 1) -> list[dict[str, Any]]:
    return [{text: word, start: round(begin / unit), end: round(stop / unit)} for word, begin, stop in WORDS]


def in_seconds(first: int = 0) -> list[dict[str, Any]]:
    return [{"word": word, "start": begin, "end": stop} for word, begin, stop in WORDS[first : first + 2]]


def items_of_aws() -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = []
    for number, (word, begin, stop) in enumerate(WORDS):
        times = {"start_time": str(begin), "end_time": str(stop), "speaker_label": f"spk_{number // 2}"}
        items.append({"type": "pronunciation", "alternatives": [{"content": word}], **times})
    return [*items, {"type": "punctuation", "alternatives": [{"content": "?"}]}]


def elements_of_rev(turn: int) -> list[dict[str, Any]]:
    first, second = (
        {"type": "text", "value": word, "ts": begin, "end_ts": stop}
        for word, begin, stop in WORDS[2 * turn : 2 * turn + 2]
    )
    return [first, {"type": "punct", "value": " "}, second]


def without_text(item: dict[str, Any]) -> dict[str, Any]:
    return {name: item[name] for name in ("start_time", "end_time", "speaker_label")}


def result_of_google(first: int, end: int, text: str = "", *, speakers: bool = True) -> dict[str, Any]:
    said = [
        {"startTime": f"{begin}s", "endTime": f"{stop}s", "word": word, "speakerTag": (1 + number // 2) * speakers}
        for number, (word, begin, stop) in enumerate(WORDS)
    ]
    return {"alternatives": [{"words": said[first:end], **({"transcript": text} if text else {})}]}


FORMS: dict[str, Any] = {
    "whisper.cpp": {
        "transcription": [
            {"timestamps": {"from": "00:00:00,200"}, "offsets": {"from": 200, "to": 1000}, "text": f" {ONE}"},
            {"offsets": {"from": 2000, "to": 2800}, "text": f" {TWO}"},
        ]
    },
    "transformers": {
        "text": "all",
        "chunks": [{"timestamp": [0.2, 1.0], "text": ONE}, {"timestamp": [2.0, 2.8], "text": TWO}],
    },
    "Vosk": [{"result": in_seconds(), "text": ONE}, {"result": in_seconds(2), "text": TWO}, {"text": ""}],
    "Google": {
        "results": [
            {
                "alternatives": [
                    {"transcript": ONE, "words": [{"startTime": "0.200s", "endTime": "1s", "word": ONE}]},
                    {"transcript": "wrong"},
                ],
                "resultEndTime": "1.5s",
            },
            {"alternatives": [{"transcript": TWO, "words": [{"startOffset": "2s", "endOffset": "2.8s", "word": TWO}]}]},
        ]
    },
    "Deepgram": {
        "results": {"channels": [{"alternatives": [{"transcript": "all", "words": in_seconds() + in_seconds(2)}]}]}
    },
    "stable-ts": {
        "segments": [{"start": 0.2, "end": 1.0, "text": f" {ONE}"}, {"start": 2.0, "end": 2.8, "text": f" {TWO}"}],
        "ori_dict": {"segments": [{"start": 0.0, "end": 3.0, "text": f" {ONE} {TWO}"}]},
    },
    "Azure": {
        "combinedRecognizedPhrases": [{"display": "all"}],
        "recognizedPhrases": [
            {"offset": "", "duration": "", "offsetInTicks": 2e6, "durationInTicks": 8e6, "nBest": [{"display": ONE}]},
            {"offset": "PT2S", "duration": "PT0.8S", "nBest": [{"display": TWO}]},
        ],
    },
}

WITH_SPEAKERS: dict[str, tuple[Any, tuple[str, str]]] = {
    "AWS": ({"results": {"transcripts": [{"transcript": "all"}], "items": items_of_aws()[:-1]}}, ("spk_0", "spk_1")),
    "AWS, before words had speakers": (
        {
            "results": {
                "speaker_labels": {"speakers": 2, "segments": [{"items": [*map(without_text, items_of_aws()[:-1])]}]},
                "items": [
                    {name: fact for name, fact in item.items() if name != "speaker_label"}
                    for item in items_of_aws()[:-1]
                ],
            }
        },
        ("spk_0", "spk_1"),
    ),
    "Google": ({"results": [result_of_google(0, 4, "good morning how so")]}, ("1", "2")),
    "Google, a speaker in each result": (
        {"results": [result_of_google(0, 2, ONE), result_of_google(2, 4, TWO)]},
        ("1", "2"),
    ),
    "Google, words of all results in the last": (
        {
            "results": [
                result_of_google(0, 3, "good morning how", speakers=False),
                result_of_google(3, 4, "so", speakers=False),
                result_of_google(0, 4),
            ]
        },
        ("1", "2"),
    ),
    "Azure, fast": (
        {
            "phrases": [
                {"speaker": 1, "offsetMilliseconds": 200, "durationMilliseconds": 800, "text": ONE},
                {"speaker": 2, "offsetMilliseconds": 2000, "durationMilliseconds": 800, "text": TWO},
            ]
        },
        ("1", "2"),
    ),
    "FunASR": (
        [
            {
                "key": "a",
                "text": "all",
                "timestamp": [],
                "sentence_info": [
                    {"text": ONE, "start": 200, "end": 1000, "timestamp": [[200, 600], [700, 1000]], "spk": 0},
                    {"text": TWO, "start": 2000, "end": 2800, "timestamp": [[2000, 2300], [2400, 2800]], "spk": 1},
                ],
            }
        ],
        ("0", "1"),
    ),
    "ElevenLabs": (
        {
            "text": "all",
            "words": [
                {"text": word, "start": begin, "end": stop, "type": "word", "speaker_id": f"speaker_{number // 2}"}
                for number, (word, begin, stop) in enumerate(WORDS)
            ]
            + [{"text": "(laughter)", "start": 3.0, "end": 3.2, "type": "audio_event", "speaker_id": "speaker_1"}],
        },
        ("speaker_0", "speaker_1"),
    ),
    "transformers, with pyannote": (
        {
            "speakers": [
                {"speaker": "SPEAKER_00", "timestamp": [0.2, 1.0], "text": ONE},
                {"speaker": "SPEAKER_01", "timestamp": [2.0, 2.8], "text": TWO},
            ],
            "chunks": [{"timestamp": [0.2, 1.0], "text": ONE}, {"timestamp": [2.0, 2.8], "text": TWO}],
            "text": "all",
        },
        ("SPEAKER_00", "SPEAKER_01"),
    ),
    "pyannoteAI": (
        {
            "output": {
                "diarization": [{"speaker": "SPEAKER_00", "start": 0.2, "end": 2.8}],
                "turnLevelTranscription": [
                    {"speaker": "SPEAKER_00", "start": 0.2, "end": 1.0, "text": ONE},
                    {"speaker": "SPEAKER_01", "start": 2.0, "end": 2.8, "text": TWO},
                ],
            }
        },
        ("SPEAKER_00", "SPEAKER_01"),
    ),
    "Gladia": (
        {
            "result": {
                "transcription": {
                    "utterances": [
                        {"start": 0.2, "end": 1.0, "speaker": 0, "channel": 0, "text": ONE},
                        {"start": 2.0, "end": 2.8, "speaker": 1, "channel": 0, "text": TWO},
                    ]
                },
                "translation": {
                    "results": [
                        {"languages": ["de"], "utterances": [{"start": 0.2, "end": 1.0, "text": "guten Morgen"}]}
                    ]
                },
            }
        },
        ("0", "1"),
    ),
    "AssemblyAI": (
        {
            "text": "all",
            "utterances": [
                {"start": 200, "end": 1000, "text": ONE, "speaker": "A"},
                {"start": 2000, "end": 2800, "text": TWO, "speaker": "B"},
            ],
        },
        ("A", "B"),
    ),
    "Rev AI": (
        {
            "monologues": [
                {"speaker": number, "elements": elements_of_rev(number), "speaker_info": {}} for number in range(2)
            ]
        },
        ("0", "1"),
    ),
    "Speechmatics": (
        {
            "results": [
                {
                    "type": "word",
                    "start_time": begin,
                    "end_time": stop,
                    "alternatives": [{"content": word, "speaker": f"S{1 + number // 2}"}],
                }
                for number, (word, begin, stop) in enumerate(WORDS)
            ]
        },
        ("speaker 1", "speaker 2"),
    ),
}


OF_CHANNELS: dict[str, Any] = {
    "Deepgram": {
        "results": {
            "channels": [
                {"alternatives": [{"transcript": ONE, "words": in_seconds()}]},
                {"alternatives": [{"transcript": TWO, "words": in_seconds(2)}]},
            ]
        }
    },
    "Deepgram, utterances": {
        "results": {
            "utterances": [
                {"start": 0.2, "end": 1.0, "channel": 0, "transcript": ONE},
                {"start": 2.0, "end": 2.8, "channel": 1, "transcript": TWO},
            ]
        }
    },
    "AssemblyAI": {
        "utterances": [
            {"start": 200, "end": 1000, "channel": "1", "speaker": "1", "text": ONE},
            {"start": 2000, "end": 2800, "channel": "2", "speaker": "2", "text": TWO},
        ]
    },
    "Google": {
        "results": [
            {**result_of_google(0, 2, ONE, speakers=False), "channelTag": 1},
            {**result_of_google(2, 4, TWO, speakers=False), "channelTag": 2},
        ]
    },
    "Speechmatics": {
        "results": [
            {
                "type": "word",
                "channel": f"channel_{1 + number // 2}",
                "start_time": begin,
                "end_time": stop,
                "alternatives": [{"content": word, "speaker": "UU"}],
            }
            for number, (word, begin, stop) in enumerate(WORDS)
        ]
    },
}
