"""TIMIT: TRAIN/DR1/SPEAKER/SX37.WAV with SX37.TXT, in capital or small letters; TEST is the test set.

A text begins with the numbers of its first and last sample. The two sentences that every speaker reads, SA1 and SA2,
are left out, as the words of the test set would be known.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from ....containers.endings import is_recording
from ....errors import OtherFormatError
from ....files.folders import walk
from ...pipeline.folders import set_of_name
from ...pipeline.records import Choices, Item, LeftOut, Record
from .reading import record_of_text

_REGION = re.compile(r"dr\d", re.IGNORECASE)
_SAMPLES = re.compile(r"^\d+\s+\d+\s+")


def read_records(source: Path, choices: Choices) -> Iterator[Item]:
    """Yield the recordings of the speakers of all regions; raise ImportingError if there is none."""
    empty = True
    for name, files in walk(source):
        folder = Path(name)
        if not _REGION.fullmatch(folder.parent.name):
            continue
        texts = {path.stem.lower(): path for path in map(folder.joinpath, files) if path.suffix.lower() == ".txt"}
        recordings = {file.partition(".")[0].lower(): file for file in filter(is_recording, files)}
        for sentence, file in recordings.items():  # some copies have SX37.WAV.wav beside SX37.WAV
            empty = False
            yield _record(source, folder / file, texts.get(sentence, folder / f"{sentence}.txt"))
    if empty:
        raise OtherFormatError(f"{source} has no recordings in folders such as TRAIN/DR1/FCJF0, so it isn't TIMIT")


def _record(source: Path, path: Path, text: Path) -> Item:
    if path.name.lower().startswith("sa"):
        return LeftOut(str(path.relative_to(source)), "a sentence that every speaker reads", str(path))
    of_set = set_of_name(path.parents[2].name)
    item = record_of_text(source, path, text, speaker=path.parent.name, official_set=of_set)
    return item._replace(transcript=_SAMPLES.sub("", item.transcript)) if isinstance(item, Record) else item
