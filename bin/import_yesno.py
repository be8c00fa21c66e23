#!/usr/bin/env python3
"""Import the yesno recordings: one man saying eight times yes or no in Hebrew, 60 times over, 8 kHz.

    import_yesno.py OUT [--from FOLDER]

writes OUT/train.csv, OUT/dev.csv and OUT/test.csv. Without FOLDER, the recordings are downloaded into OUT. A file's
name gives its words, 1 for yes and 0 for no: 0_1_1_0_0_0_1_1.wav. In the order of their names, every second recording,
from the first on, is for the test. Every sixth of the others is for validation, and the rest for training.

One name is wrong: in 0_1_0_1_0_0_0_0.wav the last word is not spoken. It is nevertheless a training recording.
"""

from deepspeech.cli.arguments import run_script
from deepspeech.cli.importing.corpus import run_importer


def main() -> None:
    """Write the three CSVs."""
    run_importer("yesno", __doc__)


if __name__ == "__main__":
    run_script(main)
