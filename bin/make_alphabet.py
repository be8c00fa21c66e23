#!/usr/bin/env python3
"""Make the alphabet of transcripts: count their characters, and write each as a label.

    make_alphabet.py CSV... --to alphabet.txt [--normalize_transcripts] [--least 5] [--join_marks] [--force]
    make_alphabet.py CSV... --to pieces.model --output_unit wordpieces [--size 500]
    make_alphabet.py CSV... --to syllables.txt --output_unit pinyin

Prints the characters by frequency, with code point and name, and for each rare character a row that has it, because
rare characters are often mistakes. Give the same flags --normalize_transcripts, --transcript_case, --keep_punctuation
and --write_out_numbers as in training, to get the characters of training. The space is the first label; the others
follow by code point. With --join_marks, a letter and its combining marks are one label.

sentencepiece chooses word pieces, and the file is its model. The alphabet of pinyin has the syllables, with tones, of
all common characters; the table has only those that occur. Bytes need no file.
"""

import unicodedata
from argparse import Namespace
from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from deepspeech.cli.arguments import (
    ArgumentParser,
    add_transcript_flags,
    check_not_read,
    chosen_normalizer,
    list_path,
    output_path,
    run_script,
)
from deepspeech.errors import CorpusError, FlagError
from deepspeech.util.checks.transcripts import doubts, odd_characters
from deepspeech.util.corpus_files import read_transcripts
from deepspeech.util.figures.counted import counted
from deepspeech.util.files.whole_files import write_whole
from deepspeech.util.output_units import WordPieceAlphabet
from deepspeech.util.output_units.making import MADE, WORD_PIECES, character_labels, made_alphabet
from deepspeech.util.progress import report
from deepspeech.util.text import Alphabet, describe, is_in_two_parts
from deepspeech.util.transcripts import APOSTROPHES, letters_with_marks

RARE = 5
"""Characters with fewer occurrences are shown with an example."""
EXAMPLE_LENGTH = 60
NAMED = 20
"""The most missing characters that are named."""
CARRIER = "\u25cc"
"""A dotted circle, as the base of a combining character."""


def read_arguments() -> Namespace:
    """Return the command line's arguments."""
    parser = ArgumentParser(__doc__)
    parser.add_argument(
        "csv_files", type=list_path, nargs="+", metavar="CSV", help="corpora, as the trainer reads them"
    )
    parser.add_argument("--to", type=output_path, required=True, help="the alphabet file to write")
    parser.add_argument(
        "--output_unit",
        choices=tuple(MADE),
        default=Alphabet.unit,
        help="what a label stands for (default: %(default)s)",
    )
    parser.add_argument(
        "--least", type=int, default=1, help="leave out characters that occur less often (default: %(default)s)"
    )
    parser.add_argument("--join_marks", action="store_true", help="a letter and its combining marks are one label")
    parser.add_argument("--size", type=int, help=f"word pieces at most (default: {WORD_PIECES})")
    parser.add_argument("--force", action="store_true", help="overwrite an existing file")
    add_transcript_flags(parser)
    arguments = parser.parse_args()
    arguments.normalizer = chosen_normalizer(arguments)
    for flag, is_given, unit in (
        ("--least", arguments.least != 1, Alphabet.unit),
        ("--join_marks", arguments.join_marks, Alphabet.unit),
        ("--size", arguments.size is not None, WordPieceAlphabet.unit),
    ):
        if is_given and arguments.output_unit != unit:
            raise FlagError(f"{flag}: is for --output_unit={unit}")
    check_not_read(f"--to={arguments.to}", arguments.to, arguments.csv_files)
    if arguments.to.is_dir():
        raise FlagError(f"--to={arguments.to}: is a folder; name a file in it")
    if arguments.to.exists() and not arguments.force:
        raise FlagError(f"--to={arguments.to}: exists already; name another file, or give --force to overwrite it")
    return arguments


def count_labels(
    transcripts: Sequence[tuple[str, str, str]], cut: Callable[[str], Sequence[str]]
) -> tuple[Counter[str], dict[str, tuple[str, str]]]:
    """Return the count of each part of the transcripts, and the place and text of the first transcript with it."""
    counts: Counter[str] = Counter()
    examples: dict[str, tuple[str, str]] = {}
    for place, text, _ in transcripts:
        parts = cut(text)
        counts.update(parts)
        for part in set(parts):
            examples.setdefault(part, (place, text))
    return counts, examples


def table(counts: Counter[str], examples: dict[str, tuple[str, str]]) -> Iterator[str]:
    """Yield a line for each label, the most frequent first, with an example if it is rare."""
    width = max(map(len, map(str, counts.values())), default=0)
    for label, count in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        line = f"{count:{width}}  {_described(label)}"
        if count < RARE:
            place, text = examples[label]
            line += f"  {place}: {_around(label, text)}"
        yield line


def _described(label: str) -> str:
    """Describe a label by its code points and its characters' names; return several ASCII characters as they are."""
    if len(label) > 1 and label.isascii():
        return label.replace(" ", "\u2581")
    category = unicodedata.category(label[0])[0]
    shown = " " if category in "CZ" else CARRIER + label if category == "M" else label
    codes = " ".join(f"U+{ord(each):04X}" for each in label)
    return f"{codes}  {shown}  {', '.join(unicodedata.name(each, 'no name') for each in label)}"


