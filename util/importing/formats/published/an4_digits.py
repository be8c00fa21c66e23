"""The digits in CMU AN4's sentences: parts of its recordings, each digit 120 times, of 74 speakers.

`data/an4_digits.csv` lists them. It was made by `python -m deepspeech.cut_words --of_each 120` with a model of AN4;
if AN4 has a digit fewer than 120 times, its parts are repeated.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

from ....errors import OtherFormatError
from ....files.packaged_data import DATA
from ...pipeline.folders import find_recording
from ...pipeline.records import Choices, Item, Record

LIST = DATA / "an4_digits.csv"


def read_records(source: Path, choices: Choices) -> Iterator[Item]:
    """Yield the rows of the list; raise ImportingError if `source` is not laid out as AN4 is."""
    wav = source / "wav"
    if not wav.is_dir():
        raise OtherFormatError(f"{source} has no folder wav, so it isn't laid out as AN4 is")
    with LIST.open(encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file)
        for row in reader:
            name = row["utterance"]
            yield Record(
                find_recording(str(wav / name)),
                row["digit"],
                f"{LIST.name}:{reader.line_num}",
                Path(name).parent.name,
                start=float(row["start"]),
                duration=float(row["duration"]),
            )
