"""The text of one recording as its transcript, or why it cannot be."""

from __future__ import annotations

from pathlib import Path

from ....corpus_files.lines import read_text
from ...pipeline.records import Item, LeftOut, Record


def record_of_text(source: Path, recording: Path, text: Path, *, speaker: str, official_set: str = "") -> Item:
    """Return the record of a recording whose transcript is all of a file; or why it is left out."""
    where = str(recording.relative_to(source))
    try:
        return Record(str(recording), read_text(text), where, speaker, official_set)
    except FileNotFoundError:
        return LeftOut(where, "no transcript", str(recording))
    except (OSError, UnicodeDecodeError) as error:
        return unreadable(where, recording, error)


def unreadable(where: str, recording: Path, error: Exception) -> LeftOut:
    """Return why a recording is left out whose file of text cannot be read or decoded."""
    reason = "is not UTF-8" if isinstance(error, UnicodeDecodeError) else "cannot be read"
    return LeftOut(where, f"its transcript {reason}", str(recording), str(error))
