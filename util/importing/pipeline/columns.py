"""Names of columns in the tables of corpora, in lower case, with _ for spaces."""

from __future__ import annotations

TEXTS = (
    *("normalized_text", "text_normalized", "normalized_transcript", "normalized_transcription", "normalized"),
    "sentence_norm",
    *("text", "transcript", "transcription", "sentence", "txt", "wrd"),
)
"""Texts, in order of preference."""

STARTS = ("start", "offset", "begin", "start_time")
DURATIONS = ("duration",)
ENDS = ("end", "end_time")
"""Times of an utterance in its recording, in seconds."""

SETS_OF_ROWS = ("set", "split", "subset", "partition")


def column_name(text: str) -> str:
    """Return the name of a column as it is here, of "Start time", " start_time" and "START TIME"."""
    return text.strip().lower().replace(" ", "_")
