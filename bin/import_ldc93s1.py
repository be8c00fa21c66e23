#!/usr/bin/env python3
"""Import one recording with a transcript file in the manner of TIMIT.

    import_ldc93s1.py OUT WAV TRANSCRIPT

writes OUT/ldc93s1.csv, a corpus of that one utterance, and prints its transcript as it stands there: without the sample
numbers that TRANSCRIPT begins with, in small letters, without punctuation other than the apostrophe.
"""

import re
from pathlib import Path

from corpus_csv import write_corpus
from script import ArgumentParser, ScriptError, run


def normalize(line: str) -> str:
    """Return the words of a transcript line, '0 46797 She had.' -> 'she had'."""
    spoken = re.sub(r"^\s*\d+\s+\d+\s", "", line).lower()
    return " ".join(re.sub(r"[^\w\s']", " ", spoken).split())


def main() -> None:
    """Write the CSV and print the transcript."""
    parser = ArgumentParser(__doc__)
    parser.add_argument("out", type=Path, help="the folder of the CSV")
    parser.add_argument("wav", type=Path, help="the recording")
    parser.add_argument("transcript", type=Path, help="the text file with what is said in it")
    arguments = parser.parse_args()
    text = normalize(arguments.transcript.read_text(encoding="utf-8"))
    if not text:
        raise ScriptError(f"{arguments.transcript} has no words in it")
    write_corpus(arguments.out / "ldc93s1.csv", [(arguments.wav, text)])
    print(text)


if __name__ == "__main__":
    run(main)
