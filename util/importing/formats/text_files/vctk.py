"""VCTK: wav48*/SPEAKER/SPEAKER_001*.flac or .wav, and txt/SPEAKER/SPEAKER_001.txt.

Of the two microphones of the later releases, the first is used, and the second where there is only that.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from ....containers.endings import is_recording
from ....errors import ImportingError, OtherFormatError
from ....files.folders import walk
from ...pipeline.records import Choices, Item
from .reading import record_of_text

_MICROPHONE = re.compile(r"_mic[12]$")


def read_records(source: Path, choices: Choices) -> Iterator[Item]:
    """Yield a recording of each sentence; raise ImportingError if the folder has another layout."""
    recordings = sorted(path for path in source.glob("wav48*") if path.is_dir())
    if not recordings or not (source / "txt").is_dir():
        raise OtherFormatError(f"{source} has no wav48/ with txt/, so it isn't VCTK")
    empty = True
    for folder, files in walk(recordings[0]):
        by_sentence: dict[str, str] = {}
        for file in filter(is_recording, files):  # in order, so that the first microphone is met first
            by_sentence.setdefault(_sentence(file), file)
        speaker = Path(folder).name
        for sentence, file in by_sentence.items():
            empty = False
            text = source / "txt" / speaker / f"{sentence}.txt"
            yield record_of_text(source, Path(folder, file), text, speaker=speaker)
    if empty:
        raise ImportingError(f"{recordings[0]} has no recordings")


def _sentence(file: str) -> str:
    return _MICROPHONE.sub("", file.rpartition(".")[0])
