"""Compare this decoder with flashlight-text and pyctcdecode: speed, word errors, memory and load time.

    python -m benchmarks.decoder --lm lm.arpa --posteriors dev.npz --references dev.txt --lexicon corpus.txt

All decode the same posteriors with the same language model and the same words, on one thread. The language model is an
ARPA file; `--build-binary`, KenLM's program, makes a binary of it. Each measurement is a separate process. The decoders
take turns, `--rounds` times, and the fastest round counts. Speed is measured in processor time, so that other load on
the machine matters little; only the gain of two threads is measured in wall-clock time. `--large-words` generates a
language model of that many words and measures how long it takes to load.

The peers need NumPy 1, unlike TensorFlow, so run this in a separate environment:

    python -m venv peers && peers/bin/pip install --no-deps --editable . && peers/bin/pip install "numpy<2" \\
        flashlight-text pyctcdecode kenlm rapidfuzz
    peers/bin/python -m benchmarks.decoder ...
"""

from __future__ import annotations

import argparse
import importlib
import json
import math
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from rapidfuzz.distance import Levenshtein

from .processes.arguments import at_least, file
from .processes.commands import run_quietly

LABELS = tuple(" abcdefghijklmnopqrstuvwxyz'")

# Weight of ln P_LM and bonus of a word: for each decoder, the pair with the fewest word errors on these sentences. Nine
# pairs were tried for ours (at beam 500), twelve for flashlight, and three for pyctcdecode (at beam 100).
WEIGHTS = {"ours": (0.5, 0.5), "flashlight": (0.8, 1.5), "pyctcdecode": (0.5, 1.5)}
DECODERS = tuple(WEIGHTS)

Posteriors = list[npt.NDArray[np.float32]]
"""The posteriors of each utterance, float32 [time, labels + 1]."""
Decode = Callable[[Posteriors], list[str]]


@dataclass(frozen=True)
class Measurement:
    """The figures of one process: frames per second, word error rate [0, 1], wall-clock seconds, and megabytes."""

    frames_per_second: float
    word_error_rate: float
    load_seconds: float
    peak_megabytes: float


def ours(arguments: argparse.Namespace) -> Decode:
    """Return this project's decoder."""
    from deepspeech.decoder import CTCDecoder, DecoderOptions, Scorer

    scorer = Scorer.load(LABELS, arguments.binary)
    options = DecoderOptions(arguments.beam, *WEIGHTS["ours"])
    decoder = CTCDecoder(LABELS, options, scorer)
    if arguments.threads == 1:
        return lambda posteriors: [decoder.decode(utterance)[0].text for utterance in posteriors]
    return lambda posteriors: [
        results[0].text for results in decoder.decode_batch(*_pad(posteriors), threads=arguments.threads)
    ]


def flashlight(arguments: argparse.Namespace) -> Decode:
    """Return flashlight-text's lexicon decoder; its language-model scores are logarithms to base 10."""
    decoding = importlib.import_module("flashlight.lib.text.decoder")
    words = _lexicon(arguments.lexicon)
    dictionary = importlib.import_module("flashlight.lib.text.dictionary").Dictionary()
    for word in words:
        dictionary.add_entry(word)
    dictionary.add_entry("<unk>")
    model = importlib.import_module("flashlight.lib.text.decoder.kenlm").KenLM(str(arguments.binary), dictionary)
    trie = decoding.Trie(len(LABELS) + 1, 0)
    start = model.start(False)
    for index, word in enumerate(words):
        _, score = model.score(start, index)
        trie.insert([LABELS.index(character) for character in word] + [0], index, score)
    trie.smear(decoding.SmearingMode.MAX)
    weight, bonus = WEIGHTS["flashlight"]
    options = decoding.LexiconDecoderOptions(
        beam_size=arguments.beam,
        beam_size_token=len(LABELS) + 1,
        beam_threshold=1000.0,
        lm_weight=weight * math.log(10),
        word_score=bonus,
        unk_score=-math.inf,
        sil_score=0.0,
        log_add=False,
        criterion_type=decoding.CriterionType.CTC,
    )
    decoder = decoding.LexiconDecoder(options, trie, model, 0, len(LABELS), len(words), [], False)

    def decode(posteriors: Posteriors) -> list[str]:
        texts = []
        for utterance in posteriors:
            emissions = np.log(np.maximum(utterance, np.finfo(np.float32).tiny))
            best = decoder.decode(emissions.ctypes.data, *emissions.shape)[0]
            texts.append(" ".join(words[index] for index in best.words if 0 <= index < len(words)))
        return texts

    return decode


