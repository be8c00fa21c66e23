"""Recordings in folders: found by name, with the set that a name contains."""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from ...containers.endings import ENDINGS, is_recording
from ...files.folders import files_below
from .records import DEV, TEST, TRAIN

log = logging.getLogger(__name__)

_ARCHIVES = (".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz", ".zip", ".7z", ".rar")
HEADERLESS = (".pcm", ".raw")
"""Endings of recordings that are not read."""
_COMPRESSED_SPHERE = (".wv1", ".wv2")
"""Endings of recordings of the LDC, as of WSJ, whose compression is not read."""
SPREADSHEETS = (".xlsx", ".xls", ".ods", ".numbers")
DOCUMENTS = (".docx", ".doc", ".odt", ".rtf", ".pdf", ".pages")
"""Endings of texts that are not read."""
_NOTES = re.compile(
    r"((readme|licen[cs]e|copying|change_?log|about|citation|(md5|sha\d+)sums?)[^.]*(\.txt)?|thumbs\.db|desktop\.ini|"
    r".*\.(pdf|md|html?|(md5|sha\d+)(sums?)?))",
    re.IGNORECASE,
)
"""Names of files about a corpus, and of those that Windows writes."""
_BETWEEN_WORDS = re.compile(r"[\W_]+")
_SET_NAMES = {
    **dict.fromkeys(("train", "training"), TRAIN),
    **dict.fromkeys(("dev", "devel", "development", "val", "valid", "validation"), DEV),
    **dict.fromkeys(("test", "testing", "tst", "eval", "evaluation"), TEST),
}


def find_recording(stem: str) -> str:
    """Return the existing recording with this path before its ending; if there is none, the path of a wav."""
    paths = (f"{stem}.{ending}" for ending in (*ENDINGS, *map(str.upper, ENDINGS)))
    return next(filter(os.path.exists, paths), f"{stem}.wav")


def innermost(folder: Path) -> Path:
    """Return the first folder, from `folder` on, that holds more than notes, such as a README, and a single folder.

    Archives that it may have been unpacked from count as notes. A folder that is named as a set is not returned in
    place of the one above it.
    """
    while folder.is_dir():
        with os.scandir(folder) as entries:
            of_corpus = (entry for entry in entries if entry.name[0] != "." and not _is_note(entry))
            first, second = next(of_corpus, None), next(of_corpus, None)  # the first of perhaps millions
        if first is None or second is not None or not first.is_dir() or set_of_name(first.name):
            break
        folder = folder / first.name
    return folder


def _is_note(entry: os.DirEntry[str]) -> bool:
    is_named_so = _NOTES.fullmatch(entry.name) or entry.name.lower().endswith(_ARCHIVES)
    return bool(is_named_so) and entry.is_file()


def set_of_name(name: str) -> str:
    """Return the set that a name like "train-clean-100", "testset" or "dev (1)" speaks of; empty if of none.

    Of several sets, the last counts, as in Kaldi's "train_dev", "test_dev93" and "valid_train".
    """
    parts = reversed(_BETWEEN_WORDS.split(name.lower()))
    words = (part.rstrip("0123456789").removesuffix("set") for part in parts)
    return next((_SET_NAMES[word] for word in words if word in _SET_NAMES), "")


def packed_recordings(source: Path) -> str:
    """Return what to do with a folder that has no recordings, but those in archives, or that are not read, or ""."""
    found: dict[bool, Path] = {}
    compressed: Path | None = None
    for path in files_below(source):
        name = path.name.lower()
        if is_recording(name):
            return ""
        if name.endswith(_COMPRESSED_SPHERE):
            compressed = compressed or path
        if name.endswith((*_ARCHIVES, *HEADERLESS)):
            found.setdefault(name.endswith(HEADERLESS), path)
    if compressed:
        return f"convert those such as {compressed} first, for example by sph2pipe -f wav a.wv1 a.wav"
    if headerless := found.get(True):
        command = "ffmpeg -f s16le -ar 16000 -ac 1 -i a.pcm a.wav"
        return f"convert recordings without a header first, such as {headerless}, for example by {command}"
    return f"unpack its archives first, such as {found[False]}" if found else ""


def without_notes_on_recordings(paths: Sequence[Path]) -> Sequence[Path]:
    """Return the files of a folder without each .json that a recording there has the name of."""
    heard = {path.stem for path in paths if is_recording(path.name)}
    return [path for path in paths if path.suffix.lower() != ".json" or path.stem not in heard]


def named_as_sets(paths: Sequence[Path], sets: Mapping[Path, str] | None = None) -> Sequence[Path]:
    """Return the lists or folders whose names contain sets, or all of them if no name does.

    `sets` has the set of each, if not their last names alone say it. The others may repeat rows of the sets, as a list
    of all rows does, so they are only named in a warning.
    """
    sets = sets or {path: set_of_name(path.name) for path in paths}
    named = [path for path in paths if sets[path]]
    if others := [path for path in paths if path not in named] if named else []:
        more = f" and {len(others) - 1} more" if len(others) > 1 else ""
        trained = any(sets[path] == TRAIN for path in named)
        advice = "" if trained else "; put train into its name to train on it"
        log.warning(
            "%s%s: not read, as others there are named as sets, such as %s%s", others[0], more, named[0].name, advice
        )
    return named or paths


def tests_first(paths: Iterable[Path], sets: Mapping[Path, str]) -> list[Path]:
    """Return the lists or folders in the order of their sets: test, dev, train, none.

    So an utterance that several of them have is of the first of these sets, and not trained on and tested with.
    """
    order = (TEST, DEV, TRAIN, "")
    return sorted(paths, key=lambda path: order.index(sets[path]))


def set_of_folders(names: Sequence[str]) -> str:
    """Return the set that the innermost of these folders speaks of that speaks of one; empty if none does."""
    return next(filter(None, map(set_of_name, reversed(names))), "")


def sets_of_lists(source: Path, paths: Iterable[Path]) -> dict[Path, str]:
    """Return the set of each list in a folder: that of its name, or of its folders, if these name train and another."""
    folders = {path: set_of_folders(path.relative_to(source).parts[:-1]) for path in paths}
    by_folder = {TRAIN} < {*folders.values()} - {""}
    return {path: set_of_name(path.name) or (folder if by_folder else "") for path, folder in folders.items()}
