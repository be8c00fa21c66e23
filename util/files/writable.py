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


def why_no_output_file(path: Path, instead: str = "another file") -> str:
    """Return why a file cannot be written whole, and what to name in its place; empty if it can."""
    if not path.parent.is_dir():
        return f"there is no folder {path.parent}"
    if path.is_dir():
        return "is a folder; name a file in it"
    if path.exists() and not path.is_file():
        return "is a device or a pipe; name a file"
    wrong = why_not_writable(path.resolve().parent)
    return f"{wrong}; name {instead}" if wrong else ""


def reason_of(error: Exception) -> str:
    """Return why writing failed, in the words of the operating system.

    TensorFlow's errors contain these words.
    """
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    message = str(getattr(error, "message", None) or error)
    known = (os.strerror(number) for number in errno.errorcode)
    return next((words for words in known if f"; {words}" in message), message.strip().partition("\n")[0])
