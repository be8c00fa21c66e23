#!/usr/bin/env python3
"""Build a language model from text: an ARPA file, a KenLM binary, the trie of its words, and a scorer package.

    build_lm.py TEXT... --out FOLDER [--alphabet alphabet.txt] [--order 5] [--vocabulary 500000] [--prune 0 0 1]

TEXT are files with one sentence a line, plain or gzip (.gz), which may be larger than memory, or lists of utterances as
for deepspeech-train (CSV, TSV, JSON lines), whose transcripts are the sentences. FOLDER gets lm.arpa,
lm.binary, lm.trie and lm.scorer. Words that the alphabet cannot spell, and words of almost 1,000 bytes or more, are
left out; of the others, only the --vocabulary most frequent are kept. --normalize_transcripts normalizes the text like
the transcripts in training. --unit character makes a model of characters, for scripts without spaces. --output_unit and
--alphabet are those of the acoustic model; --bytes is short for --output_unit bytes --unit character. For syllables of
pinyin, a model of characters is only lm.arpa and lm.binary. Needs KenLM's programs: `make lm-tools` builds them.
"""

import gzip
import shutil
import subprocess
import zlib
from argparse import Namespace
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, nullcontext, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from deepspeech.cli.arguments import (
    ArgumentParser,
    add_alphabet_flags,
    add_transcript_flags,
    check_arguments,
    check_output_folder,
    chosen_normalizer,
    list_path,
    output_path,
    run_script,
)
from deepspeech.decoder.of_alphabet import check_labels_are_characters, load_scorer, spell_of
from deepspeech.errors import FlagError
from deepspeech.options import LanguageModelOptions
from deepspeech.options.rows.checks import FINITE, at_least
from deepspeech.util.checks.transcripts import example_outside
from deepspeech.util.corpus_files import FORMATS, fetched, has_transcripts, read_transcripts
from deepspeech.util.corpus_files.lines import encoding_of
from deepspeech.util.errors import LanguageModelError
from deepspeech.util.figures.counted import counted
from deepspeech.util.files.whole_files import written_whole
from deepspeech.util.output_units import ByteAlphabet, SyllableAlphabet, WordPieceAlphabet, load_alphabet
from deepspeech.util.progress import Progress, report
from deepspeech.util.storage.copies import named_for_all
from deepspeech.util.text import Alphabet
from deepspeech.util.transcripts import has_unspaced

ROOT = Path(__file__).resolve().parent.parent
SPACE = "<space>"
SPECIAL = ("<s>", "</s>", "<unk>")
FILES = ("lm.arpa", "lm.binary", "lm.trie", "lm.scorer")
TOOLS = ("lmplz", "filter", "build_binary")
REPORT_BYTES = 1 << 20
LONGEST_WORD = 998
"""The most bytes of a word: a package holds at most 1,000 labels of a word, including the space after it."""
NUMBERS = {"vocabulary": at_least(1), "prune": at_least(0), "lm-weight": FINITE, "word-bonus": FINITE}
"""The allowed values of numeric flags; KenLM's programs check the others."""


def read_arguments() -> Namespace:
    """Return the command line's arguments."""
    parser = ArgumentParser(__doc__)
    add = parser.add_argument
    lm_weight, word_bonus = LanguageModelOptions.lm_weight, LanguageModelOptions.valid_word_count_weight
    add("texts", type=list_path, nargs="+", metavar="TEXT")
    add("--out", "--output", type=output_path, required=True, help="folder for the results")
    add_alphabet_flags(parser, "of the acoustic model")
    add("--bytes", action="store_true", help="the labels are the UTF-8 bytes; implies --unit character")
    add("--unit", choices=("word", "character"), default="word", help="what n-grams are made of (default: %(default)s)")
    add("--order", type=int, default=5, choices=range(2, 7), help="words of the longest n-grams (default: %(default)s)")
    add("--vocabulary", type=int, default=500_000, help="words to keep, the most frequent (default: %(default)s)")
    add(
        "--prune",
        type=int,
        nargs="+",
        default=[0, 0, 1],
        help="for each order, drop n-grams seen at most this often; the last number is for all higher ones, too "
        "(default: 0 0 1)",
    )
    add("--memory", default="50%", help="memory for lmplz, such as 4G (default: %(default)s)")
    add("--lm-weight", type=float, default=lm_weight, help="default weight in lm.scorer (default: %(default)s)")
    add("--word-bonus", type=float, default=word_bonus, help="default word bonus in lm.scorer (default: %(default)s)")
    add(
        "--tools",
        type=Path,
        default=ROOT / "build/lm-tools/bin",
        help="folder of KenLM's programs (default: build/lm-tools/bin)",
    )
    add_transcript_flags(parser)
    arguments = parser.parse_args()
    check_arguments(arguments, NUMBERS)
    check_output_folder("--out", arguments.out)
    arguments.normalizer = chosen_normalizer(arguments)
    if arguments.bytes:
        arguments.unit, arguments.output_unit = "character", ByteAlphabet.unit
    if arguments.unit == "character" and arguments.output_unit == WordPieceAlphabet.unit:
        raise FlagError("--unit=character: word pieces need a language model of words; leave this flag out")
    if arguments.alphabet is None and arguments.output_unit == Alphabet.unit:
        arguments.alphabet = ROOT / "data/alphabet.txt"
    arguments.texts = list(map(fetched, arguments.texts))
    for text in arguments.texts:
        if not text.is_file():
            raise FlagError(f"{text} is not a file")
    missing = [tool for tool in TOOLS if not (arguments.tools / tool).is_file()]
    if missing:
        raise FlagError(f"{arguments.tools} has no {', '.join(missing)}; run `make lm-tools`")
    return arguments


