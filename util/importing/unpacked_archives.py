"""Corpora from archives on the web: downloaded, verified, and unpacked unchanged."""

from __future__ import annotations

import tarfile
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath
from urllib.parse import urlsplit

from ..errors import DeepSpeechError, ImportingError
from ..files.whole_files import folder_written_whole
from ..progress import Progress, Report
from .download import RemoteFile, download

_ENDINGS = (".tar.gz", ".tgz", ".tar.bz2", ".tar.xz", ".tar", ".zip")
_BLOCK = 1 << 20
_NAME_IS_UTF8 = 0x800
"""The flag of a member of a zip archive that its name is in UTF-8."""


def fetch_archives(archives: Iterable[RemoteFile], folder: Path, report: Report) -> Path:
    """Download archives, and unpack each into its own folder below `folder`.

    Existing archives are not fetched again. Return the top folder of the corpus: `folder`, or the first folder below it
    that holds more than a single folder. Raise ImportingError, or OSError.
    """
    if not hasattr(tarfile, "data_filter"):  # before Python 3.10.12 and 3.11.4
        raise ImportingError("this Python cannot unpack archives safely; unpack them yourself and use --from")
    for target, archive in _by_target(archives, folder).items():
        path = folder / _name(archive)
        if not target.is_dir():
            download(archive, path, report)
            with unpacking(path), folder_written_whole(target) as beside:
                _unpack(path, beside)
                _unpack_inner(beside)
            path.unlink()
    while len(entries := [path for path in folder.iterdir() if path.name[0] != "."]) == 1 and entries[0].is_dir():
        folder = entries[0]
    return folder


def _by_target(archives: Iterable[RemoteFile], folder: Path) -> dict[Path, RemoteFile]:
    """Return archives by the folders to unpack them into; raise ImportingError for none, and for two of one folder."""
    found: dict[Path, RemoteFile] = {}
    for archive in archives:
        name = _name(archive)
        ending = next((each for each in _ENDINGS if name.endswith(each)), None)
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
def unpacking(path: Path) -> Iterator[None]:
    """Raise the errors of a damaged archive as an ImportingError that names it; OSErrors of the disk stay unchanged."""
    try:
        yield
    except Exception as error:  # each kind of archive and of compression has its own errors
        if isinstance(error, DeepSpeechError | MemoryError) or getattr(error, "errno", None) is not None:
            raise
        reason = str(error).partition("\n")[0].rstrip(":")  # tarfile lists its attempts, one per line
        raise ImportingError(f"{path} cannot be unpacked: {reason}; delete it and run again") from error


def _unpack_inner(folder: Path) -> None:
    """Unpack archives inside an archive, such as those of AISHELL-1's speakers, in their places."""
    for path in sorted(path for path in folder.rglob("*") if path.name.endswith(_ENDINGS) and path.is_file()):
        _unpack(path, path.parent)
        path.unlink()


def _unpack(path: Path, folder: Path) -> None:
    """Unpack an archive; nothing in it can write outside of `folder`."""
    with Progress(f"Unpacking {path.name}", None, unit="file") as progress:
        if path.suffix == ".zip":
            with zipfile.ZipFile(path) as archive:
                for info in archive.infolist():
                    info.filename = _name_in_zip(info)
                    archive.extract(info, folder)
                    progress.advance()
            return
        with opened_tar(path) as tar:
            for member in tar:
                tar.extract(member, folder, filter="data")
                progress.advance()


def _name_in_zip(info: zipfile.ZipInfo) -> str:
    """Return a member's name: `zip` and macOS write UTF-8 without its flag, and zipfile then reads code page 437."""
    if not info.flag_bits & _NAME_IS_UTF8:
        with suppress(UnicodeError):
            return info.filename.encode("cp437").decode()
    return info.filename
