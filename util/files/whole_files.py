"""Atomic writing of files and folders: a name always has either the complete new content or the previous content."""

import errno
import os
import re
import shutil
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from glob import escape
from pathlib import Path
from tempfile import TemporaryDirectory

_UNFINISHED = re.compile(r"\.(.+)\.part-\d+")


def write_whole(path: Path, data: bytes) -> None:
    """Write a file beside its place and rename it; if that fails, remove it. Raise OSError."""
    with written_whole(path) as beside:
        beside.write_bytes(data)


def write_text_whole(path: Path, text: str) -> None:
    """Write a text as `write_whole` does, in UTF-8; see `encoded`."""
    write_whole(path, encoded(text))


def encoded(text: str) -> bytes:
    """Return a text in UTF-8. Invalid bytes of a file's name are escaped as in JSON: "caf\\udce9.wav"."""
    return text.encode("utf-8", "backslashreplace")


def write_all_whole(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write files of a folder, by their names; rename them to their places when all of them are on the disk.

    If one of them cannot be written, nothing is left of them, and older files stay as they are. A link stays, and leads
    to its file. Raise OSError, which names the file.
    """
    with ExitStack() as scratch:
        paths = [Path(os.path.realpath(folder / name)) for name in files]
        places = {path: _beside(path) for path in paths}
        for (path, beside), data in zip(places.items(), files.values(), strict=True):
            if path.is_dir():
                raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
            scratch.callback(_removed, beside)
            with _named(path, beside), beside.open("wb") as written:
                written.write(data)
                written.flush()
                os.fsync(written.fileno())
        for path, beside in places.items():
            with _named(path, beside):
                beside.replace(path)
        for parent in {path.parent for path in paths}:
            synchronize_folder(parent)


@contextmanager
def written_whole(path: Path) -> Iterator[Path]:
    """Yield a path beside `path` to write to; the file replaces `path` when the block ends without an error.

    The content is flushed to the disk before the file is renamed, and the name before the block is left. A link stays a
    link, and its target is replaced. Raise OSError, also for a device or a pipe, which must not be replaced; the error
    names `path` unless it names another file.
    """
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise OSError(errno.EEXIST, "it is a device or a pipe, and not a file", str(path))
    path = Path(os.path.realpath(path))
    beside = _beside(path)
    try:
        with _named(path, beside):
            yield beside
            with beside.open("r+b") as written:
                os.fsync(written.fileno())
            beside.replace(path)
            synchronize_folder(path.parent)
    finally:
        _removed(beside)


@contextmanager
def folder_written_whole(path: Path) -> Iterator[Path]:
    """Yield a new folder beside `path`; it replaces `path` only when the block ends without an error.

    Folders above `path` are made, and removed again after an error. A previous folder at `path` is then deleted with
    its content; if it cannot be replaced, it stays. A link stays a link, and its target is replaced. Raise OSError; it
    names `path` unless it names another file.
    """
    if path.exists() and not path.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(path))
    path = Path(os.path.realpath(path))
    with (
        _made_folder(path.parent),
        TemporaryDirectory(prefix=f".{path.name}.part-", dir=path.parent) as scratch,
    ):
        new, old = Path(scratch, "new"), Path(scratch, "old")
        new.mkdir()
        with _named(path, new):
            yield new
        if path.exists():
            path.rename(old)
        try:
            new.rename(path)
        except OSError:
            if old.exists():
                old.rename(path)
            raise
    synchronize_folder(path.parent)


def remove_unfinished_folders(path: Path) -> None:
    """Remove what `folder_written_whole` has left beside this folder in processes that were killed. Raise OSError."""
    for unfinished in path.parent.glob(f".{escape(path.name)}.part-*"):
        shutil.rmtree(unfinished)


def unfinished_name(name: str) -> str | None:
    """Return the final name of an unfinished file, whose process was killed while it wrote.

    None if `name` is not that of an unfinished file.
    """
    found = _UNFINISHED.fullmatch(name)
    return found[1] if found else None


def synchronize_folder(folder: Path) -> None:
    """Flush the names of a folder's files to the disk, if its file system supports that."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


@contextmanager
def _made_folder(path: Path) -> Iterator[None]:
    """Make a folder and those above it that are missing; if the block fails, remove those of them that are empty."""
    missing = [each for each in (path, *path.parents) if not each.exists()]
    path.mkdir(parents=True, exist_ok=True)
    try:
        yield
    except BaseException:
        with suppress(OSError):
            for each in missing:
                each.rmdir()
        raise


@contextmanager
def _named(path: Path, beside: Path) -> Iterator[None]:
    """Let an OSError of what is written beside a file name that file."""
    try:
        yield
    except OSError as error:
        if error.filename in (None, str(beside)):  # None: of what is written to an open file
            error.filename, error.filename2 = str(path), None
        raise


def _removed(beside: Path) -> None:
    """Remove an unfinished file. If that fails, writing has failed too, and its error is the one to report."""
    with suppress(OSError):
        beside.unlink(missing_ok=True)


def _beside(path: Path) -> Path:
    """Return the temporary path to write a file to before it is renamed."""
    return path.with_name(f".{path.name}.part-{os.getpid()}")
