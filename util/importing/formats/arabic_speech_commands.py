"""Arabic Speech Commands: train.csv, val.csv and test.csv with the columns file and class.

The transcript is the Arabic word for a class in keywords.tsv, or the class's own name if there is no such file.
A recording is named SPEAKER_NO_TAKE.wav.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ...errors import OtherFormatError
from ..pipeline.folders import set_of_name
from ..pipeline.lines import read_lines
from ..pipeline.records import Choices, Item, LeftOut, Record

_LISTS = ("train.csv", "val.csv", "test.csv")
_WORDS = "keywords.tsv"
_HEADER = ("file", "class")


def read_records(source: Path, choices: Choices) -> Iterator[Item]:
    """Yield the rows of all lists; raise ImportingError if there are none."""
    lists = [path for name in _LISTS if (path := source / name).is_file() and _begins_as_published(path)]
    if not lists:
        lacks = f"{source} has no {', '.join(_LISTS)} that begins with {','.join(_HEADER)}"
        raise OtherFormatError(f"{lacks}, so it isn't Arabic Speech Commands")
    known = (source / _WORDS).is_file()
    words = dict(line.split("\t")[:2] for _, line in read_lines(source / _WORDS) if "\t" in line) if known else {}
    for path in lists:
        for where, line in read_lines(path):
            file, _, name = line.partition(",")
            if (file, name) == _HEADER:
                continue
            if known and name not in words:
                yield LeftOut(where, f"a class that {_WORDS} lacks", file, name)
                continue
            speaker = Path(file).name.partition("_")[0]
            word = words.get(name, name)
            columns = {"class": name} if known else {}
            yield Record(str(source / file), word, where, speaker, set_of_name(path.stem), columns=columns)


def _begins_as_published(path: Path) -> bool:
    _, line = next(read_lines(path), ("", ""))
    return line == ",".join(_HEADER)