def pyctcdecode(arguments: argparse.Namespace) -> Decode:
    """Return pyctcdecode's decoder, with its default pruning except for the beam width."""
    build = importlib.import_module("pyctcdecode").build_ctcdecoder
    weight, bonus = WEIGHTS["pyctcdecode"]
    words = _lexicon(arguments.lexicon)
    decoder = build([*LABELS, ""], str(arguments.binary), words, alpha=weight, beta=bonus)
    tiny = np.finfo(np.float32).tiny
    return lambda posteriors: [
        decoder.decode(np.log(np.maximum(utterance, tiny)), beam_width=arguments.beam) for utterance in posteriors
    ]


def _lexicon(corpus: Path) -> list[str]:
    return sorted(set(corpus.read_text().split()))


def _pad(posteriors: Posteriors) -> tuple[npt.NDArray[np.float32], list[int]]:
    lengths = [len(utterance) for utterance in posteriors]
    batch = np.zeros((len(posteriors), max(lengths), len(LABELS) + 1), np.float32)
    for row, utterance in zip(batch, posteriors, strict=True):
        row[: len(utterance)] = utterance
    return batch, lengths


def word_error_rate(references: Sequence[str], texts: Sequence[str]) -> float:
    """Return summed word edits over summed words."""
    pairs = zip(references, texts, strict=True)
    edits = sum(Levenshtein.distance(reference.split(), text.split()) for reference, text in pairs)
    return edits / sum(len(reference.split()) for reference in references)


def measure(arguments: argparse.Namespace) -> Measurement:
    """Load the decoder in `arguments` and decode all posteriors with it."""
    with np.load(arguments.posteriors) as archive:
        posteriors = [archive[name] for name in archive.files][: arguments.count]
    references = arguments.references.read_text().splitlines()[: arguments.count]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.perf_counter()
    decode = {"ours": ours, "flashlight": flashlight, "pyctcdecode": pyctcdecode}[arguments.measure](arguments)
    loaded = time.perf_counter()
    clock = time.process_time if arguments.by_processor else time.perf_counter
    begin = clock()
    texts = decode(posteriors)
    seconds = clock() - begin
    peak = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    frames = sum(len(utterance) for utterance in posteriors)
    return Measurement(frames / seconds, word_error_rate(references, texts), loaded - start, peak)


def run(arguments: argparse.Namespace, decoder: str, beam: int, threads: int = 0) -> Measurement:
    """Measure in a new process; in wall-clock time if a number of threads is given."""
    command = [sys.executable, "-m", "benchmarks.decoder", "--measure", decoder, "--beam", str(beam)]
    command += ["--threads", str(threads)] if threads else ["--threads", "1", "--by-processor"]
    for name in ("lm", "binary", "posteriors", "references", "lexicon", "count"):
        command += [f"--{name.replace('_', '-')}", str(getattr(arguments, name))]
    process = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if process.returncode:
        raise SystemExit(f"{decoder} cannot be measured, for the reason above")
    return Measurement(**json.loads(process.stdout.splitlines()[-1]))


def fastest(measurements: Sequence[Measurement]) -> Measurement:
    """Return the measurement with the most frames per second."""
    return max(measurements, key=lambda measurement: measurement.frames_per_second)