Cut = Callable[[str], list[str]]
"""Divides a line into words or characters."""


def cut_of(arguments: Namespace, alphabet: Alphabet) -> Cut:
    """Return a function that divides lines into words, or into characters, with SPACE for a space.

    If the labels have no space, as often for Chinese, spaces of the text are dropped, as they are never recognized.
    """
    between = "" if alphabet.delimiter is None else " "

    def cut(line: str) -> list[str]:
        words = (arguments.normalizer(line) if arguments.normalizer else line).split()
        return words if arguments.unit == "word" else [SPACE if c == " " else c for c in between.join(words)]

    return cut


def sentences(arguments: Namespace, cut: Cut, title: str) -> Iterator[list[str]]:
    """Yield the words (or characters) of each line that is not empty; the progress counts bytes on disk.

    Empty lines separate paragraphs: as sentences, they would make silence probable.
    """
    with Progress(title, sum(text.stat().st_size for text in arguments.texts), unit="byte") as progress:
        for text in arguments.texts:
            if has_transcripts(text):
                yield from filter(None, (cut(transcript) for _, transcript, _ in read_transcripts([text])))
                progress.advance(text.stat().st_size)
                continue
            endings = [suffix.lower() for suffix in text.suffixes[-2:]]
            if endings[-1:] != [".gz"] or endings[0] in (".csv", *FORMATS):
                encoding_of(text)  # else a compressed list is text, and other compressed text is only not UTF-8
            yield from _split_lines(text, cut, progress)


def _split_lines(text: Path, cut: Cut, progress: Progress) -> Iterator[list[str]]:
    before, named = 0, named_for_all(text)
    try:
        with text.open("rb") as file, gzip.open(file) if text.suffix.lower() == ".gz" else nullcontext(file) as lines:
            for number, line in enumerate(lines, 1):
                try:
                    decoded = line.decode("utf-8-sig" if number == 1 else "utf-8")
                except UnicodeDecodeError:
                    raise LanguageModelError(f"{named}:{number}: not UTF-8; convert the text first") from None
                if words := cut(decoded):
                    yield words
                if file.tell() - before >= REPORT_BYTES:
                    progress.advance(file.tell() - before)
                    before = file.tell()
            progress.advance(file.tell() - before)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise LanguageModelError(f"{named}: damaged gzip file ({error})") from None


def choose_vocabulary(arguments: Namespace, alphabet: Alphabet, cut: Cut) -> list[str]:
    """Return the most frequent words that the labels can spell, and that are not pruned."""
    counts: Counter[str] = Counter()
    for words in sentences(arguments, cut, f"Counting {arguments.unit}s"):
        counts.update(words)
    if not counts:
        raise LanguageModelError(f"no words in {', '.join(map(named_for_all, arguments.texts))}")
    can_spell, known, unknown = _speller(alphabet, arguments.unit), list[str](), list[str]()
    for word, _ in counts.most_common():
        if word not in SPECIAL and len(word.encode()) <= LONGEST_WORD:
            (known if can_spell(word) else unknown).append(word)
    labels = f"the labels of {arguments.alphabet}" if arguments.alphabet else arguments.output_unit
    example = f", such as {example_outside(unknown, alphabet, arguments.normalizer)}" if unknown else ""
    if not known:
        first, advice = named_for_all(arguments.texts[0]), "--alphabet must name the acoustic model's alphabet"
        if isinstance(alphabet, SyllableAlphabet) and arguments.unit == "word":
            advice = "if it is written in characters, give --unit character"
        raise LanguageModelError(f"no word of {first} can be spelled with {labels}{example}; {advice}")
    chosen = [word for word in known[: arguments.vocabulary] if counts[word] > arguments.prune[0]]
    if not chosen:
        raise LanguageModelError(f"no {arguments.unit} of the text is left by --prune={arguments.prune[0]}; lower it")
    covered = sum(counts[word] for word in chosen) / max(1, sum(counts.values()))
    kept = f"{len(chosen)} of them kept, which are {100 * covered:.2f} % of the text"
    why = f"; {labels} cannot spell {len(unknown)}{example}" if unknown else ""
    report(f"{counted(len(counts), arguments.unit)}, {kept}{why}")
    if arguments.unit == "word" and 2 * sum(map(has_unspaced, chosen)) > len(chosen):
        report(
            f"note: most words, such as {chosen[0]!r}, are of a script without spaces, and only these words can be "
            "recognized; unless the text is divided into words, give --unit character"
        )
    return chosen


