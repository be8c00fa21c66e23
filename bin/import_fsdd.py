#!/usr/bin/env python3
"""Import the Free Spoken Digit Dataset: single English digits, spoken by a handful of people, 8 kHz.

    import_fsdd.py OUT [--from FOLDER]

writes OUT/train.csv, OUT/dev.csv and OUT/test.csv. The recordings are those in FOLDER, or else are downloaded into OUT.
A recording is named DIGIT_SPEAKER_TAKE.wav: takes 0 to 4 are for the test, 5 to 9 for validation, the others for
training, so every speaker is in every set.

The release is 1.0.9, of five speakers with 50 takes of each digit. Its archive is packed by the host when it is asked
for; should it ever be packed in another way, the checksum will not match and --sha256 takes the new one.
"""

from deepspeech.cli.arguments import run_script
from deepspeech.cli.importing.archive import run_importer
from deepspeech.util.importing.fsdd import FSDD, import_corpus


def main() -> None:
    """Write the three CSVs."""
    run_importer(__doc__, import_corpus, FSDD)


if __name__ == "__main__":
    run_script(main)