def compare(arguments: argparse.Namespace) -> None:
    """Print a table of all decoders at each beam, and the gain of two threads."""
    for beam in arguments.beams:
        rounds: dict[str, list[Measurement]] = {name: [] for name in DECODERS}
        for _ in range(arguments.rounds):
            for name in DECODERS:
                rounds[name].append(run(arguments, name, beam))
        print(f"beam {beam}".ljust(14) + "frames/s   WER     load      peak memory   times flashlight")
        flashlight_speed = fastest(rounds["flashlight"]).frames_per_second
        for name in DECODERS:
            best = fastest(rounds[name])
            print(
                f"  {name:12}{best.frames_per_second:8.0f}  {100 * best.word_error_rate:5.2f} %"
                f"  {min(r.load_seconds for r in rounds[name]):6.3f} s  {best.peak_megabytes:8.0f} MB"
                f"  {best.frames_per_second / flashlight_speed:10.1f}"
            )
    widest = max(arguments.beams)
    pairs = [[run(arguments, "ours", widest, threads) for threads in (1, 2)] for _ in range(arguments.rounds)]
    one, two = (fastest(measurements).frames_per_second for measurements in zip(*pairs, strict=True))
    print(f"two threads: {two / one:.2f} times one")


def measure_large_model(arguments: argparse.Namespace, folder: Path) -> None:
    """Print how long a generated language model of many words takes to load, without and with a trie file."""
    from deepspeech.decoder import Scorer

    generator = random.Random(1)
    letters = "etaoinshrdlcumwfgypbvkjxqz"
    words: set[str] = set()
    while len(words) < arguments.large_words:
        words.add("".join(generator.choices(letters, range(26, 0, -1), k=generator.randint(3, 12))))
    ordered = sorted(words)
    arpa, binary, trie = folder / "large.arpa", folder / "large.binary", folder / "large.trie"
    with arpa.open("w") as out:
        out.write(f"\\data\\\nngram 1={len(words) + 3}\nngram 2={len(words)}\n\n\\1-grams:\n")
        out.writelines(f"-5\t{word}\t-0.3\n" for word in ("<unk>", "<s>", "</s>", *ordered))
        out.write("\n\\2-grams:\n")
        out.writelines(f"-2\t<s> {word}\n" for word in ordered)
        out.write("\n\\end\\\n")
    run_quietly([arguments.build_binary, arpa, binary])
    start = time.perf_counter()
    Scorer.load(LABELS, binary).write_trie(trie)
    built = time.perf_counter() - start
    start = time.perf_counter()
    Scorer.load(LABELS, binary, trie)
    print(f"{len(words)} words: {built:.2f} s without a trie file, {time.perf_counter() - start:.2f} s with one")


def parse() -> argparse.Namespace:
    """Return the command line's arguments."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lm", type=file, required=True, help="ARPA file")
    parser.add_argument("--posteriors", type=file, required=True, help="npz file of arrays [time, 29]")
    parser.add_argument("--references", type=file, required=True, help="their texts, one a line")
    parser.add_argument("--lexicon", type=file, required=True, help="text whose words may be spoken")
    parser.add_argument("--build-binary", default="build/lm-tools/bin/build_binary")
    parser.add_argument("--binary", type=file, help="KenLM binary of the ARPA file")
    parser.add_argument("--beams", type=at_least(1), nargs="+", default=[100, 500])
    parser.add_argument("--count", type=at_least(1), default=100)
    parser.add_argument("--rounds", type=at_least(1), default=3)
    parser.add_argument("--large-words", type=at_least(0), default=0)
    parser.add_argument("--measure", choices=DECODERS, help=argparse.SUPPRESS)
    parser.add_argument("--beam", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--threads", type=int, default=1, help=argparse.SUPPRESS)
    parser.add_argument("--by-processor", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args()


def main() -> None:
    """Measure one decoder, or compare all."""
    arguments: Any = parse()
    if arguments.measure:
        print(json.dumps(asdict(measure(arguments))))
        return
    with tempfile.TemporaryDirectory() as folder:
        if not arguments.binary:
            arguments.binary = Path(folder) / "lm.binary"
            run_quietly([arguments.build_binary, arguments.lm, arguments.binary])
        compare(arguments)
        if arguments.large_words:
            measure_large_model(arguments, Path(folder))


if __name__ == "__main__":
    main()