def _speller(alphabet: Alphabet, unit: str) -> Callable[[str], bool]:
    """Return a function that decides whether the labels can spell a word or, in models of characters, a character."""
    spell = spell_of(alphabet)

    def can_spell(word: str) -> bool:
        if word == SPACE:
            return alphabet.delimiter is not None
        if isinstance(alphabet, SyllableAlphabet) and unit == "character":
            return bool(alphabet.readings(word)[0])
        if isinstance(alphabet, SyllableAlphabet):
            return word.isascii() and not alphabet.missing(word)
        return bool(spell(word)) if spell else not alphabet.missing(word)

    return can_spell


def estimate(arguments: Namespace, cut: Cut, arpa: Path, scratch: Path) -> None:
    """Write the ARPA file of all words; the text is streamed to lmplz."""
    command = [arguments.tools / "lmplz", "--order", str(arguments.order), "--temp_prefix", f"{scratch}/"]
    command += ["--memory", arguments.memory, "--arpa", arpa, "--discount_fallback", "--skip_symbols"]
    command += ["--prune", *(str(count) for count in arguments.prune[: arguments.order])]
    with (scratch / "lmplz.log").open("w+") as log:
        with (
            subprocess.Popen(command, stdin=subprocess.PIPE, stderr=log, stdout=log) as lmplz,
            ExitStack() as unfinished,
        ):
            assert lmplz.stdin is not None
            unfinished.callback(lmplz.wait)
            unfinished.callback(lmplz.kill)  # if this program is stopped, or cannot read the text
            with suppress(BrokenPipeError):  # the program's exit code and log give the reason
                for words in sentences(arguments, cut, "Counting n-grams"):
                    lmplz.stdin.write((" ".join(words) + "\n").encode())
            with suppress(BrokenPipeError):  # from flushing the rest
                lmplz.stdin.close()
            report("Estimating probabilities ...")
            lmplz.wait()
        if lmplz.returncode:
            _fail("lmplz", log.name)


def _fail(tool: str, log: str) -> None:
    lines = Path(log).read_text(errors="replace").strip().splitlines() or ["no reason given"]
    raise LanguageModelError(f"{tool} failed: {lines[-1]}")


def call(arguments: Namespace, scratch: Path, tool: str, *options: str | Path, words: Sequence[str] = ()) -> None:
    """Run one of KenLM's programs with `words` on its standard input."""
    log = scratch / f"{tool}.log"
    with log.open("wb") as out:
        command = [arguments.tools / tool, *options]
        result = subprocess.run(command, input="\n".join(words).encode(), stdout=out, stderr=out)
    if result.returncode:
        _fail(tool, str(log))


def main() -> None:
    """Write the files; they get their names when all of them are complete."""
    arguments = read_arguments()
    composed = arguments.normalizer is not None
    alphabet = load_alphabet(arguments.output_unit, arguments.alphabet, composed=composed, flag="--alphabet")
    if arguments.unit == "character":
        check_labels_are_characters(alphabet, "--unit=character")
    elif not any(label[:1] in (" ", b" ") for label in alphabet.output_labels):
        raise FlagError(f"--unit=word: {arguments.alphabet} has no space to separate words; give --unit character")
    cut = cut_of(arguments, alphabet)
    vocabulary = choose_vocabulary(arguments, alphabet, cut)
    arguments.out.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=arguments.out, prefix=".lm-") as folder:
        scratch = Path(folder)
        estimate(arguments, cut, scratch / "all.arpa", scratch)
        build(arguments, alphabet, vocabulary, scratch)
        for name in FILES:
            file = arguments.out / name
            if not (scratch / name).exists():
                file.unlink(missing_ok=True)  # of a previous model, which the new files replace
                continue
            with written_whole(file) as beside:
                shutil.move(scratch / name, beside)
            report(f"{file}: {file.stat().st_size / 1e6:.1f} MB")


def build(arguments: Namespace, alphabet: Alphabet, vocabulary: Sequence[str], scratch: Path) -> None:
    """Write the files into `scratch`, from the words in all.arpa there that are in the vocabulary."""
    arpa, binary = scratch / "lm.arpa", scratch / "lm.binary"
    call(arguments, scratch, "filter", "single", f"model:{scratch / 'all.arpa'}", arpa, words=vocabulary)
    (scratch / "all.arpa").unlink()
    report("Building the binary, the trie and the package ...")
    call(arguments, scratch, "build_binary", "-s", "-a", "255", "-q", "8", "-T", f"{scratch}/", "trie", arpa, binary)
    characters = arguments.unit == "character"
    if characters and isinstance(alphabet, SyllableAlphabet):
        return
    scorer = load_scorer(alphabet, binary, characters=characters)
    scorer.write_trie(scratch / "lm.trie")
    scorer.write_package(scratch / "lm.scorer", arguments.lm_weight, arguments.word_bonus)


if __name__ == "__main__":
    run_script(main)
