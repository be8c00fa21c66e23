#!/usr/bin/env python3
"""Import the Free Spoken Digit Dataset: single English digits, spoken by a handful of people, 8 kHz.

    import_fsdd.py OUT [--from FOLDER]

writes OUT/train.csv, OUT/dev.csv and OUT/test.csv. Without FOLDER, the recordings are downloaded into OUT. A recording
is named DIGIT_SPEAKER_TAKE.wav. Takes 0 to 4 are for the test, 5 to 9 for validation, the others for
training, so every speaker is in every set.

The release is 1.0.9, with five speakers and 50 takes of each digit. The host packs its archive on request. If the host
ever packs it differently, the checksum does not match; then give the new one with --sha256.
"""

from deepspeech.cli.arguments import run_script
from deepspeech.cli.importing.corpus import run_importer


def main() -> None:
    """Write the three CSVs."""
    run_importer("fsdd", __doc__)


if __name__ == "__main__":
    run_script(main)
