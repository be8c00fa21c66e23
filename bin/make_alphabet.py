#!/usr/bin/env python3
"""Make the alphabet of transcripts: count their characters, and write each as a label.

    make_alphabet.py CSV... --to alphabet.txt [--normalize_transcripts] [--least 5] [--force]

Prints the characters by how often they occur, with code point and name; of each rare one also a row that has it, as
such characters are often mistakes. Give the flags --normalize_transcripts, --transcript_case, --keep_punctuation and
--write_out_numbers as to the trainer, and the characters are those that it sees. The space is the first label, and the
others follow by their code points.
"""

import unicodedata
from argparse import Namespace
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from deepspeech.cli.arguments import ArgumentParser, add_transcript_flags, chosen_normalizer, run_script
from deepspeech.errors import CorpusError, FlagError
from deepspeech.util.checks.transcripts import odd_characters, unspoken
from deepspeech.util.corpus_rows import read_transcripts
from deepspeech.util.files.whole_files import write_whole
from deepspeech.util.progress import report
from deepspeech.util.text import Alphabet, describe

RARE = 5
"""Characters that occur less often are shown with an example."""
EXAMPLE_LENGTH = 60
LINE_BREAKS = "\n\r"
"""What an alphabet file cannot hold as labels."""
CARRIER = "\u25cc"
"""A dotted circle, on which a combining character is shown."""


def read_arguments() -> Namespace:
    """Return the command line's arguments."""
    parser = ArgumentParser(__doc__)
    parser.add_argument("csv_files", type=Path, nargs="+", metavar="CSV", help="corpora, as the trainer reads them")
    parser.add_argument("--to", type=Path, required=True, help="the alphabet file to write")
    parser.add_argument("--least", type=int, default=1, help="leave out characters that occur less often")
    parser.add_argument("--force", action="store_true", help="write over a file that is there")
    add_transcript_flags(parser)
    arguments = parser.parse_args()
    arguments.normalizer = chosen_normalizer(arguments)
    if arguments.to.exists() and not arguments.force:
        raise FlagError(f"--to={arguments.to}: is there already; name another file, or give --force to write over it")
    return arguments


def count_characters(transcripts: Sequence[tuple[str, str, str]]) -> tuple[Counter[str], dict[str, tuple[str, str]]]:
    """Return how often each character occurs, and the first transcript that has it, as its place and text."""
    counts: Counter[str] = Counter()
    examples: dict[str, tuple[str, str]] = {}
    for place, text, _ in transcripts:
        counts.update(text)
        for character in set(text):
            examples.setdefault(character, (place, text))
    return counts, examples


def table(counts: Counter[str], examples: dict[str, tuple[str, str]]) -> Iterator[str]:
    """Yield a line for each character, the most frequent first, with an example if it is rare."""
    width = max(map(len, map(str, counts.values())))
    for character, count in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        category = unicodedata.category(character)
        shown = " " if category[0] in "CZ" else CARRIER + character if category[0] == "M" else character
        line = f"{count:{width}}  U+{ord(character):04X}  {shown}  {unicodedata.name(character, 'no name')}"
        if count < RARE:
            place, text = examples[character]
            line += f"  {place}: {_around(character, text)}"
        yield line


def _around(character: str, text: str) -> str:
    """Return a text of one line, or the part of a long one that has a character."""
    begin = max(0, min(text.index(character) - EXAMPLE_LENGTH // 2, len(text) - EXAMPLE_LENGTH))
    part = text[begin : begin + EXAMPLE_LENGTH]
    cut = f"{'…' if begin else ''}{part}{'…' if begin + EXAMPLE_LENGTH < len(text) else ''}"
    return "".join("\N{REPLACEMENT CHARACTER}" if unicodedata.category(each) == "Cc" else each for each in cut)


def choose_labels(counts: Counter[str], least: int) -> tuple[str, ...]:
    """Return the characters of the alphabet, the space first and the others by code point."""
    chosen = {each for each, count in counts.items() if count >= least and each not in LINE_BREAKS}
    return tuple(sorted(chosen, key=lambda each: (each != " ", each)))


def remarks(labels: Sequence[str], transcripts: Sequence[tuple[str, str, str]], normalized: bool) -> Iterator[str]:
    """Yield a line for each thing about the alphabet that a person should know before training."""
    texts = [(place, text) for place, text, _ in transcripts]
    known = set(labels)
    lacking = [(place, text) for place, text in texts if not known.issuperset(text)]
    if lacking:
        yield f"in training, {_places(lacking)} will be bad rows, as characters of them are left out"
    decomposed = [(place, text) for place, text in texts if not unicodedata.is_normalized("NFC", text)]
    if decomposed:
        yield (
            f"outside Unicode's form NFC: {_places(decomposed)} where accents may be labels of their own, and one "
            "letter have two spellings; --normalize_transcripts mends it"
        )
    combining = [label for label in labels if unicodedata.category(label)[0] == "M"]
    if combining:
        yield (
            f"labels that are combining characters: {len(combining)}, such as {describe(combining[0])}; alone on its "
            "line, an editor shows such a character badly or joins it to another: change the file by this command only"
        )
    yield from odd_characters(texts)
    yield from unspoken(transcripts)
    punctuation = [label for label in labels if label not in "'-" and unicodedata.category(label)[0] in "PS"]
    if punctuation and not normalized:
        named = " ".join(punctuation[:20])
        yield f"punctuation and symbols become labels: {named}; --normalize_transcripts leaves them out"


def _places(texts: Sequence[tuple[str, str]]) -> str:
    return f"{len(texts)} transcript{'s' if len(texts) > 1 else ''}, such as that of {texts[0][0]},"


def main() -> None:
    """Print the table, and write the alphabet."""
    arguments = read_arguments()
    transcripts = list(read_transcripts(arguments.csv_files, arguments.normalizer))
    counts, examples = count_characters(transcripts)
    labels = choose_labels(counts, arguments.least)
    if not labels:
        raise CorpusError(f"{arguments.csv_files[0]}: its transcripts have no characters that can be labels")
    print("\n".join(table(counts, examples)))
    for line in remarks(labels, transcripts, arguments.normalizer is not None):
        report(f"note: {line}")
    arguments.to.parent.mkdir(parents=True, exist_ok=True)
    write_whole(arguments.to, Alphabet(labels).file_text.encode())
    report(f"{arguments.to}: {len(labels)} labels of {len(transcripts)} transcripts")


if __name__ == "__main__":
    run_script(main)
