"""Recordings from a folder or from an archive on the web, recognized by their names."""

import re
import shutil
import wave
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from ..errors import ImportingError
from ..figures.counted import counted
from ..files.whole_files import folder_written_whole
from ..progress import Report
from .corpus_csv import is_whole, write_corpus
from .download import RemoteFile, download
from .unpacked_archives import opened_tar, unpacking


@dataclass(frozen=True)
class Archive:
    """A tar archive on the web and the recordings in it."""

    url: str
    sha256: str
    recording: re.Pattern[str]  # the names of its recordings; other files are ignored
    count: int  # the number of its recordings


def is_imported(out: Path, source: Path | None) -> bool:
    """Return whether `out` has the CSVs and all recordings that they name, and no other `source` is requested."""
    return source is None and all(is_whole(out / f"{name}.csv") for name in ("train", "dev", "test"))


def find_recordings(archive: Archive, out: Path, source: Path | None, report: Report) -> list[Path]:
    """Return the recordings in the order of their names, after checking that each is a readable wav file.

    They are looked for anywhere in `source`, or else in OUT/recordings, and downloaded if they are not there. Raise
    ImportingError, or OSError.
    """
    folder = source or out / "recordings"
    if source is None and not folder.is_dir():
        _download_recordings(archive, folder, report)
    if not folder.is_dir():
        raise ImportingError(f"there is no folder {folder}; leave out --from to download the recordings")
    found = (path for path in folder.rglob("*") if archive.recording.fullmatch(path.name))
    recordings = sorted(found, key=lambda path: path.name)
    if not recordings:
        raise ImportingError(f"no recording in {folder} has a name like {archive.recording.pattern}")
    for recording in recordings:
        _check_recording(recording)
    return recordings


def write_sets(out: Path, sets: Mapping[str, Sequence[tuple[Path, str]]], report: Report) -> None:
    """Write OUT/NAME.csv for each set of (recording, transcript) rows. Raise ImportingError if a set is empty."""
    for name, rows in sets.items():
        if not rows:
            raise ImportingError(f"no recording belongs to the {name} set; are all recordings there?")
    for name, rows in sets.items():
        written = write_corpus(out / f"{name}.csv", rows)
        report(f"{out / f'{name}.csv'}: {counted(written, 'utterance')}")


def _download_recordings(archive: Archive, folder: Path, report: Report) -> None:
    path = folder.parent / PurePosixPath(archive.url).name
    if not path.is_file():
        download(RemoteFile(archive.url, archive.sha256), path, report)
    with folder_written_whole(folder) as beside:
        count = _extract(path, archive.recording, beside)
        if count != archive.count:
            raise ImportingError(f"{path} holds {count} recordings, not {archive.count}; delete it and run again")
    path.unlink()


def _extract(path: Path, recording: re.Pattern[str], folder: Path) -> int:
    """Write the recordings of a tar archive into `folder` and return how many.

    Only regular files with a recording's name are extracted, without their folders, so nothing in the archive can write
    elsewhere.
    """
    names = set()
    with unpacking(path, "delete it and run again"), opened_tar(path) as archive:
        for member in archive:
            name = PurePosixPath(member.name).name
            content = archive.extractfile(member) if member.isreg() and recording.fullmatch(name) else None
            if content is not None:
                with content, (folder / name).open("wb") as file:
                    shutil.copyfileobj(content, file)
                names.add(name)
    return len(names)


def _check_recording(path: Path) -> None:
    try:
        with wave.open(str(path), "rb") as file:
            promised, width = file.getnframes(), file.getsampwidth() * file.getnchannels()
            found = len(file.readframes(promised)) // width
    except (wave.Error, EOFError) as error:
        raise ImportingError(f"{path} is not a readable wav file: {error or 'it ends too early'}") from error
    if found == 0 or found < promised:
        raise ImportingError(f"{path} is cut off: it has {found} of {promised} samples; download it again")
