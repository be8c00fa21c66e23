"""Names of columns in the tables of corpora, as `column_name` returns them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ...corpus_files.rows import seconds_of, why_not_times

TEXTS = (
    *("normalized_text", "text_normalized", "normalized_transcript", "normalized_transcription", "normalized"),
    "sentence_norm",
    *("text", "transcript", "transcription", "sentence", "txt", "wrd"),
    *("transkript", "transkription", "satz", "texte", "phrase", "texto", "transcripción", "transcripcion", "frase"),
    *("transcrição", "transcricao", "testo", "trascrizione", "текст", "расшифровка", "транскрипция", "фраза"),
    *("文本", "转写", "转录", "句子", "内容", "文字", "文字起こし", "書き起こし", "テキスト"),
)
"""Texts, in order of preference; those in other languages are words that people write in their own tables."""

STARTS = (
    *("start", "offset", "begin", "start_time", "anfang", "beginn", "début", "debut", "inicio", "início", "inizio"),
    *("начало", "开始", "开始时间", "起始时间", "開始", "開始時間", "開始時刻"),
)
DURATIONS = (
    *("duration", "dauer", "durée", "duree", "duración", "duracion", "duração", "duracao", "durata"),
    *("длительность", "时长", "長さ"),
)
ENDS = (
    *("end", "end_time", "ende", "fin", "fim", "fine", "конец"),
    *("结束", "结束时间", "終了", "終了時間", "終了時刻"),
)
"""Times of an utterance in its recording, in seconds, or in the unit that ends the name."""

_UNITS = {"": 1.0, "_s": 1.0, "_sec": 1.0, "_seconds": 1.0, "_ms": 0.001, "_milliseconds": 0.001}
"""Ends of the names of times, and their seconds."""
TIMES = tuple(
    {f"{name}{unit}": seconds for name in names for unit, seconds in _UNITS.items()}
    for names in (STARTS, DURATIONS, ENDS)
)
"""The names of columns of starts, of durations and of ends, with the seconds of their units."""

CHANNELS = ("channel", "channel_id")
SIDES = {"a": 0, "left": 0, "l": 0, "b": 1, "right": 1, "r": 1}
"""The columns of channels, and what stands there in place of numbers, in lower case."""

SETS_OF_ROWS = ("set", "split", "subset", "partition")

_FACTS = {
    *("m", "f", "male", "female", "man", "woman", "men", "women"),
    *("zh", "cn", "yue", "en", "ja", "jp", "ko", "kr", "de", "fr", "es", "it", "pt", "ru"),
    *("neutral", "calm", "happy", "happiness", "sad", "sadness", "angry", "anger", "surprise", "surprised"),
    *("fear", "fearful", "disgust", "disgusted", "中立", "快乐", "伤心", "生气", "惊喜"),
}
"""Genders, languages and emotions, which repeat in a column as the names of speakers do."""


def are_facts(values: Iterable[str]) -> bool:
    """Return whether all of these say what speakers or texts are like, as "female" and "angry" do, not who speaks."""
    return all(value.lower() in _FACTS for value in values)


def times_in(texts: Mapping[str, str]) -> list[tuple[str, float]]:
    """Return start, duration and end of a row by the names of its columns: the text, which may be empty, and its unit.

    Of several columns of starts, or of the others, the first in the order of `TIMES` counts. Units are in seconds.
    """
    found = (((texts[name], unit) for name, unit in names.items() if name in texts) for names in TIMES)
    return [next(each, ("", 1.0)) for each in found]


def part_in(texts: Mapping[str, str]) -> tuple[float, float | None]:
    """Return start and duration, None to the end, in seconds, of a row with these texts; without a start, it is whole.

    Raise ValueError for texts that are no times, and for times that no part of a recording has.
    """
    start, duration, end = (round(seconds_of(text) * unit, 6) if text else None for text, unit in times_in(texts))
    if start is None:
        return 0.0, None
    if duration is None and end is not None:
        duration = end - start
    if reason := why_not_times(start, duration):
        raise ValueError(reason)
    return start, duration
