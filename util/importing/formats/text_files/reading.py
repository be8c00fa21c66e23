"""The text of one recording as its transcript."""

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
    except UnicodeDecodeError as error:
        return LeftOut(where, "its transcript is not UTF-8", str(recording), str(error))
    except OSError as error:
        return LeftOut(where, "its transcript cannot be read", str(recording), str(error))
