"""Texts in other folders than their recordings: wav/ann/1.wav with txt/ann/1.txt, or names that occur only once."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from functools import cached_property
from pathlib import Path

from ....containers.endings import is_recording
from ....corpus_files.lookup import Lookup
from ....files.folders import walk

_Parts = tuple[str, ...]
_RECORDING, _TEXT = "recording/", "text/"


class ParallelFolders:
    """Finds texts in the folders below a folder that hold no recordings themselves."""

    def __init__(self, source: Path, endings: Collection[str], with_language: re.Pattern[str]) -> None:
        """Take the endings of texts, in lower case, without the dot, and the form of names that tell a language.

        The first group of this form is the name of the recording.
        """
        self._with_language = with_language
        self._source = source
        self._endings = endings
        self._alike = Lookup()
        """By the key of an entry of `_by_rest` and the name of a recording: whether several folders have it."""
        self._looked_at: set[tuple[int, _Parts]] = set()
        self._beside: dict[Path, bool] = {}
        self._distinct: dict[tuple[str, Path], bool] = {}

    def find(self, recording: Path, names: Iterable[str], *, anywhere: bool = True) -> list[Path]:
        """Return the files with one of these names in folders whose path differs from the recording's by one folder.

        At most one of each folder is returned: the first in the order of the names. None is returned for recordings of
        one name in several folders that differ in the same way, as one text cannot be that of all of them, and none if
        others in its folder have their texts beside them, as its own is then missing. If no folder is laid out so, a
        file `anywhere` is returned if nothing else can be meant.
        """
        if not self._has_texts:
            return []
        names = tuple(names)
        own = recording.parent.relative_to(self._source).parts
        found = []
        for place in range(len(own)):
            key = place, _without(own, place)
            texts, _ = self._by_rest.get(key, ([], []))
            if texts and self._is_alone(key, recording) and not self._is_beside_texts(recording.parent):
                found += [path for folder in texts for path in _first_of(names, folder)]
        return found or (self._find_anywhere(recording, names) if anywhere else [])

    def find_of_languages(self, recording: Path) -> list[Path]:
        """Return the files as `find` does whose names tell their language, as in subtitles/1.ar.vtt of audio/1.wav."""
        endings = self._endings_of_languages if self._has_texts else ()
        return [path for ending in endings for path in self.find(recording, [f"{recording.stem}{ending}"])]

    @cached_property
    def _endings_of_languages(self) -> list[str]:
        """The endings of all names that tell a language, with it."""
        found = (self._with_language.fullmatch(file) for _, files in walk(self._source) for file in files)
        return sorted({match.string[match.end(1) :] for match in found if match})

    def _is_alone(self, key: tuple[int, _Parts], recording: Path) -> bool:
        """Return whether no other folder of recordings of this entry of `_by_rest` has a recording of the same name."""
        _, folders = self._by_rest[key]
        if len(folders) > 1 and key not in self._looked_at:
            self._looked_at.add(key)
            for folder in folders:
                for stem in self._stems(_RECORDING, _names_in(folder)):
                    name = f"{key} {stem}"
                    self._alike.put(name, "" if self._alike.get(name) is None else "several")
        return len(folders) == 1 or not self._alike.get(f"{key} {_stem(recording.name)}")

    def _find_anywhere(self, recording: Path, names: Iterable[str]) -> list[Path]:
        """Return the file with one of these names in the only folder that has one.

        No other folder may have a recording, or a text, of the name of any that is in the same folder as these two: if
        some are missing, one speaker's 10.txt could be taken for the text of another's 10.wav.
        """
        folders = (self._folders.get(f"{_TEXT}{stem}") for stem in dict.fromkeys(map(_stem, names)))
        folder = next(filter(None, folders), None)
        if not folder or self._has_own_texts:
            return []
        is_clear = self._is_distinct(recording.parent, _RECORDING) and self._is_distinct(Path(folder), _TEXT)
        return _first_of(names, Path(folder)) if is_clear else []

    def _is_distinct(self, folder: Path, kind: str) -> bool:
        """Return whether no other folder has a recording, or text, of the name of one in this folder."""
        if (kind, folder) not in self._distinct:
            stems = self._stems(kind, _names_in(folder))
            self._distinct[kind, folder] = all(self._folders.get(f"{kind}{stem}") for stem in stems)
        return self._distinct[kind, folder]

    def _stems(self, kind: str, files: Iterable[str]) -> set[str]:
        """Return the names of the recordings, or texts, among some files, without their endings."""
        if kind == _RECORDING:
            return {_stem(file) for file in files if is_recording(file)}
        return {_stem(file) for file in files if _ending(file) in self._endings}

    @cached_property
    def _folders(self) -> Lookup:
        """The folders of the texts and of the recordings, by their names; empty for names that several folders have."""
        return Lookup(
            (
                (f"{kind}{stem}", folder)
                for folder, files in walk(self._source)
                for kind in (_RECORDING, _TEXT)
                for stem in self._stems(kind, files)
            ),
            repeated="",
        )

    @cached_property
    def _has_texts(self) -> bool:
        """Whether there is any text."""
        return any(self._stems(_TEXT, files) for _, files in walk(self._source))

    def _is_beside_texts(self, folder: Path) -> bool:
        """Return whether a recording in this folder has a text beside it; JSON may be facts about it."""
        if folder not in self._beside:
            files = _names_in(folder)
            texts = self._stems(_TEXT, (file for file in files if _ending(file) != "json"))
            self._beside[folder] = not texts.isdisjoint(self._stems(_RECORDING, files))
        return self._beside[folder]

    @cached_property
    def _has_own_texts(self) -> bool:
        """Whether any recording has a text beside it, or in a folder that is parallel to its own."""
        for texts, recordings in self._by_rest.values():
            stems = {stem for folder in texts if recordings for stem in self._stems(_TEXT, _names_in(folder))}
            for folder in recordings:
                if self._is_beside_texts(folder) or not stems.isdisjoint(self._stems(_RECORDING, _names_in(folder))):
                    return True
        return False

    @cached_property
    def _by_rest(self) -> dict[tuple[int, _Parts], tuple[list[Path], list[Path]]]:
        """Folders of texts and folders of recordings, by the place of one folder in their path, and the rest of it."""
        by_rest: defaultdict[tuple[int, _Parts], tuple[list[Path], list[Path]]] = defaultdict(lambda: ([], []))
        for name, files in walk(self._source):
            folder = Path(name)
            has_recordings = any(map(is_recording, files))
            if has_recordings or self._stems(_TEXT, files):
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


def _first_of(names: Iterable[str], folder: Path) -> list[Path]:
    """Return the first of these files that is in a folder, if there is one."""
    spellings = (name for each in names for name in _spellings(each))
    return [path for name in spellings if (path := folder / name).is_file()][:1]


def _names_in(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


def _stem(file: str) -> str:
    return file.rpartition(".")[0]


def _ending(file: str) -> str:
    return file.lower().rpartition(".")[2]


def _without(parts: _Parts, place: int) -> _Parts:
    return parts[:place] + parts[place + 1 :]
