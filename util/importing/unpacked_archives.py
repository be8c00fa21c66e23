"""Corpora from archives, of this machine or downloaded and verified: unpacked unchanged."""

from __future__ import annotations

import logging
import tarfile
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath
from urllib.parse import urlsplit

from ..errors import DeepSpeechError, ImportingError
from ..files.folders import files_like
from ..files.whole_files import encoded, folder_written_whole, remove_unfinished_folders
from ..progress import Progress, Report
from .download import RemoteFile, download

log = logging.getLogger(__name__)

_ENDINGS = (".tar.gz", ".tgz", ".tar.bz2", ".tar.xz", ".tar", ".zip")
_BLOCK = 1 << 20
_OF_MACOS = "__MACOSX/"
"""What macOS puts beside the files of a zip archive: their attributes, under the same names."""

_NAME_IS_UTF8 = 0x800
"""The flag of a member of a zip archive that its name is in UTF-8."""


def fetch_archives(archives: Iterable[RemoteFile], folder: Path, report: Report) -> Path:
    """Download archives, and unpack each into its own folder below `folder`.

    Existing archives are not fetched again. Return the top folder of the corpus: `folder`, or the first folder below it
    that holds more than a single folder. Raise ImportingError, or OSError.
    """
    for target, archive in _by_target(archives, folder).items():
        path = folder / _name(archive)
        if not target.is_dir():
            _check_safe()
            download(archive, path, report)
            _unpack_whole(path, target, "delete it and run again")
            path.unlink()
    return _top(folder)


def unpacked(source: Path, folder: Path, report: Report) -> Path:
    """Unpack an archive of this machine into its own folder below `folder`, and return the top folder of the corpus.

    An archive that has not changed since, or has been deleted, is not unpacked again. Any other `source` is returned
    unchanged. Raise ImportingError, or OSError.
    """
    ending = _ending(source.name)
    if ending is None or source.is_dir():
        return source
    target = folder / source.name.removesuffix(ending)
    stamp = target.with_name(f".{target.name}.unpacked")
    before = stamp.read_bytes() if target.is_dir() and stamp.is_file() else None
    if not source.exists():
        return source if before is None else _top(target)
    status = source.stat()
    state = encoded(f"{source.name} {status.st_size} {status.st_mtime_ns}")
    if before != state:
        _check_safe()
        stamp.unlink(missing_ok=True)
        _unpack_whole(source, target, "copy or download it again")
        stamp.write_bytes(state)
        report(f"{source} is unpacked into {target}")
    return _top(target)


def _check_safe() -> None:
    if not hasattr(tarfile, "data_filter"):  # before Python 3.10.12 and 3.11.4
        raise ImportingError("this Python cannot unpack archives safely; unpack them yourself and use --from")


def _unpack_whole(path: Path, target: Path, advice: str) -> None:
    remove_unfinished_folders(target)
    with unpacking(path, advice), folder_written_whole(target) as beside:
        _unpack(path, beside)
        _unpack_inner(beside)


def _top(folder: Path) -> Path:
    """Return the first folder, from `folder` on, that holds more than a single folder."""
    while len(entries := [path for path in folder.iterdir() if path.name[0] != "."]) == 1 and entries[0].is_dir():
        folder = entries[0]
    return folder


def _ending(name: str) -> str | None:
    """Return the ending of an archive; None for other names, and for those without a name for a folder, as `..zip`."""
    ending = next((name[-len(ending) :] for ending in _ENDINGS if name.lower().endswith(ending)), None)
    return ending if ending and name.removesuffix(ending).strip(".") else None


def _by_target(archives: Iterable[RemoteFile], folder: Path) -> dict[Path, RemoteFile]:
    """Return archives by the folders to unpack them into; raise ImportingError for none, and for two of one folder."""
    found: dict[Path, RemoteFile] = {}
    for archive in archives:
        name = _name(archive)
        ending = _ending(name)
        if ending is None:
            raise ImportingError(f"{archive.url} is not an archive; these end in {', '.join(_ENDINGS)}")
        other = found.setdefault(folder / name.removesuffix(ending), archive)
        if other != archive:
            raise ImportingError(
                f"{archive.url} and {other.url} would be unpacked into one folder; unpack them yourself and use --from"
            )
    return found


def _name(archive: RemoteFile) -> str:
    return PurePosixPath(urlsplit(archive.url).path).name


@contextmanager
def opened_tar(path: Path) -> Iterator[tarfile.TarFile]:
    """Open a tar archive; when the block ends, read on to the end of its compression, where the checksum is.

    Raise tarfile.ReadError if members follow that were not read: tarfile takes a damaged header for the end.
    """
    with tarfile.open(path) as tar:
        yield tar
        assert tar.fileobj is not None
        tar.fileobj.seek(tar.offset)
        if any(tar.fileobj.read(tarfile.BLOCKSIZE)):
            raise tarfile.ReadError("damaged in its middle")
        while tar.fileobj.read(_BLOCK):
            pass


@contextmanager
def unpacking(path: Path, advice: str) -> Iterator[None]:
    """Raise the errors of a damaged archive as an ImportingError that names it; OSErrors of the disk stay unchanged.

    `advice` says what to do.
    """
    try:
        yield
    except Exception as error:  # each kind of archive and of compression has its own errors
        if isinstance(error, DeepSpeechError | MemoryError) or getattr(error, "errno", None) is not None:
            raise
        reason = str(error).partition("\n")[0].rstrip(":")  # tarfile lists its attempts, one per line
        raise ImportingError(f"{path} cannot be unpacked: {reason}; {advice}") from error


def _unpack_inner(folder: Path) -> None:
    """Unpack archives inside an archive, such as those of AISHELL-1's speakers, in their places."""
    for path in files_like(folder, "**/*"):
        if _ending(path.name) is None or not path.is_file():
            continue
        _unpack(path, path.parent)
        path.unlink()


def _unpack(path: Path, folder: Path) -> None:
    """Unpack an archive; nothing in it can write outside of `folder`."""
    with Progress(f"Unpacking {path.name}", None, unit="file") as progress:
        if path.suffix.lower() == ".zip":
            with zipfile.ZipFile(path) as archive:
                for info in archive.infolist():
                    info.filename = _name_in_zip(info)
                    if not info.filename.startswith(_OF_MACOS):
                        archive.extract(info, folder)
                    progress.advance()
            return
        with opened_tar(path) as tar:
            for member in tar:
                try:
                    tar.extract(member, folder, filter="data")
                except (tarfile.AbsoluteLinkError, tarfile.LinkOutsideDestinationError) as error:
                    log.warning("%s: a link that leads out of it is left out: %s", path, error)
                except tarfile.SpecialFileError as error:
                    log.warning("%s: what is no file is left out: %s", path, error)
                progress.advance()


def _name_in_zip(info: zipfile.ZipInfo) -> str:
    """Return a member's name: `zip` and macOS write UTF-8 without its flag, and zipfile then reads code page 437."""
    if not info.flag_bits & _NAME_IS_UTF8:
        with suppress(UnicodeError):
            return info.filename.encode("cp437").decode()
    return info.filename
