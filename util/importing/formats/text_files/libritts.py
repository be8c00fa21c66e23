"""LibriTTS: train-clean-100/SPEAKER/CHAPTER/*.wav, each with .normalized.txt, in which numbers are words."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ....containers.endings import is_recording
from ....errors import OtherFormatError
from ....files.folders import walk
from ...pipeline.folders import set_of_name
from ...pipeline.records import Choices, Item
from .reading import record_of_text

_TEXT = ".normalized.txt"


def read_records(source: Path, choices: Choices) -> Iterator[Item]:
    """Yield the recordings in folders that have such texts; raise ImportingError if there is none."""
    empty = True
    for name, files in walk(source):
        folder = Path(name)
        for file in filter(is_recording, files) if any(file.endswith(_TEXT) for file in files) else ():
            empty = False
            path = folder / file
            of_set = set_of_name(folder.parent.parent.name)
            yield record_of_text(source, path, path.with_suffix(_TEXT), speaker=folder.parent.name, official_set=of_set)
    if empty:
        raise OtherFormatError(f"{source} has no recordings with {_TEXT}, so it isn't LibriTTS")
