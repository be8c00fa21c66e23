"""Whether results can be written, checked before a run, and why writing failed."""

import errno
import os
from pathlib import Path


def why_not_writable(folder: Path) -> str:
    """Return why a folder, or its nearest existing parent, cannot be written to; empty if it can."""
    there = folder
    while not there.exists() and there != there.parent:
        there = there.parent
    if not there.is_dir():
        return f"{there} is not a folder"
    if os.access(there, os.W_OK | os.X_OK):
        return ""
    reason = errno.EROFS if os.statvfs(there).f_flag & os.ST_RDONLY else errno.EACCES
    return f"{there} cannot be written to ({os.strerror(reason)})"


def reason_of(error: Exception) -> str:
    """Return why writing failed, in the words of the operating system.

    TensorFlow's errors contain these words.
    """
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    message = str(getattr(error, "message", None) or error)
    known = (os.strerror(number) for number in errno.errorcode)
    return next((words for words in known if f"; {words}" in message), message.strip().partition("\n")[0])
