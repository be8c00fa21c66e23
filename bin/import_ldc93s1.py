#!/usr/bin/env python3
"""Import one recording with a transcript file in TIMIT's format.

    import_ldc93s1.py OUT WAV TRANSCRIPT

writes OUT/ldc93s1.csv, a corpus of that one utterance, and prints its transcript as it stands there: without the sample
numbers that TRANSCRIPT begins with, and otherwise as the trainer's --normalize_transcripts writes it.
"""

from pathlib import Path

from deepspeech.cli.arguments import ArgumentParser, output_path, run_script
from deepspeech.util.importing.ldc93s1 import import_recording


def main() -> None:
    """Write the CSV and print the transcript."""
    parser = ArgumentParser(__doc__)
    parser.add_argument("out", type=output_path, help="the folder of the CSV")
    parser.add_argument("wav", type=Path, help="the recording")
    parser.add_argument("transcript", type=Path, help="the text file with its transcript")
    arguments = parser.parse_args()
    print(import_recording(arguments.out, arguments.wav, arguments.transcript))


if __name__ == "__main__":
    run_script(main)
