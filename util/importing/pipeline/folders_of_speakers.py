"""Speakers that folders name, where the names of recordings repeat those of their folders: G0002/T0055G0002S0001.wav.

So it is in AISHELL-2, aidatatang_200zh, ALFFA, CMU Kids, MyST, VIVOS and many others. Folders that are named after what
is said in all their recordings are not those of speakers.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePath

from .records import Record

FEWEST = 8
"""So many folders with several recordings show that they are speakers, not the books or microphones of a few."""
MOST = 100_000
"""More folders, as where each recording has one of its own, are not those of speakers, and would take much memory."""
_HIGHEST = 3
"""The most folders that may lead from a speaker's folder to a recording, and one."""


@dataclass
class _Folder:
    """What is known of a folder: its first row, and whether others differ from it."""

    path: str
    transcript: str
    has_several: bool = False
    differs: bool = False


class FoldersOfSpeakers:
    """Looks at all records of a corpus without speakers, and then tells the speakers."""

    def __init__(self) -> None:
        """Begin with folders of all heights above recordings, of which fewer and fewer may be those of speakers."""
        self._folders: dict[int, dict[str, _Folder]] = {height: {} for height in range(1, _HIGHEST + 1)}

    def add(self, record: Record) -> None:
        """Take a record into account; one that has a speaker, or no folder with its name, settles the matter."""
        if not self._folders:
            return
        if record.speaker:
            self._folders = {}
            return
        for height in tuple(self._folders):
            name = _folder_of(record, height)
            if len(self._folders[height]) > MOST or not _repeats(PurePath(record.path).stem, name):
                del self._folders[height]
                continue
            folder = self._folders[height].setdefault(name, _Folder(record.path, record.transcript))
            folder.has_several |= record.path != folder.path
            folder.differs |= record.transcript != folder.transcript

    def height(self) -> int:
        """Return how many folders above its recordings a speaker's is; 0 if folders do not tell the speakers."""
        return max((height for height, folders in self._folders.items() if _are_speakers(folders)), default=0)


def with_speaker(record: Record, height: int) -> Record:
    """Return a record with the speaker that its folder of this height names; unchanged if that is 0."""
    return record._replace(speaker=_folder_of(record, height)) if height else record


def _are_speakers(folders: dict[str, _Folder]) -> bool:
    large = [folder for folder in folders.values() if folder.has_several]
    return len(large) >= FEWEST and all(folder.differs for folder in large)


def _folder_of(record: Record, height: int) -> str:
    parts = PurePath(record.path).parts
    return parts[-1 - height] if len(parts) > height else ""


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
