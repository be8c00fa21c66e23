"""The speaker, by the names of a list's columns, which are compared without case and spelling."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from functools import lru_cache

SPEAKERS = (
    *("speaker", "speaker_id", "client_id", "spk", "spk_id", "reader", "speakerid", "user_id"),
    *("participant", "participant_id", "talker", "talker_id", "spk_name"),
    *("user_ids", "original_speaker_id", "reader_id", "spkid", "speaker_name"),
    *("sprecher", "sprecherin", "sprecher_id", "locuteur", "locutor", "hablante", "falante", "orador", "parlante"),
    *("диктор", "спикер", "говорящий", "说话人", "说话者", "話者"),
)
"""The columns with the speaker, in some languages, as `column_name` returns them; the first counts."""

_BRACKETS = re.compile(r"[()\[\]]")


@lru_cache
def column_name(text: str) -> str:
    """Return the name of a column in lower case, of "Start time", " start-time" and "START_TIME", or "Start (ms)"."""
    plain = _BRACKETS.sub("", unicodedata.normalize("NFC", text))
    return plain.strip().lower().replace(" ", "_").replace("-", "_")


def names_speaker(column: str) -> bool:
    """Return whether a column of this name has the speaker."""
    return column_name(column) in SPEAKERS


def speaker_column(columns: Mapping[str, str]) -> str | None:
    """Return the name of the column with the speaker in a row, whose texts are by column; None if none has one."""
    by_name = {column_name(column): column for column, text in columns.items() if text}
    return next((by_name[name] for name in SPEAKERS if name in by_name), None)


def speaker_of(columns: Mapping[str, str]) -> str:
    """Return the speaker; empty if no column has one."""
    column = speaker_column(columns)
    return columns[column] if column else ""
