"""The speaker, by the columns of a list."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

SPEAKERS = (
    *("speaker", "speaker_id", "client_id", "spk", "spk_id", "reader", "speakerid", "user_id"),
    *("participant", "participant_id", "talker", "talker_id", "spk_name"),
    *("user_ids", "original_speaker_id", "reader_id", "spkid", "speaker_name"),
    *("sprecher", "sprecherin", "sprecher_id", "locuteur", "locutor", "hablante", "falante", "orador", "parlante"),
    *("диктор", "спикер", "говорящий", "说话人", "说话者", "話者"),
)
"""The columns with the speaker, in any case and in some languages, with spaces or hyphens for _; the first counts."""


def names_speaker(column: str) -> bool:
    """Return whether a column of this name has the speaker."""
    return _plain(column) in SPEAKERS


def speaker_column(columns: Iterable[str]) -> str | None:
    """Return the name of the column with the speaker, if there is one."""
    by_name = {_plain(column): column for column in columns}
    return next((by_name[name] for name in SPEAKERS if name in by_name), None)


def speaker_of(columns: Mapping[str, str]) -> str:
    """Return the speaker; empty if no column has one."""
    column = speaker_column(name for name, text in columns.items() if text)
    return columns[column] if column else ""


def _plain(column: str) -> str:
    return column.strip().lower().replace(" ", "_").replace("-", "_")
