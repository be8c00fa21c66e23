"""The Free Spoken Digit Dataset: single English digits, spoken by a handful of people, 8 kHz.

A recording is named DIGIT_SPEAKER_TAKE.wav. Takes 0 to 4 are for the test, 5 to 9 for validation, the others for
training, so every speaker is in every set. The release is 1.0.9, with five speakers and 50 takes of each digit.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from ....errors import OtherFormatError
from ....files.folders import files_below
from ...pipeline.records import DEV, TEST, TRAIN, Choices, Item, Record

WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
TEST_TAKES, DEV_TAKES = range(0, 5), range(5, 10)
_NAME = re.compile(r"(?P<digit>[0-9])_(?P<speaker>[a-z]+)_(?P<take>[0-9]+)\.wav")


def read_records(source: Path, choices: Choices) -> Iterator[Item]:
    """Yield the recordings in a folder and below whose names are those of digits; raise ImportingError for none."""
    empty = True
    for path in files_below(source):
        if name := _NAME.fullmatch(path.name):
            empty = False
            word, where = WORDS[int(name["digit"])], str(path.relative_to(source))
            yield Record(str(path), word, where, name["speaker"], _set_of(int(name["take"])))
    if empty:
        raise OtherFormatError(f"{source} has no recording with a name such as 7_ann_12.wav, so it isn't fsdd")


def _set_of(take: int) -> str:
    if take in TEST_TAKES:
        return TEST
    return DEV if take in DEV_TAKES else TRAIN
