"""Corpus CSVs: a row per utterance, with the columns `wav_filename`, `wav_filesize` (bytes) and `transcript`."""

import csv
from collections.abc import Iterable
from pathlib import Path

from ..files.csv_lines import csv_writer
from ..files.whole_files import written_whole

COLUMNS = ("wav_filename", "wav_filesize", "transcript")


def write_corpus(path: Path, rows: Iterable[tuple[Path, str]]) -> int:
    """Write (recording, transcript) rows and return their number; paths below the CSV's folder become relative.

    Folders above the CSV are made. Raise OSError.
    """
    folder = path.parent.resolve()
    path.parent.mkdir(parents=True, exist_ok=True)
    count = 0
    with written_whole(path) as beside, beside.open("w", encoding="utf-8", newline="") as file:
        writer = csv_writer(file)
        writer.writerow(COLUMNS)
        for recording, transcript in rows:
            absolute = recording.resolve()
            name = absolute.relative_to(folder) if absolute.is_relative_to(folder) else absolute
            writer.writerow((name.as_posix(), absolute.stat().st_size, transcript))
            count += 1
    return count


def is_whole(path: Path) -> bool:
    """Return whether `path` is such a CSV, and every recording in it exists with its size."""
    try:
        with path.open(encoding="utf-8", newline="") as file:
            rows = csv.DictReader(file)
            return all((path.parent / row[COLUMNS[0]]).stat().st_size == int(row[COLUMNS[1]]) for row in rows)
    except (OSError, KeyError, TypeError, ValueError, csv.Error):
        return False
