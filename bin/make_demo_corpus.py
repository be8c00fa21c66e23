#!/usr/bin/env python3
"""Make a small speech corpus out of nothing: espeak-ng reads sentences of a grammar aloud, in many voices.

    make_demo_corpus.py OUT

writes OUT/train.csv, OUT/dev.csv and OUT/test.csv and the 16 kHz 16-bit mono recordings they name. No sentence is in
two of them, and the voices of the test set are heard in no other. The same settings give the same corpus to the byte
(with the same release of espeak-ng); a folder that already holds that corpus, whole, is left as it is.
"""

import json
import random
import wave
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import soxr
from corpus_csv import is_whole, write_corpus
from espeak import Delivery, Synthesizer
from grammar import Grammar
from numpy.typing import NDArray
from script import ArgumentParser, Progress, ScriptError, folder_written_whole, report, run

GRAMMAR = Path(__file__).resolve().parent.parent / "data" / "demo" / "grammar.txt"
SETTINGS_FILE = "corpus.json"
SETS = ("train", "dev", "test")

VOICES = (
    "en-us en-us+f1 en-us+f2 en-us+f4 en-us+m1 en-us+m3 en-us+m8 en-us+Andy "
    "en en+f1 en+f3 en+m2 en+m7 en-gb-x-rp en-gb-x-rp+f4 en-gb-x-rp+m3"
)
TEST_VOICES = "en-us+f5 en-us+m4 en+m6 en-gb-x-rp+linda"
SPEEDS = (145, 195)  # words a minute
PITCHES = (30, 70)
GAINS = (0.3, 0.9)
NOISE = 20.0  # standard deviation in steps of a 16-bit sample: a quiet room, not digital silence

SAMPLE_RATE = 16000
DRAWS_PER_SENTENCE = 50  # of this many draws on average, one must be a sentence not yet drawn


@dataclass(frozen=True)
class Settings:
    """All that a corpus follows from; it is kept with the corpus to tell whether it must be made anew."""

    seed: int
    train: int  # utterances of each set
    dev: int
    test: int
    voices: str
    test_voices: str
    speeds: tuple[int, int]
    pitches: tuple[int, int]
    gains: tuple[float, float]
    noise: float
    grammar: str  # the text of the grammar file

    def to_json(self) -> str:
        """Return the settings as the text of `SETTINGS_FILE`."""
        return json.dumps(asdict(self), indent=4) + "\n"


def draw_sentences(grammar: Grammar, count: int, source: random.Random) -> list[str]:
    """Draw `count` different sentences. Raises `ScriptError` if the grammar has too few of them."""
    sentences: dict[str, None] = {}
    for _ in range(count * DRAWS_PER_SENTENCE):
        if len(sentences) == count:
            return list(sentences)
        sentences[" ".join(grammar.draw(source))] = None
    raise ScriptError(
        f"the grammar gave only {len(sentences)} of {count} different sentences; ask for fewer utterances"
    )


def record(synthesizer: Synthesizer, text: str, delivery: Delivery, source: np.random.Generator) -> NDArray[np.int16]:
    """Return `text`, spoken into a microphone of our own imagination, as samples at `SAMPLE_RATE`."""
    samples = synthesizer.speak(text, delivery).astype(np.float32)
    speech: NDArray[np.float32] = soxr.resample(samples, synthesizer.sample_rate, SAMPLE_RATE)
    heard = speech * source.uniform(*GAINS) + source.normal(0, NOISE, len(speech))
    return np.clip(np.rint(heard), -32768, 32767).astype(np.int16)


def save(path: Path, samples: NDArray[np.int16]) -> None:
    """Write mono samples at `SAMPLE_RATE` as a wav file."""
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(SAMPLE_RATE)
        file.writeframes(samples.astype("<i2").tobytes())


def make_utterances(settings: Settings, grammar: Grammar, folder: Path) -> Iterator[tuple[str, Path, str]]:
    """Record every utterance of the corpus into `folder`; yields its set, its file and its transcript."""
    source = random.Random(settings.seed)
    noise = np.random.default_rng(settings.seed)
    counts = (settings.train, settings.dev, settings.test)
    sentences = iter(draw_sentences(grammar, sum(counts), source))
    with Synthesizer(settings.seed) as synthesizer:
        for name, count in zip(SETS, counts, strict=True):
            voices = (settings.test_voices if name == "test" else settings.voices).split()
            (folder / name).mkdir()
            for number in range(count):
                text = next(sentences)
                delivery = Delivery(voices[number % len(voices)], source.randint(*SPEEDS), source.randint(*PITCHES))
                path = folder / name / f"{number:05d}-{delivery.voice}.wav"
                save(path, record(synthesizer, text, delivery, noise))
                yield name, path, text


def make_corpus(settings: Settings, grammar: Grammar, out: Path) -> None:
    """Make the corpus in a folder beside `out`, then put it in the place of `out`."""
    rows: dict[str, list[tuple[Path, str]]] = {name: [] for name in SETS}
    with folder_written_whole(out) as folder:
        with Progress("demo corpus", settings.train + settings.dev + settings.test) as progress:
            for name, path, text in make_utterances(settings, grammar, folder):
                rows[name].append((path, text))
                progress.advance()
        for name in SETS:
            write_corpus(folder / f"{name}.csv", rows[name])
        (folder / SETTINGS_FILE).write_text(settings.to_json(), encoding="utf-8")


def is_complete(out: Path, settings: Settings) -> bool:
    """Return whether `out` holds the corpus of these settings. Raises `ScriptError` if it holds something else."""
    if not out.is_dir() or not any(out.iterdir()):
        return False
    if not (out / SETTINGS_FILE).is_file():
        raise ScriptError(f"{out} holds files that are not a demo corpus; name a folder that is new or empty")
    same = (out / SETTINGS_FILE).read_text(encoding="utf-8") == settings.to_json()
    return same and all(is_whole(out / f"{name}.csv") for name in SETS)


def main() -> None:
    """Read the arguments and make the corpus, unless it is there."""
    parser = ArgumentParser(__doc__)
    parser.add_argument("out", type=Path, help="the folder of the corpus")
    parser.add_argument("--grammar", type=Path, default=GRAMMAR, help="what is said (default: data/demo/grammar.txt)")
    parser.add_argument("--seed", type=int, default=1, help="another number, another corpus (default: %(default)s)")
    for name, count in zip(SETS, (1200, 120, 240), strict=True):
        parser.add_argument(f"--{name}", type=int, default=count, help=f"{name} utterances (default: %(default)s)")
    arguments = parser.parse_args()
    if min(arguments.train, arguments.dev, arguments.test) < 1:
        raise ScriptError("--train, --dev and --test must be at least 1")
    grammar = Grammar.load(arguments.grammar)
    settings = Settings(
        seed=arguments.seed,
        train=arguments.train,
        dev=arguments.dev,
        test=arguments.test,
        voices=VOICES,
        test_voices=TEST_VOICES,
        speeds=SPEEDS,
        pitches=PITCHES,
        gains=GAINS,
        noise=NOISE,
        grammar=arguments.grammar.read_text(encoding="utf-8"),
    )
    if is_complete(arguments.out, settings):
        report(f"{arguments.out} already holds this corpus")
        return
    make_corpus(settings, grammar, arguments.out)
    report(f"{arguments.out}: {arguments.train} train, {arguments.dev} dev and {arguments.test} test utterances")


if __name__ == "__main__":
    run(main)
