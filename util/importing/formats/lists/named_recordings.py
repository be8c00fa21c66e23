"""The recordings in a folder, found by the names that tables have for them."""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, suppress
from functools import cache
from itertools import count, takewhile
from pathlib import Path, PurePosixPath

from ....containers.endings import by_name_and_ending, is_recording
from ....corpus_files.lookup import Lookup
from ....files.folders import walk
from ...pipeline.folders import HEADERLESS, set_of_folders
from ...pipeline.records import TRAIN

SEVERAL = ""
"""Stands for the path where several recordings have a name."""


_IN_OTHER_CASE = "\0"
"""Comes before the small form of a name with capitals; no file has it."""
_OF_UPLOADS = re.compile(r"[0-9a-f]{8}-")
"""Label Studio puts such before the names of files that are uploaded."""
_USUAL = ("wav", "wavs")
"""Folders that are meant if a folder also has the same recordings in another form."""


class NamedRecordings:
    """Finds recordings by their paths, by the last two parts of these, or by their names, with or without an ending.

    If several have the name, the one of them that is in the table's own folder, or else in the nearest folder above it,
    is meant.
    """

    def __init__(self, source: Path) -> None:
        """Read the names of all recordings below a folder."""
        self._source = source
        self._sets: set[str] = set()
        self._all = Lookup(self._names(), repeated=SEVERAL)
        self._table = source
        self._near: dict[Path, Lookup] = {}
        """The recordings of folders at and above the current table."""
        self._near_stack = ExitStack()

    def __enter__(self) -> NamedRecordings:
        return self

    def __exit__(self, *error: object) -> None:
        self._all.__exit__(*error)
        self._near_stack.close()

    def find(self, table: Path, name: str, ends: Callable[[], int] = lambda: 1) -> str | None:
        """Return the path of the recording that a table names so; SEVERAL if it could be any of them.

        A recording elsewhere must have as many parts at the end of its path as the name has, and at most as `ends`
        returns; see `distinct_ends`. It is called only if these differ.
        """
        posix = PurePosixPath(unicodedata.normalize("NFC", name.strip().replace("\\", "/")))
        if not posix.name:
            return None
        for path in (table.parent.relative_to(self._source) / posix, posix):
            if found := self._all.get(str(path)):
                return found
        if found := _elsewhere(table, name.strip()):
            return found
        found = self._by_name(table, posix)
        if found is None:
            found = self._in_other_case(posix)
        return found if not found or _ends_alike(found, posix, ends) else None

    def set_of(self, recording: str) -> str:
        """Return the set that the folders of a recording name, if they name a set to train on and another one."""
        if not {TRAIN} < self._sets:
            return ""
        with suppress(ValueError):  # outside the folder
            return set_of_folders(Path(recording).relative_to(self._source).parts[:-1])
        return ""

    def _names(self) -> Iterator[tuple[str, str]]:
        for folder, recordings in _folders_of_recordings(self._source):
            relative = folder.relative_to(self._source)
            if official_set := set_of_folders(relative.parts):
                self._sets.add(official_set)
            above = f"{relative}/" if relative.parts else ""
            for stem, file in recordings:
                path = f"{folder}/{file}"
                named = {f"{above}{file}", f"{above}{stem}", *_short_names(folder.name, stem, file)}
                for name in {unicodedata.normalize("NFC", name) for name in named}:
                    yield name, path
                    if (folded := name.casefold()) != name:
                        yield _IN_OTHER_CASE + folded, path

    def _in_other_case(self, posix: PurePosixPath) -> str | None:
        """Return the recording whose name or path differs only in capitals, as on Windows."""
        paths = (str(posix), f"{posix.parent.name}/{posix.name}", posix.name)
        names = (prefix + path.casefold() for path in paths for prefix in (_IN_OTHER_CASE, ""))
        return next((found for name in names if (found := self._all.get(name)) is not None), None)

    def _by_name(self, table: Path, posix: PurePosixPath) -> str | None:
        """Return the recording by the ends of its path: the last two parts of it, and the last alone."""
        converted = posix.suffix.lower() in HEADERLESS
        last = (posix.name, posix.stem) if converted or is_recording(posix.name) else (posix.name,)
        last = (*last, *(_OF_UPLOADS.sub("", name) for name in last if _OF_UPLOADS.match(name)))
        names = [f"{posix.parent.name}/{name}" for name in last if posix.parent.name] + list(last)
        found = next(((name, path) for name in names if (path := self._all.get(name)) is not None), None)
        if found is None:
            return None
        name, path = found
        return self._nearest(table, name) if path == SEVERAL else path

    def _nearest(self, table: Path, name: str) -> str:
        if table != self._table:
            self._near_stack.close()
            self._near = {}
            self._table = table
        above = (table.parent, *table.parent.parents)
        own = (table.with_suffix(""),) if table.with_suffix("").is_dir() else ()
        for folder in (*own, *above[: above.index(self._source)]):
            if folder not in self._near:
                lookup = Lookup(_names_below(folder), repeated=SEVERAL)
                self._near[folder] = self._near_stack.enter_context(lookup)
            near = self._near[folder]
            if near.get(name) is not None:
                return near.get(name) or next(filter(None, (near.get(f"{each}/{name}") for each in _USUAL)), SEVERAL)
        return SEVERAL


