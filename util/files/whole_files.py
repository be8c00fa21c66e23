"""Writing files and folders so that under their names there is all of them, or what was there before."""

import errno
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

_UNFINISHED = re.compile(r"\.(.+)\.part-\d+")


def write_whole(path: Path, data: bytes) -> None:
    """Write a file beside its place and rename it there; nothing is left of it if that fails. Raise OSError."""
    with written_whole(path) as beside:
        beside.write_bytes(data)


def write_text_whole(path: Path, text: str) -> None:
    """Write a text as `write_whole` does, in UTF-8; see `encoded`."""
    write_whole(path, encoded(text))


def encoded(text: str) -> bytes:
    """Return a text in UTF-8. Bytes of a file's name that are not are written as JSON does, as in "caf\\udce9.wav"."""
    return text.encode("utf-8", "backslashreplace")


def write_all_whole(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write files of a folder, by their names, and rename them to their places when all of them are on the disk.

    If one of them cannot be written, nothing is left of them, and older files stay as they are. A link stays, and leads
    to its file. Raise OSError, which names the file.
    """
    with ExitStack() as scratch:
        paths = [Path(os.path.realpath(folder / name)) for name in files]
        places = {path: _beside(path) for path in paths}
        for (path, beside), data in zip(places.items(), files.values(), strict=True):
            if path.is_dir():
                raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
            scratch.callback(beside.unlink, missing_ok=True)
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
    """Yield a path beside `path` to write to; the file takes the place of `path` when the block ends without an error.

    Its content is on the disk before it gets its name, and the name when the block is left. A link stays, and leads to
    it. Raise OSError, also for a device or a pipe, of which a file must not take the place; where no other file is
    named, it names `path`.
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
        beside.unlink(missing_ok=True)


@contextmanager
def folder_written_whole(path: Path) -> Iterator[Path]:
    """Yield a new folder beside `path`; it takes the place of `path` only when the block ends without an error.

    Folders above `path` are made. A folder that was at `path` is deleted after that, with all that is in it, and stays
    there if the new one cannot take its place. A link stays, and leads to it. Raise OSError.
    """
    if path.exists() and not path.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(path))
    path = Path(os.path.realpath(path))
    path.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix=f".{path.name}.part-", dir=path.parent) as scratch:
        new, old = Path(scratch, "new"), Path(scratch, "old")
        new.mkdir()
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


def unfinished_name(name: str) -> str | None:
    """Return the name of the file that would have been written whole, had its process not been killed meanwhile.

    None if that is not what a file of this `name` is.
    """
    found = _UNFINISHED.fullmatch(name)
    return found[1] if found else None


def synchronize_folder(folder: Path) -> None:
    """Have the names of a folder's files on the disk, as far as its file system does that for folders."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


@contextmanager
def _named(path: Path, beside: Path) -> Iterator[None]:
    """Let an OSError of what is written beside a file name that file."""
    try:
        yield
    except OSError as error:
        if error.filename in (None, str(beside)):  # None: of what is written to an open file
            error.filename, error.filename2 = str(path), None
        raise


def _beside(path: Path) -> Path:
    """Return where a file is written before it gets its name."""
    return path.with_name(f".{path.name}.part-{os.getpid()}")
