"""Texts in other folders than their recordings: wav/ann/1.wav with txt/ann/1.txt, or names that occur only once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from functools import cached_property
from pathlib import Path

from ....containers.endings import is_recording
from ....corpus_files.lookup import Lookup
from ....files.folders import walk

_Parts = tuple[str, ...]


class ParallelFolders:
    """Finds texts in the folders below a folder that hold no recordings themselves."""

    def __init__(self, source: Path, endings: Collection[str]) -> None:
        """Take the endings of texts, in lower case, without the dot."""
        self._source = source
        self._endings = endings

    def find(self, recording: Path, names: Iterable[str]) -> list[Path]:
        """Return the files with one of these names in folders whose path differs from the recording's by one folder.

        At most one of each folder is returned: the first in the order of the names. None is returned for recordings of
        one name in several folders that differ in the same way, as one text cannot be that of all of them.
        """
        names = tuple(name for each in names for name in _spellings(each))
        own = recording.parent.relative_to(self._source).parts
        found = []
        for place in range(len(own)):
            texts, recordings = self._by_rest.get((place, _without(own, place)), ([], []))
            here = [folder for folder in recordings if texts and (folder / recording.name).is_file()]
            for folder in texts if len(here) == 1 else ():
                found += [path for name in names if (path := folder / name).is_file()][:1]
        return found or self._find_by_name(recording, names)

    def _find_by_name(self, recording: Path, names: Iterable[str]) -> list[Path]:
        """Return the only file with the first of these names that occurs, if no other recording has the same name."""
        path = next(filter(None, map(self._by_name.get, names)), None)
        return [Path(path)] if path and self._by_name.get(recording.name) == str(recording) else []

    @cached_property
    def _by_name(self) -> Lookup:
        """The paths of the texts and recordings, by their names; empty for names that occur several times."""
        return Lookup(
            (
                (file, str(Path(folder, file)))
                for folder, files in walk(self._source)
                for file in files
                if is_recording(file) or file.lower().rpartition(".")[2] in self._endings
            ),
            repeated="",
        )

    @cached_property
    def _by_rest(self) -> dict[tuple[int, _Parts], tuple[list[Path], list[Path]]]:
        """Folders of texts and folders of recordings, by the place of one folder in their path, and the rest of it."""
        by_rest: defaultdict[tuple[int, _Parts], tuple[list[Path], list[Path]]] = defaultdict(lambda: ([], []))
        for name, files in walk(self._source):
            folder = Path(name)
            has_recordings = any(map(is_recording, files))
            if has_recordings or any(file.lower().rpartition(".")[2] in self._endings for file in files):
                parts = folder.relative_to(self._source).parts
                for place in range(len(parts)):
                    by_rest[place, _without(parts, place)][has_recordings].append(folder)
        return by_rest


def _spellings(name: str) -> Iterator[str]:
    """Yield a name with a small ending, and with the other usual forms of the ending."""
    stem, _, ending = name.rpartition(".")
    yield from (name, f"{stem}.{ending.upper()}")
    if ending == "textgrid":
        yield f"{stem}.TextGrid"


def _without(parts: _Parts, place: int) -> _Parts:
    return parts[:place] + parts[place + 1 :]
