"""What the importers share: recordings from a folder, or from an archive on the web, that are known by their names."""

import re
import shutil
import tarfile
import wave
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from corpus_csv import write_corpus
from download import download
from script import ArgumentParser, ScriptError, folder_written_whole, report


@dataclass(frozen=True)
class Archive:
    """A tar archive on the web and the recordings in it."""

    url: str
    sha256: str
    recording: re.Pattern[str]  # the names of its recordings; files of other names are left alone
    count: int  # of its recordings


@dataclass(frozen=True)
class Arguments:
    """The command line of an importer."""

    out: Path
    folder: Path | None  # where the recordings are, or None to download them
    archive: Archive


def read_arguments(description: str | None, archive: Archive) -> Arguments:
    """Read the command line; `archive` is what is downloaded unless the command line names another."""
    parser = ArgumentParser(description)
    parser.add_argument("out", type=Path, help="the folder for train.csv, dev.csv and test.csv")
    parser.add_argument("--from", dest="folder", type=Path, metavar="FOLDER", help="use recordings that are on disk")
    parser.add_argument("--url", default=archive.url, help="download from there (default: %(default)s)")
    parser.add_argument("--sha256", default=archive.sha256, help="of the download (default: %(default)s)")
    arguments = parser.parse_args()
    return Arguments(
        out=arguments.out,
        folder=arguments.folder,
        archive=Archive(arguments.url, arguments.sha256, archive.recording, archive.count),
    )


def find_recordings(arguments: Arguments) -> list[Path]:
    """Return the recordings in the order of their names, downloaded if need be, each of them a readable wav file."""
    archive = arguments.archive
    folder = arguments.folder or arguments.out / "recordings"
    if arguments.folder is None and not folder.is_dir():
        _download_recordings(archive, folder)
    if not folder.is_dir():
        raise ScriptError(f"there is no folder {folder}; leave out --from to download the recordings")
    recordings = sorted(path for path in folder.iterdir() if archive.recording.fullmatch(path.name))
    if not recordings:
        raise ScriptError(f"no recording in {folder} has a name like {archive.recording.pattern}")
    for recording in recordings:
        _check_recording(recording)
    return recordings


def write_sets(out: Path, sets: Mapping[str, Sequence[tuple[Path, str]]]) -> None:
    """Write OUT/NAME.csv for each set of (recording, transcript) rows. Raises `ScriptError` if a set is empty."""
    for name, rows in sets.items():
        if not rows:
            raise ScriptError(f"no recording belongs to the {name} set; are all recordings there?")
    for name, rows in sets.items():
        report(f"{out / f'{name}.csv'}: {write_corpus(out / f'{name}.csv', rows)} utterances")


def _download_recordings(archive: Archive, folder: Path) -> None:
    path = folder.parent / PurePosixPath(archive.url).name
    if not path.is_file():
        download(archive.url, path, archive.sha256)
    with folder_written_whole(folder) as beside:
        count = _extract(path, archive.recording, beside)
        if count != archive.count:
            raise ScriptError(f"{path} holds {count} recordings, not {archive.count}; delete it and run again")
    path.unlink()


def _extract(path: Path, recording: re.Pattern[str], folder: Path) -> int:
    """Write the recordings of a tar archive into `folder` and return how many.

    Only regular files with a recording's name are taken, and only by their last name, so nothing in the archive can
    write elsewhere.
    """
    names = set()
    try:
        with tarfile.open(path) as archive:
            for member in archive:
                name = PurePosixPath(member.name).name
                content = archive.extractfile(member) if member.isreg() and recording.fullmatch(name) else None
                if content is not None:
                    with content, (folder / name).open("wb") as file:
                        shutil.copyfileobj(content, file)
                    names.add(name)
    except (tarfile.TarError, EOFError, zlib.error) as error:
        raise ScriptError(f"{path} cannot be unpacked: {error}; delete it and run again") from error
    return len(names)


def _check_recording(path: Path) -> None:
    try:
        with wave.open(str(path), "rb") as file:
            promised, width = file.getnframes(), file.getsampwidth() * file.getnchannels()
            found = len(file.readframes(promised)) // width
    except (wave.Error, EOFError) as error:
        raise ScriptError(f"{path} is not a readable wav file: {error or 'it ends too early'}") from error
    if found == 0 or found < promised:
        raise ScriptError(f"{path} is cut off: it has {found} of {promised} samples; fetch it anew")
