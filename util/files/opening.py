"""Opening a file wherever it is: on this machine, inside a tar shard, or at an address whose copy is not here yet."""

from __future__ import annotations

import errno
import os
import stat
from io import FileIO
from pathlib import Path

from ..shards.members import member_of, open_member
from ..storage.copies import open_copy


def opened(path: Path) -> FileIO:
    """Return a regular file, open for reading; of a member of a shard it is a copy in memory.

    Raise OSError, with a reason that is one line, ValueError for a name that no file can have, or StorageError if its
    store does not say that there is no such file.
    """
    try:
        return _regular(path)
    except (FileNotFoundError, NotADirectoryError):
        if (found := member_of(path)) is not None:
            return open_member(*found)
        if (copy := open_copy(path)) is None:
            raise
        return copy


def _regular(path: Path) -> FileIO:
    if not stat.S_ISREG(path.stat().st_mode):  # opening a named pipe would wait forever
        raise OSError(errno.EINVAL, "not a file")
    return FileIO(os.fspath(path), "rb")
