"""The yesno recordings: one man saying eight times yes or no in Hebrew, 60 times over, 8 kHz.

A file's name gives its words, 1 for yes and 0 for no: 0_1_1_0_0_0_1_1.wav. In the order of their names, every second
recording, from the first on, is for the test. Every sixth of the others is for validation, and the rest for training.

One name is wrong: in 0_1_0_1_0_0_0_0.wav the last word is not spoken. It is nevertheless a training recording.
"""

import re
from pathlib import Path

from ..progress import Report
from .archive import Archive, find_recordings, is_imported, write_sets

YESNO = Archive(
    url="https://www.openslr.org/resources/1/waves_yesno.tar.gz",
    sha256="c3f49e0cca421f96b75b41640749167b52118f232498667ca7a5f9416aef8e73",
    recording=re.compile(r"[01](_[01]){7}\.wav"),
    count=60,
)
WORDS = {"0": "no", "1": "yes"}
TEST_STEP = 2  # every second recording
DEV_STEP = 6  # every sixth of the others


def import_corpus(out: Path, source: Path | None, report: Report, archive: Archive = YESNO) -> None:
    """Write OUT/train.csv, OUT/dev.csv and OUT/test.csv of the recordings in `source` or else in the archive.

    Raise ImportingError, or OSError.
    """
    if is_imported(out, source):
        return
    rows: list[tuple[Path, str]] = [
        (recording, " ".join(WORDS[letter] for letter in recording.stem.split("_")))
        for recording in find_recordings(archive, out, source, report)
    ]
    others = rows[1::TEST_STEP]
    sets = {
        "train": [row for number, row in enumerate(others, start=1) if number % DEV_STEP],
        "dev": others[DEV_STEP - 1 :: DEV_STEP],
        "test": rows[::TEST_STEP],
    }
    write_sets(out, sets, report)
