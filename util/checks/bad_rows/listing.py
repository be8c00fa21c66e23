"""The CSV of rows to check; `--exclude_files` reads it."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path

from ...corpus import Utterance
from ...files.whole_files import write_text_whole
from ...storage.copies import named_for_all, original_of
from .ranking import RankedRow

HEADER = (
    *("wav_filename", "wav_filesize", "transcript", "csv_file", "line"),
    *("hypothesis", "character_edits", "loss_per_label", "longest_gap_seconds", "suspicion"),
)


HEADER_OF_PARTS = ("start", "duration")
"""Further columns, in seconds, if any row is a part of its recording."""


def write_list(rows: Sequence[RankedRow], path: Path) -> None:
    """Write rows in their order, with absolute paths or addresses, so that the list is also a corpus. Raise OSError."""
    parts = any(row.figures.utterance.part for row in rows)
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(HEADER + HEADER_OF_PARTS if parts else HEADER)
    writer.writerows(_fields(row) + (_times(row.figures.utterance) if parts else ()) for row in rows)
    write_text_whole(path, text.getvalue())


def _fields(row: RankedRow) -> tuple[object, ...]:
    figures, utterance = row.figures, row.figures.utterance
    return (
        _named(utterance.path),
        utterance.file_size,
        utterance.transcript,
        _named(utterance.csv_file),
        utterance.line,
        figures.hypothesis,
        figures.edits.character_edits,
        f"{figures.loss_per_label:.4f}",
        f"{figures.longest_gap:.2f}",
        f"{row.suspicion:.3f}",
    )


def _named(path: str) -> str:
    """Return the address of a copy, so that the list can be used on any machine; else the absolute path."""
    return named_for_all(path) if original_of(path) else str(Path(path).resolve())


def _times(utterance: Utterance) -> tuple[float | str, float | str]:
    part = utterance.part
    return ("", "") if part is None else (round(part.start, 9), round(part.end - part.start, 9))
