"""THCHS-30: train/, dev/ and test/ with *.wav and *.wav.trn, which may be a line that names a file in ../data.

The first of a transcript's three lines, the characters, is used, without the spaces between words; the second becomes
the column `pinyin`. A recording is named SPEAKER_NUMBER.wav. If the folders of the sets are missing, data/ is read.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ...containers.endings import is_recording
from ...errors import OtherFormatError
from ...files.folders import files_below
from ...transcripts import has_unspaced
from ..pipeline.records import SETS, Choices, Item, LeftOut, Record
from .annotations.transcripts import follow_links

_TRANSCRIPT = ".wav.trn"
"""The ending of a transcript, also where the recordings were converted to another format."""


def read_records(source: Path, choices: Choices) -> Iterator[Item]:
    """Yield the recordings of the sets with a *.trn; raise ImportingError if there are none."""
    sets = [name for name in SETS if (source / name).is_dir()]
    folders = [source / name for name in sets] if sets else [source / "data"]
    empty = True
    for folder in folders:
        for path in files_below(folder):
            if not is_recording(path.name):
                continue
            item = _record(source, path, folder.name if sets else "")
            if empty and isinstance(item, Record) and not has_unspaced(item.transcript):
                raise OtherFormatError(f"{item.path}: its .wav.trn has no Chinese characters, so it isn't THCHS-30")
            empty = False
            yield item
    if empty:
        raise OtherFormatError(f"{source} has no recordings in train/, dev/, test/ or data/, so it isn't THCHS-30")


def _record(source: Path, path: Path, official_set: str) -> Item:
    where = str(path.relative_to(source))
    try:
        lines = follow_links(path.with_suffix(_TRANSCRIPT)).strip().splitlines()
    except (OSError, ValueError) as error:  # ValueError: not UTF-8, or a null character in the name of a link
        return LeftOut(where, "its transcript cannot be read", str(path), str(error))
    columns = {"pinyin": lines[1].strip()} if len(lines) > 1 else {}
    characters = "".join(lines[0].split()) if lines else ""
    return Record(str(path), characters, where, path.name.partition("_")[0], official_set, columns=columns)
