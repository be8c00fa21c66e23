"""The results of an import that the next import into the same folder uses: checked recordings, and their sets.

A recording that has not changed is checked only once, and stays in its set.
"""

from __future__ import annotations

import sqlite3
import time
from pathlib import Path
from typing import NamedTuple

from ...audio import reader_version
from ...errors import ImportingError
from .splits import Division

SECONDS_BETWEEN_COMMITS = 5.0

_CACHE_KIB = 32 * 1024


class Checked(NamedTuple):
    """What a recording holds, and the version of the file that was checked."""

    size: int
    """Bytes."""
    modified_ns: int
    """Modification time in nanoseconds."""
    samples: int = 0
    """Samples per channel."""
    sample_rate: int = 0
    """Hz."""
    problem: str = ""
    """Why the recording cannot be used; empty if it can."""
    by_ffmpeg: bool = False
    """Whether decoding the recording needs ffmpeg."""


class KnownRecordings:
    """The known recordings, by path; the results of an interrupted run are kept."""

    def __init__(self, path: Path) -> None:
        """Open the file at `path`, or create it; a damaged one is replaced.

        Raise ImportingError if another process has it open, or if it cannot be written.
        """
        try:
            self._open(path)
        except sqlite3.OperationalError as error:
            wrong = f"{path} cannot be written: {error}"
            raise ImportingError(
                f"{wrong}; is another import at work there?" if "locked" in wrong else wrong
            ) from error
        except (sqlite3.DatabaseError, UnicodeDecodeError):
            self._database.close()
            path.unlink()
            self._open(path)

    def _open(self, path: Path) -> None:
        self._database = sqlite3.connect(path, timeout=0)
        self._database.text_factory = lambda text: text.decode(errors="replace")
        self._database.execute("PRAGMA locking_mode = EXCLUSIVE")
        self._committed = time.monotonic()
        if self._database.execute("PRAGMA quick_check(1)").fetchall() != [("ok",)]:
            raise sqlite3.DatabaseError("it is damaged")
        self._database.execute("PRAGMA synchronous = OFF")
        self._database.execute(f"PRAGMA cache_size = -{_CACHE_KIB}")
        self._database.execute(
            "CREATE TABLE IF NOT EXISTS checked_recordings (path BLOB PRIMARY KEY, size INTEGER, modified_ns INTEGER,"
            " samples INTEGER, sample_rate INTEGER, problem TEXT, by_ffmpeg INTEGER) WITHOUT ROWID"
        )
        self._database.execute("CREATE TABLE IF NOT EXISTS reader (version TEXT)")
        self._database.execute("CREATE TABLE IF NOT EXISTS division (how TEXT, unit BLOB, name TEXT)")
        self._database.execute("BEGIN EXCLUSIVE")
        if self._database.execute("SELECT version FROM reader").fetchall() != [(version := reader_version(),)]:
            self._database.execute("DELETE FROM checked_recordings")  # the results of another version may be wrong
            self._database.execute("DELETE FROM reader")
            self._database.execute("INSERT INTO reader VALUES (?)", (version,))

    def __enter__(self) -> KnownRecordings:
        return self

    def __exit__(self, *error: object) -> None:
        self._database.commit()
        self._database.close()

    def find(self, path: str) -> Checked | None:
        """Return the known facts of a usable recording, which may have changed since.

        Unusable ones are checked again, as their problem may be solved, for example by installing a decoder.
        """
        query = (
            "SELECT size, modified_ns, samples, sample_rate, problem, by_ffmpeg FROM checked_recordings"
            " WHERE path = ? AND problem = ''"
        )
        row = self._database.execute(query, (_key(path),)).fetchone()
        return Checked(*row) if row else None

    def add(self, path: str, checked: Checked) -> None:
        """Store the result for a recording."""
        rows = "INSERT OR REPLACE INTO checked_recordings VALUES (?, ?, ?, ?, ?, ?, ?)"
        self._database.execute(rows, (_key(path), *checked))
        if time.monotonic() - self._committed > SECONDS_BETWEEN_COMMITS:
            self._database.commit()
            self._committed = time.monotonic()

    def division(self) -> Division:
        """Return the division into sets of the previous import; an empty one if there was none."""
        how, sets = "", {}
        for how, unit, name in self._database.execute("SELECT how, unit, name FROM division"):  # noqa: B007
            sets[int.from_bytes(unit, "big")] = name
        return Division(how, sets)

    def keep_division(self, division: Division) -> None:
        """Store a division in place of the previous one."""
        rows = ((division.how, unit.to_bytes(8, "big"), name) for unit, name in division.sets.items())
        self._database.execute("DELETE FROM division")
        self._database.executemany("INSERT INTO division VALUES (?, ?, ?)", rows)


def _key(path: str) -> bytes:
    return path.encode("utf-8", "surrogatepass")  # names on disk need not be UTF-8
