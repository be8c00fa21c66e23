"""LibriSpeech: SET/SPEAKER/CHAPTER/*.trans.txt beside the recordings, such as train-clean-5 and dev-clean-2.

The sets are those of the folders' names, which stay in the column `subset`. Transcripts are all capitals; they become
small letters.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ...errors import ImportingError
from ..pipeline.folders import find_recording, set_of_name, walk
from ..pipeline.lines import read_lines
from ..pipeline.records import Choices, Item, Record

_TRANSCRIPTS = ".trans.txt"


def read_records(source: Path, choices: Choices) -> Iterator[Item]:
    """Yield the rows of all sets in a folder, or of the set that the folder is; raise ImportingError if it is none."""
    empty = True
    for name, files in walk(source):
        for file in files:
            if file.endswith(_TRANSCRIPTS):
                empty = False
                yield from _read_chapter(Path(name, file))
    if empty:
        raise ImportingError(f"{source} has no *{_TRANSCRIPTS} in its folders, so it isn't laid out as LibriSpeech is")


def _read_chapter(path: Path) -> Iterator[Item]:
    subset, speaker = path.parts[-4:-2]
    for where, line in read_lines(path):
        name, _, transcript = line.partition(" ")
        recording = find_recording(str(path.parent / name))
        yield Record(recording, transcript.lower(), where, speaker, set_of_name(subset), columns={"subset": subset})
