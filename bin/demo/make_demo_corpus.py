#!/usr/bin/env python3
"""Synthesize a small speech corpus: espeak-ng reads sentences of a grammar aloud, in many voices.

    make_demo_corpus.py OUT

writes OUT/train.csv, OUT/dev.csv and OUT/test.csv and their 16 kHz 16-bit mono recordings. No sentence is in two of the
sets, and the voices of the test set are in no other set. The same settings and the same release of espeak-ng give the
same corpus, byte for byte. A folder that already holds the complete corpus is left unchanged.
"""

from pathlib import Path

from deepspeech.cli.arguments import ArgumentParser, run_script
from deepspeech.errors import FlagError
from deepspeech.util.importing.demo import GRAMMAR, SEED, SIZES, make_corpus
from deepspeech.util.progress import report


def main() -> None:
    """Read the arguments and make the corpus, unless it exists."""
    parser = ArgumentParser(__doc__)
    parser.add_argument("out", type=Path, help="the folder of the corpus")
    parser.add_argument(
        "--grammar", type=Path, default=GRAMMAR, help="grammar of what is said (default: data/demo/grammar.txt)"
    )
    parser.add_argument("--seed", type=int, default=SEED, help="seed of what is drawn at random (default: %(default)s)")
    for name, count in SIZES.items():
        parser.add_argument(f"--{name}", type=int, default=count, help=f"{name} utterances (default: %(default)s)")
    arguments = parser.parse_args()
    sizes = {name: getattr(arguments, name) for name in SIZES}
    if min(sizes.values()) < 1:
        raise FlagError("--train, --dev and --test must be at least 1")
    make_corpus(arguments.out, report, arguments.grammar, arguments.seed, sizes)


if __name__ == "__main__":
    run_script(main)
