"""Corpora that are archives on the web: downloaded, checked, and unpacked as they are."""

from __future__ import annotations

import tarfile
import zipfile
import zlib
from collections.abc import Iterable
from pathlib import Path, PurePosixPath
from urllib.parse import urlsplit

from ..errors import ImportingError
from ..files.whole_files import folder_written_whole
from ..progress import Progress, Report
from .download import RemoteFile, download

_ENDINGS = (".tar.gz", ".tgz", ".tar.bz2", ".tar.xz", ".tar", ".zip")


def fetch_archives(archives: Iterable[RemoteFile], folder: Path, report: Report) -> Path:
    """Download archives, and unpack each into a folder of its own below `folder`.

    Archives that are there already are not fetched again. Return the folder in which the corpus begins: `folder`, or
    the first below it that has more in it than one other folder. Raise ImportingError, or OSError.
    """
    if not hasattr(tarfile, "data_filter"):  # before Python 3.10.12 and 3.11.4
        raise ImportingError("this Python cannot unpack archives safely; unpack them yourself and use --from")
    for archive in archives:
        name = PurePosixPath(urlsplit(archive.url).path).name
        ending = next((each for each in _ENDINGS if name.endswith(each)), None)
        if ending is None:
            raise ImportingError(f"{archive.url} is not an archive; these end in {', '.join(_ENDINGS)}")
        target = folder / name.removesuffix(ending)
        if not target.is_dir():
            download(archive, folder / name, report)
            with folder_written_whole(target) as beside:
                _unpack(folder / name, beside)
                _unpack_inner(beside)
            (folder / name).unlink()
    while len(entries := [path for path in folder.iterdir() if path.name[0] != "."]) == 1 and entries[0].is_dir():
        folder = entries[0]
    return folder


def _unpack_inner(folder: Path) -> None:
    """Unpack the archives that were in an archive, as those of AISHELL-1's speakers, in their places."""
    for path in sorted(path for path in folder.rglob("*") if path.name.endswith(_ENDINGS) and path.is_file()):
        _unpack(path, path.parent)
        path.unlink()


def _unpack(path: Path, folder: Path) -> None:
    """Unpack an archive; nothing in it can write outside of `folder`."""
    try:
        with Progress(f"Unpacking {path.name}", None) as progress:
            if path.suffix == ".zip":
                with zipfile.ZipFile(path) as archive:
                    for info in archive.infolist():
                        archive.extract(info, folder)
                        progress.advance()
                return
            with tarfile.open(path) as tar:
                for member in tar:
                    tar.extract(member, folder, filter="data")
                    progress.advance()
    except (tarfile.TarError, zipfile.BadZipFile, EOFError, zlib.error, NotImplementedError, RuntimeError) as error:
        reason = str(error).partition("\n")[0].rstrip(":")
        raise ImportingError(f"{path.name} cannot be unpacked: {reason}; delete {path} and run again") from error