def _around(label: str, text: str) -> str:
    """Return a text of one line, or the part of a long text around a label, if the text contains it literally."""
    begin = max(0, min(max(text.find(label), 0) - EXAMPLE_LENGTH // 2, len(text) - EXAMPLE_LENGTH))
    part = text[begin : begin + EXAMPLE_LENGTH]
    cut = f"{'…' if begin else ''}{part}{'…' if begin + EXAMPLE_LENGTH < len(text) else ''}"
    return "".join("\N{REPLACEMENT CHARACTER}" if unicodedata.category(each) == "Cc" else each for each in cut)


def make_alphabet(
    arguments: Namespace, transcripts: Sequence[tuple[str, str, str]]
) -> tuple[Alphabet, bytes, list[str]]:
    """Return the alphabet, the content of its file and the lines of the table. Raise CorpusError without characters."""
    if arguments.output_unit != Alphabet.unit:
        size = WORD_PIECES if arguments.size is None else arguments.size
        made, content = made_alphabet(arguments.output_unit, [text for _, text, _ in transcripts], size)
        fitting = [each for each in transcripts if not made.missing(each[1])]
        counted_labels = count_labels(
            fitting, lambda text: [made.labels[label].strip(" ") or " " for label in made.encode(text)]
        )
        return made, content, list(table(*counted_labels))
    counts, examples = count_labels(transcripts, letters_with_marks if arguments.join_marks else list)
    labels = character_labels(counts, arguments.least)
    if not labels:
        raise CorpusError(f"{arguments.csv_files[0]}: its transcripts have no characters that can be labels")
    if parted := next(filter(is_in_two_parts, labels), None):
        remedy = "give --normalize_transcripts, here and to the trainer"
        raise CorpusError(f"{arguments.csv_files[0]}: label {parted!r} is one character in two parts; {remedy}")
    return Alphabet(labels), Alphabet(labels).file_text.encode(), list(table(counts, examples))


def remarks(alphabet: Alphabet, transcripts: Sequence[tuple[str, str, str]], normalized: bool) -> Iterator[str]:
    """Yield a line for each remark on the alphabet that matters before training."""
    texts = [(place, text) for place, text, _ in transcripts]
    missing = {place: alphabet.missing(text) for place, text in texts}
    lacking = [(place, text) for place, text in texts if missing[place]]
    if lacking:
        named = ", ".join(map(describe, sorted({each for place, _ in lacking for each in missing[place]})[:NAMED]))
        yield f"in training, {_places(lacking)} will be bad rows, as the alphabet lacks {named}"
    decomposed = [(place, text) for place, text in texts if not unicodedata.is_normalized("NFC", text)]
    if decomposed:
        yield (
            f"outside Unicode's form NFC: {_places(decomposed)} where accents may become separate labels, and a "
            "letter may have two spellings; --normalize_transcripts fixes it"
        )
    if alphabet.unit == Alphabet.unit:
        yield from _remarks_on_characters(alphabet.labels, normalized)
    yield from odd_characters(texts)
    yield from doubts(transcripts)


def _remarks_on_characters(labels: Sequence[str], normalized: bool) -> Iterator[str]:
    combining = [label for label in labels if unicodedata.category(label[0])[0] == "M"]
    if combining:
        yield (
            f"labels that are combining characters: {len(combining)}, such as {describe(combining[0])}; alone on its "
            "line, an editor shows such a character badly or joins it to another: change the file by "
            "this command only, or give --join_marks"
        )
    if normalized:
        return
    apostrophes = [label for label in labels if label in APOSTROPHES]
    if apostrophes:
        yield f"other apostrophes than ' become labels: {' '.join(apostrophes)}; --normalize_transcripts writes '"
    others = [label for label in labels if label not in f"'-{APOSTROPHES}"]
    punctuation = [label for label in others if unicodedata.category(label[0])[0] in "PS"]
    if punctuation:
        named = " ".join(punctuation[:20])
        yield f"punctuation and symbols become labels: {named}; --normalize_transcripts leaves them out"


def _places(texts: Sequence[tuple[str, str]]) -> str:
    return f"{counted(len(texts), 'transcript')}, such as that of {texts[0][0]},"


def main() -> None:
    """Write the alphabet, and print the table, which may be read only in part."""
    arguments = read_arguments()
    transcripts = list(read_transcripts(arguments.csv_files, arguments.normalizer))
    alphabet, content, lines = make_alphabet(arguments, transcripts)
    arguments.to.parent.mkdir(parents=True, exist_ok=True)
    write_whole(arguments.to, content)
    print("\n".join(lines), flush=True)
    for line in remarks(alphabet, transcripts, arguments.normalizer is not None):
        report(f"note: {line}")
    report(f"{arguments.to}: {counted(alphabet.size, 'label')} of {counted(len(transcripts), 'transcript')}")


if __name__ == "__main__":
    run_script(main)
