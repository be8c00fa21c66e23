"""The yesno recordings: one man saying eight times yes or no in Hebrew, 60 times over, 8 kHz.

A file's name gives its words, 1 for yes and 0 for no: 0_1_1_0_0_0_1_1.wav. In the order of their names, every second
recording, from the first on, is for the test. Every sixth of the others is for validation, and the rest for training.

One name is wrong: in 0_1_0_1_0_0_0_0.wav the last word is not spoken. It is nevertheless a training recording.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from ....errors import OtherFormatError
from ....files.folders import files_below
from ...pipeline.records import DEV, TEST, TRAIN, Choices, Item, Record

WORDS = {"0": "no", "1": "yes"}
_TEST_STEP = 2  # every second recording
_DEV_STEP = 6  # every sixth of the others
_NAME = re.compile(r"[01](_[01]){7}\.wav")


def read_records(source: Path, choices: Choices) -> Iterator[Item]:
    """Yield the recordings in a folder and below whose names are such words; raise ImportingError for none."""
    found = [path for path in files_below(source) if _NAME.fullmatch(path.name)]
    if not found:
        raise OtherFormatError(f"{source} has no recording with a name such as 0_1_1_0_0_0_1_1.wav, so it isn't yesno")
    for place, path in enumerate(sorted(found, key=lambda path: path.name)):
        transcript = " ".join(WORDS[letter] for letter in path.stem.split("_"))
        yield Record(str(path), transcript, str(path.relative_to(source)), "", _set_of(place))


def _set_of(place: int) -> str:
    other, rest = divmod(place, _TEST_STEP)
    if rest == 0:
        return TEST
    return DEV if (other + 1) % _DEV_STEP == 0 else TRAIN
