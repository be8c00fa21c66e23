"""The Free Spoken Digit Dataset: single English digits, spoken by a handful of people, 8 kHz.

A recording is named DIGIT_SPEAKER_TAKE.wav. Takes 0 to 4 are for the test, 5 to 9 for validation, the others for
training, so every speaker is in every set. The release is 1.0.9, with five speakers and 50 takes of each digit.
"""

import re
from pathlib import Path

from ..progress import Report
from .archive import Archive, find_recordings, is_imported, write_sets

FSDD = Archive(
    url="https://github.com/Jakobovski/free-spoken-digit-dataset/archive/v1.0.9.tar.gz",
    sha256="8bc44cde129d505cbbb6b365c09f80c663f2aa77578afc634e6141a2f87100c0",
    recording=re.compile(r"[0-9]_[a-z]+_[0-9]+\.wav"),
    count=2500,
)
WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
TEST_TAKES, DEV_TAKES = range(0, 5), range(5, 10)


def import_corpus(out: Path, source: Path | None, report: Report, archive: Archive = FSDD) -> None:
    """Write OUT/train.csv, OUT/dev.csv and OUT/test.csv of the recordings in `source` or else in the archive.

    Raise ImportingError, or OSError.
    """
    if is_imported(out, source):
        return
    sets: dict[str, list[tuple[Path, str]]] = {"train": [], "dev": [], "test": []}
    for recording in find_recordings(archive, out, source, report):
        digit, _, take = recording.stem.split("_")
        sets[_choose_set(int(take))].append((recording, WORDS[int(digit)]))
    write_sets(out, sets, report)


def _choose_set(take: int) -> str:
    """Return the name of the set that a take belongs to."""
    if take in TEST_TAKES:
        return "test"
    return "dev" if take in DEV_TAKES else "train"
