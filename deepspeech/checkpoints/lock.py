"""A lock on a folder of checkpoints: a second run that trains into it ends before it writes anything."""

import errno
import fcntl
import logging
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import FileIO
from pathlib import Path

from ..errors import CheckpointError

logger = logging.getLogger(__name__)

LOCK_FILE = ".lock"
"""Names the process that holds the lock. The file alone, without a lock on it, has no effect."""

_NO_LOCKS_HERE = {errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOLCK, errno.ENOSYS}


@contextmanager
def locked_for_training(folder: Path, origin: str | None = None) -> Iterator[None]:
    """Hold a folder's lock within the block; it is also released when the process ends for any reason.

    The folder is made if it is missing. Raise CheckpointError if another process holds the lock, or if the folder
    cannot be written to; the error names the folder `origin`, by default with the trainer's flag. On a file system
    without locks, warn and continue.
    """
    origin = origin or f"--checkpoint_dir={folder}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        file = (folder / LOCK_FILE).open("a+b", buffering=0)
    except OSError as error:
        raise CheckpointError(f"{origin}: cannot be written ({error.strerror}); choose another folder") from error
    with file:
        _lock(file, folder, origin)
        yield


def _lock(file: FileIO, folder: Path, origin: str) -> None:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.seek(0)
        holder = file.read(200).decode(errors="replace").strip() or "another process"
        raise CheckpointError(
            f"{origin}: {holder} is training into it; wait for its end, or name another folder"
        ) from None
    except OSError as error:
        if error.errno not in _NO_LOCKS_HERE:
            raise CheckpointError(f"{folder / LOCK_FILE}: cannot be locked ({error.strerror})") from error
        logger.warning(
            "%s: its file system has no locks (%s); make sure that no other run trains into it",
            origin,
            error.strerror,
        )
    with suppress(OSError):  # the disk may be full, which is reported when a checkpoint is written
        file.truncate(0)
        file.write(f"process {os.getpid()} on {socket.gethostname()}".encode())
