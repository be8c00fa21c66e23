"""Opens files inside tar shards by their place in the shard."""

from __future__ import annotations

import errno
import os
import tarfile
import tempfile
from collections.abc import Mapping
from functools import lru_cache
from io import FileIO
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from ..errors import CorpusError
from ..storage.copies import mark_used, open_copy

SUFFIX = ".tar"

_SHARDS_KNOWN = 64
"""Shards whose tables of contents are kept in memory."""


class Place(NamedTuple):
    """The place of a file in a shard; of several with the same name, the last."""

    start: int
    """Its offset in bytes."""
    size: int
    """Its size in bytes."""
    members: int
    """The number of files with its name in the shard."""


def is_shard(path: Path) -> bool:
    """Return whether a path is that of a shard, by its ending in lower or upper case."""
    return path.suffix.lower() == SUFFIX


def member_of(path: Path) -> tuple[Path, str] | None:
    """Split the path of a member into its shard and its name there; None if the path has no shard in it."""
    for parent in path.parents:
        if is_shard(parent):
            return parent, path.relative_to(parent).as_posix()
    return None


def open_shard(path: Path) -> FileIO:
    """Return a shard, open for reading; a missing copy is fetched first.

    Raise OSError or StorageError.
    """
    file = open_copy(path)
    if file is None:
        return FileIO(os.fspath(path), "rb")
    mark_used(path)
    return file


def open_member(shard: Path, name: str) -> FileIO:
    """Return a copy in memory of a file inside a shard, open for reading, with the shard's modification time.

    Raise OSError or StorageError.
    """
    with open_shard(shard) as file:
        status = os.fstat(file.fileno())
        try:
            place = contents(str(shard), status.st_size, status.st_mtime_ns).get(name)
        except CorpusError as error:
            raise OSError(errno.EIO, str(error)) from error
        if place is None:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
        content = os.pread(file.fileno(), place.size, place.start)
    if len(content) < place.size:
        raise OSError(errno.EIO, f"the shard {shard} ends within it")
    member = _in_memory()
    if member.write(content) < len(content):  # nothing is raised where only a part has room
        member.close()
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    member.seek(0)
    os.utime(member.fileno(), ns=(status.st_mtime_ns, status.st_mtime_ns))
    return member


@lru_cache(maxsize=_SHARDS_KNOWN)
def contents(shard: str, size: int, modified_ns: int) -> Mapping[str, Place]:  # noqa: ARG001 - of the cache
    """Return the place of each file of a shard with this size and modification time, in their order.

    A hard link, which tar writes for a file that it has written under another name, counts as its target.
    Raise CorpusError if it is not a tar file, ends early or has sparse files, or OSError.
    """
    found: dict[str, Place] = {}
    try:
        with open_shard(Path(shard)) as file, tarfile.open(fileobj=file, mode="r:") as archive:
            for member in archive:
                name, place = _plain(member.name), None
                if member.issparse():  # the shard has only the pieces between its holes
                    raise CorpusError(f"{shard}: holds {name} as a sparse file; write it again without --sparse")
                if member.isreg():
                    place = Place(member.offset_data, member.size, 1)
                    if not 0 <= place.size <= size - place.start:
                        raise CorpusError(f"{shard}: ends within {name}; copy or write it again")
                elif member.islnk():
                    place = found.get(_plain(member.linkname))
                if place is not None:
                    found[name] = place._replace(members=1 + (found[name].members if name in found else 0))
            if os.pread(file.fileno(), tarfile.BLOCKSIZE, archive.offset) != bytes(tarfile.BLOCKSIZE):
                raise CorpusError(f"{shard}: ends within a tar file, without its end mark; copy or write it again")
    except (tarfile.TarError, EOFError, OverflowError, MemoryError) as error:  # the last two: a header of 2^60 bytes
        raise CorpusError(
            f"{shard}: not a tar file without compression, or damaged ({error or 'too large a header'}); write it again"
        ) from error
    return found


def _plain(name: str) -> str:
    """Return a member's name for the path of a recording: without the `./` of `tar -C folder .`, or a leading slash."""
    return str(PurePosixPath(f"./{name}"))


def _in_memory() -> FileIO:
    if hasattr(os, "memfd_create"):
        return FileIO(os.memfd_create("recording"), "w+b")
    with tempfile.TemporaryFile() as file:
        return FileIO(os.dup(file.fileno()), "w+b")