def _ends_alike(path: str, name: PurePosixPath, ends: Callable[[], int]) -> bool:
    """Return whether the folders at the end of a path are those of a name, so far as `ends` includes them."""
    wanted = [part for part in name.parent.parts if part not in ("/", "..")]
    there = PurePosixPath(unicodedata.normalize("NFC", path)).parent.parts
    pairs = zip(reversed(there), reversed(wanted), strict=False)
    alike = sum(1 for _ in takewhile(lambda pair: pair[0].casefold() == pair[1].casefold(), pairs))
    return alike == len(wanted) or alike >= ends() - 1


def distinct_ends(folder: Path, names: Callable[[], Iterable[str]]) -> Callable[[], int]:
    """Return what tells with how many parts at their ends all paths of a list in a folder differ, 1 for the last parts.

    Where the folder of each speaker has a 001.wav, these are 2: that of one speaker must not be taken for that of
    another, whose folder is missing.
    """
    return cache(lambda: next(size for size in count(1) if _differ_at_ends(folder, names(), size)))


def _differ_at_ends(folder: Path, names: Iterable[str], size: int) -> bool:
    """Return whether paths that differ have different parts, `size` of them, at their ends."""
    with Lookup() as paths:
        for name in names:
            path = os.path.normpath(folder / name.strip().replace("\\", "/"))
            end = "/".join(path.rsplit("/", size)[-size:])
            found = paths.get(end)
            if found is None:
                paths.put(end, path)
            elif found != path:
                return False
    return True


def _folders_of_recordings(source: Path) -> Iterator[tuple[Path, list[tuple[str, str]]]]:
    """Yield the folders with recordings, each with the names of its recordings without and with their endings."""
    for folder, files in walk(source):
        by_stem: dict[str, str] = {}
        for file in sorted(filter(is_recording, files), key=by_name_and_ending):
            by_stem.setdefault(file.rpartition(".")[0], file)
        if by_stem:
            yield Path(folder), list(by_stem.items())


def _names_below(folder: Path) -> Iterator[tuple[str, str]]:
    for place, recordings in _folders_of_recordings(folder):
        for stem, file in recordings:
            for name in _short_names(place.name, stem, file):
                yield unicodedata.normalize("NFC", name), f"{place}/{file}"


def _short_names(folder: str, stem: str, file: str) -> set[str]:
    return {file, stem, f"{folder}/{file}", f"{folder}/{stem}"}


def _elsewhere(table: Path, name: str) -> str | None:
    """Return the path of a recording that a table names by its path, from the table's folder; None if it has none."""
    path = os.path.join(table.parent, name)  # noqa: PTH118 (as below)
    is_there = is_recording(name) and os.path.isfile(path)  # noqa: PTH113 (a Path raises errors for long names)
    return os.path.realpath(path) if is_there else None
