"""The speaker, by the columns of a list."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

SPEAKERS = (
    *("speaker", "speaker_id", "client_id", "spk", "spk_id", "reader", "speakerid", "user_id"),
    *("user_ids", "original_speaker_id", "reader_id", "spkid", "speaker_name"),
    *("sprecher", "sprecherin", "sprecher_id", "locuteur", "locutor", "hablante", "falante", "orador", "parlante"),
    *("диктор", "спикер", "говорящий", "说话人", "说话者", "話者"),
)
"""The columns with the speaker, in upper or lower case and in some languages; the first that exists counts."""


def speaker_column(columns: Iterable[str]) -> str | None:
    """Return the name of the column with the speaker, if there is one."""
    by_name = {column.lower(): column for column in columns}
    return next((by_name[name] for name in SPEAKERS if name in by_name), None)


def speaker_of(columns: Mapping[str, str]) -> str:
    """Return the speaker; empty if no column has one."""
    column = speaker_column(name for name, text in columns.items() if text)
    return columns[column] if column else ""
