"""A queue of rows in a file without a name: written, and read again in the same order."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryFile

from .records import Item

_ROWS_AT_ONCE = 1000


class Spool:
    """Items in a temporary file in `folder`; at most a thousand of them are in memory."""

    def __init__(self, folder: Path) -> None:
        self._file = TemporaryFile(dir=folder)  # noqa: SIM115 (closed by __exit__)
        self._waiting: list[Item] = []

    def __enter__(self) -> Spool:
        return self

    def __exit__(self, *error: object) -> None:
        self._file.close()

    def add(self, item: Item) -> None:
        """Append an item."""
        self._waiting.append(item)
        if len(self._waiting) == _ROWS_AT_ONCE:
            self._flush()

    def __iter__(self) -> Iterator[Item]:
        self._flush()
        self._file.seek(0)
        while True:
            try:
                rows = pickle.load(self._file)
            except EOFError:
                return
            yield from rows

    def _flush(self) -> None:
        pickle.dump(self._waiting, self._file, pickle.HIGHEST_PROTOCOL)
        self._waiting = []
