"""Who speaks, by the columns of a list."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

SPEAKERS = ("speaker", "speaker_id", "client_id", "spk", "spk_id", "reader")
"""The columns that say who speaks, in any case; the first that is there counts."""


def speaker_column(columns: Iterable[str]) -> str | None:
    """Return the name of the column that says who speaks, if there is one."""
    by_name = {column.lower(): column for column in columns}
    return next((by_name[name] for name in SPEAKERS if name in by_name), None)


def speaker_of(columns: Mapping[str, str]) -> str:
    """Return who speaks; empty if no column tells."""
    column = speaker_column(name for name, text in columns.items() if text)
    return columns[column] if column else ""
