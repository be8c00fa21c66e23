"""Speakers that folders name, as the recordings in them or the folders above them show.

The names of recordings repeat those of their folders, as in G0002/T0055G0002S0001.wav of AISHELL-2, aidatatang_200zh,
ALFFA, CMU Kids, MyST, VIVOS and many others; or most folders have the texts of the first, which all speakers read, as
in CETUC, CMU ARCTIC and L2-ARCTIC; or the folders are in those of women and of men, as in M-AILABS. Folders that are
named after what is said in all their recordings are not those of speakers.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import PurePath

from .columns import are_facts
from .folders import set_of_name
from .records import Record

FEWEST = 8
"""So many folders with several recordings show that they are speakers, not the books or microphones of a few."""
MOST = 100_000
"""More folders, as where each recording has one of its own, are not those of speakers, and would take much memory."""
_MOST_READERS, _MOST_TEXTS = 5000, 10_000
"""As many folders, and different texts of the first, are looked at for folders with the same texts."""
_HIGHEST = 3
"""The most folders that may lead from a speaker's folder to a recording, and one."""
_GENDERS = ("female", "male", "women", "men")
_OF_SEVERAL = "mix"
"""M-AILABS has this folder beside female and male; its books are read by several people."""


@dataclass
class _Folder:
    """What is known of a folder: its first row, whether others differ from it, and whose texts it has."""

    path: str
    transcript: str
    has_several: bool = False
    differs: bool = False
    rows: int = 0
    shared: int = 0
    """The rows with a text that the first folder has, too."""


@dataclass
class _Height:
    """The folders of one height above recordings."""

    folders: dict[str, _Folder] = field(default_factory=dict)
    texts: set[int] = field(default_factory=set)
    """Hashes of the texts of the first folder."""
    are_repeated: bool = True
    """Whether the names of recordings repeat those of these folders."""
    have_genders: bool = True
    """Whether the folders are in those of women and of men."""

    def add(self, record: Record, name: str, above: str) -> None:
        """Take a record into account; `above` is the name of the folder above its folder of this height."""
        self.are_repeated = self.are_repeated and _repeats(PurePath(record.path).stem, name)
        self.have_genders = self.have_genders and (above.lower() in _GENDERS or name == _OF_SEVERAL)
        folder = self.folders.get(name)
        if folder is None:
            folder = self.folders[name] = _Folder(record.path, record.transcript)
        folder.has_several |= record.path != folder.path
        folder.differs |= record.transcript != folder.transcript
        folder.rows += 1
        if len(self.folders) == 1 and len(self.texts) <= _MOST_TEXTS:
            self.texts.add(hash(record.transcript))
        folder.shared += hash(record.transcript) in self.texts

    @property
    def are_too_many(self) -> bool:
        """Whether there are more folders, or texts of the first, than speakers have; looking on would take long."""
        if self.are_repeated or self.have_genders:
            return len(self.folders) > MOST
        return len(self.folders) > _MOST_READERS or len(self.texts) > _MOST_TEXTS

    def are_speakers(self) -> bool:
        """Return whether these folders are those of speakers."""
        large = [folder for folder in self.folders.values() if folder.has_several]
        if self.have_genders and len(large) > 1:
            return not (any(map(set_of_name, self.folders)) or are_facts(self.folders))
        if len(large) < FEWEST or not all(folder.differs for folder in large):
            return False
        alike = sum(2 * folder.shared > folder.rows for folder in large)
        return self.are_repeated or 2 * alike > len(large)


class FoldersOfSpeakers:
    """Looks at all records of a corpus without speakers, and then tells the speakers."""

    def __init__(self) -> None:
        """Begin with folders of all heights above recordings, of which fewer and fewer may be those of speakers."""
        self._heights = {height: _Height() for height in range(1, _HIGHEST + 1)}

    def add(self, record: Record) -> None:
        """Take a record into account; one that has a speaker, or no such folder, settles the matter."""
        if not self._heights:
            return
        if record.speaker:
            self._heights = {}
            return
        parts = _parts(record)
        for height, folders in tuple(self._heights.items()):
            if folders.are_too_many or len(parts) <= height + 1:
                del self._heights[height]
            else:
                folders.add(record, parts[-1 - height], parts[-2 - height])

    def height(self) -> int:
        """Return how many folders above its recordings a speaker's is; 0 if folders do not tell the speakers."""
        return max((height for height, folders in self._heights.items() if folders.are_speakers()), default=0)


def with_speaker(record: Record, height: int) -> Record:
    """Return a record with the speaker that its folder of this height names; unchanged if that is 0."""
    return record._replace(speaker=_parts(record)[-1 - height]) if height else record


def _parts(record: Record) -> list[str]:
    return record.path.split(os.sep)  # noqa: PTH206 (a Path takes longer)


def _repeats(text: str, name: str) -> bool:
    """Return whether a text has a name that is no part of a longer number or word in it."""
    place = text.find(name) if name else -1
    while place >= 0:
        before, after = text[:place][-1:], text[place + len(name) :][:1]
        if _kind(before) != _kind(name[0]) and _kind(after) != _kind(name[-1]):
            return True
        place = text.find(name, place + 1)
    return False


def _kind(character: str) -> str:
    return "number" if character.isdigit() else "word" if character.isalpha() else character
