"""LibriSpeech: SET/SPEAKER/CHAPTER/*.trans.txt beside the recordings, such as train-clean-5 and dev-clean-2.

The names of the folders give the sets, and are kept in the column `subset`; if parts are chosen, other folders are
ignored. Transcripts are in upper case; they are converted to lower case. In Zeroth-Korean's SET/CHAPTER/SPEAKER, as in
LibriSpeech, the names of files begin with the speaker.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from ...errors import ImportingError, OtherFormatError
from ...files.folders import files_below
from ..pipeline.folders import find_recording, set_of_name
from ..pipeline.lines import read_lines
from ..pipeline.records import Choices, Item, Record

_TRANSCRIPTS = ".trans.txt"
_FIRST_NAME = re.compile("[-_.]")
"""Ends the speaker in the name of a file."""


def read_records(source: Path, choices: Choices) -> Iterator[Item]:
    """Yield the rows of the sets in a folder; the folder may also be a set itself.

    Raise ImportingError if it is neither, or lacks one of the chosen parts.
    """
    missing = dict.fromkeys(choices.parts)
    empty = True
    for path in files_below(source):
        subset = path.parent.parent.parent.name
        if path.name.endswith(_TRANSCRIPTS) and (subset in choices.parts or not choices.parts):
            empty = False
            missing.pop(subset, None)
            yield from _read_chapter(path, subset)
    if missing:
        raise ImportingError(f"{source} has no folder {next(iter(missing))}; download that part, or leave it out")
    if empty:
        lacks = f"{source} has no *{_TRANSCRIPTS} in its folders"
        raise OtherFormatError(f"{lacks}, so it isn't laid out as LibriSpeech is")


def _read_chapter(path: Path, subset: str) -> Iterator[Item]:
    folder = path.parent
    speaker = folder.name if _FIRST_NAME.split(path.name)[0] == folder.name else folder.parent.name
    for where, line in read_lines(path):
        name, _, transcript = line.partition(" ")
        recording = find_recording(str(folder / name))
        yield Record(recording, transcript.lower(), where, speaker, set_of_name(subset), columns={"subset": subset})
