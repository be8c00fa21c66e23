#!/usr/bin/env python3
"""Import the Free Spoken Digit Dataset: single English digits, spoken by a handful of people, 8 kHz.

    import_fsdd.py OUT [--from FOLDER]

writes OUT/train.csv, OUT/dev.csv and OUT/test.csv. The recordings are those in FOLDER, or else are downloaded into OUT.
A recording is named DIGIT_SPEAKER_TAKE.wav: takes 0 to 4 are for the test, 5 to 9 for validation, the others for
training, so every speaker is in every set.

The release is 1.0.9, of five speakers with 50 takes of each digit. Its archive is packed by the host when it is asked
for; should it ever be packed in another way, the checksum will not match and --sha256 takes the new one.
"""

import re
from pathlib import Path

from import_archive import Archive, find_recordings, read_arguments, write_sets
from script import run

FSDD = Archive(
    url="https://github.com/Jakobovski/free-spoken-digit-dataset/archive/v1.0.9.tar.gz",
    sha256="8bc44cde129d505cbbb6b365c09f80c663f2aa77578afc634e6141a2f87100c0",
    recording=re.compile(r"[0-9]_[a-z]+_[0-9]+\.wav"),
    count=2500,
)
WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
TEST_TAKES, DEV_TAKES = range(0, 5), range(5, 10)


def choose_set(take: int) -> str:
    """Return the name of the set that a take belongs to."""
    if take in TEST_TAKES:
        return "test"
    return "dev" if take in DEV_TAKES else "train"


def main() -> None:
    """Write the three CSVs."""
    arguments = read_arguments(__doc__, FSDD)
    sets: dict[str, list[tuple[Path, str]]] = {"train": [], "dev": [], "test": []}
    for recording in find_recordings(arguments):
        digit, _, take = recording.stem.split("_")
        sets[choose_set(int(take))].append((recording, WORDS[int(digit)]))
    write_sets(arguments.out, sets)


if __name__ == "__main__":
    run(main)
