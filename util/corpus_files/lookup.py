"""Texts by name, on disk, for files whose lines are needed in another order."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable

_CACHE_KIB = 16 * 1024
_UNENCODED = "surrogatepass"
"""What becomes of the bytes of names on disk that are not UTF-8."""


class Lookup:
    """A mapping that takes constant memory."""

    def __init__(self, items: Iterable[tuple[str, str]] = (), *, repeated: str | None = None) -> None:
        """Take (name, text) pairs; of equal names the last one counts, or they have the text `repeated` if given."""
        self._database = sqlite3.connect("")  # a temporary file, which closing deletes
        self._database.execute(f"PRAGMA cache_size = -{_CACHE_KIB}")
        self._database.execute("CREATE TABLE texts (name BLOB PRIMARY KEY, text BLOB) WITHOUT ROWID")
        instead = None if repeated is None else _bytes(repeated)
        self._database.executemany(
            "INSERT INTO texts VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE SET text = ifnull(?3, ?2)",
            ((_bytes(name), _bytes(text), instead) for name, text in items),
        )

    def __enter__(self) -> Lookup:
        return self

    def __exit__(self, *error: object) -> None:
        self._database.close()

    def put(self, name: str, text: str) -> None:
        """Give a name its text, in place of any earlier one."""
        self._database.execute("INSERT OR REPLACE INTO texts VALUES (?, ?)", (_bytes(name), _bytes(text)))

    def put_or(self, name: str, text: str, otherwise: str) -> None:
        """Give a name its text, or `otherwise` if it has another one already."""
        row = "INSERT INTO texts VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE SET text = ?3 WHERE text != ?2"
        self._database.execute(row, (_bytes(name), _bytes(text), _bytes(otherwise)))

    def get(self, name: str) -> str | None:
        """Return the text of this name; None if there is none."""
        row = self._database.execute("SELECT text FROM texts WHERE name = ?", (_bytes(name),)).fetchone()
        return row[0].decode("utf-8", _UNENCODED) if row else None


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", _UNENCODED)
