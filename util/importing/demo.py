"""The demo's corpus, synthesized: espeak-ng reads sentences of a grammar aloud, in many voices.

No sentence is in two of the sets, and the voices of the test set are in no other set. The same settings and the same
release of espeak-ng give the same corpus, byte for byte.
"""

import json
import random
import wave
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import soxr
from numpy.typing import NDArray

from ..errors import GrammarError, ImportingError
from ..files.packaged_data import DATA
from ..files.whole_files import folder_written_whole
from ..progress import Progress, Report
from .corpus_csv import is_whole, write_corpus
from .synthesis.espeak import Delivery, Synthesizer
from .synthesis.grammar import Grammar

GRAMMAR = DATA / "demo" / "grammar.txt"
SEED = 1
SIZES = {"train": 1200, "dev": 120, "test": 240}
"""The number of utterances in each set."""

SETTINGS_FILE = "corpus.json"

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
DRAWS_PER_SENTENCE = 50  # on average, one of this many draws must give a new sentence


def import_corpus(out: Path, source: Path | None, report: Report) -> None:
    """Make the demo's corpus: OUT/train.csv, OUT/dev.csv and OUT/test.csv, and their recordings.

    Raise ImportingError, GrammarError, or OSError.
    """
    if source is not None:
        raise ImportingError(f"the demo's corpus is synthesized, not imported from {source}; leave out --from")
    make_corpus(out, report)


def make_corpus(
    out: Path, report: Report, grammar_file: Path = GRAMMAR, seed: int = SEED, sizes: Mapping[str, int] = SIZES
) -> None:
    """Make a corpus of a grammar's sentences: a CSV for each set, and 16 kHz 16-bit mono recordings.

    A folder that already holds this corpus completely is left unchanged; another corpus of this kind is replaced.
    `sizes` are the numbers of utterances in train, dev and test. Raise ImportingError, GrammarError, or OSError.
    """
    if min(sizes.values()) < 1:
        raise ImportingError("each set of a synthesized corpus needs at least 1 utterance")
    grammar = Grammar.load(grammar_file)
    settings = Settings(
        seed=seed,
        train=sizes["train"],
        dev=sizes["dev"],
        test=sizes["test"],
        grammar=grammar_file.read_text(encoding="utf-8"),
    )
    if _is_complete(out, settings):
        report(f"{out} already holds this corpus")
        return
    _make(settings, grammar, out)
    report(f"{out}: {settings.train} train, {settings.dev} dev and {settings.test} test utterances")


@dataclass(frozen=True, kw_only=True)
class Settings:
    """All settings that determine a corpus; they are stored with it, to decide whether it must be made again."""

    seed: int
    train: int  # utterances of each set
    dev: int
    test: int
    voices: str = VOICES
    test_voices: str = TEST_VOICES
    speeds: tuple[int, int] = SPEEDS
    pitches: tuple[int, int] = PITCHES
    gains: tuple[float, float] = GAINS
    noise: float = NOISE
    grammar: str  # the text of the grammar file

    def to_json(self) -> str:
        """Return the settings as the text of `SETTINGS_FILE`."""
        return json.dumps(asdict(self), indent=4) + "\n"


def _make(settings: Settings, grammar: Grammar, out: Path) -> None:
    """Make the corpus in a folder beside `out`, then replace `out` with it."""
    rows: dict[str, list[tuple[Path, str]]] = {name: [] for name in SIZES}
    with folder_written_whole(out) as folder:
        count = settings.train + settings.dev + settings.test
        with Progress("demo corpus", count, unit="utterance") as progress:
            for name, path, text in _make_utterances(settings, grammar, folder):
                rows[name].append((path, text))
                progress.advance()
        for name in SIZES:
            write_corpus(folder / f"{name}.csv", rows[name])
        (folder / SETTINGS_FILE).write_text(settings.to_json(), encoding="utf-8")


def _make_utterances(settings: Settings, grammar: Grammar, folder: Path) -> Iterator[tuple[str, Path, str]]:
    """Record every utterance of the corpus into `folder`; yield its set, its file and its transcript."""
    source = random.Random(settings.seed)
    noise = np.random.default_rng(settings.seed)
    counts = (settings.train, settings.dev, settings.test)
    sentences = iter(_draw_sentences(grammar, sum(counts), source))
    with Synthesizer(settings.seed) as synthesizer:
        for name, count in zip(SIZES, counts, strict=True):
            voices = (settings.test_voices if name == "test" else settings.voices).split()
            (folder / name).mkdir()
            for number in range(count):
                text = next(sentences)
                speed, pitch = source.randint(*settings.speeds), source.randint(*settings.pitches)
                delivery = Delivery(voices[number % len(voices)], speed, pitch)
                path = folder / name / f"{number:05d}-{delivery.voice}.wav"
                _save(path, _in_room(_spoken(synthesizer, text, delivery), settings, noise))
                yield name, path, text


def _draw_sentences(grammar: Grammar, count: int, source: random.Random) -> list[str]:
    """Draw `count` different sentences. Raise GrammarError if the grammar has too few of them."""
    sentences: dict[str, None] = {}
    for _ in range(count * DRAWS_PER_SENTENCE):
        if len(sentences) == count:
            return list(sentences)
        sentences[" ".join(grammar.draw(source))] = None
    raise GrammarError(
        f"the grammar gave only {len(sentences)} of {count} different sentences; ask for fewer utterances"
    )


def _spoken(synthesizer: Synthesizer, text: str, delivery: Delivery) -> NDArray[np.float32]:
    """Return `text`, as float32 samples [samples] at `SAMPLE_RATE` in steps of 16-bit samples."""
    samples = synthesizer.speak(text, delivery).astype(np.float32)
    speech: NDArray[np.float32] = soxr.resample(samples, synthesizer.sample_rate, SAMPLE_RATE)
    return speech


def _in_room(speech: NDArray[np.float32], settings: Settings, source: np.random.Generator) -> NDArray[np.int16]:
    """Return speech as recorded by a microphone in a quiet room, as int16 samples [samples]."""
    heard = speech * source.uniform(*settings.gains) + source.normal(0, settings.noise, len(speech))
    return np.clip(np.rint(heard), -32768, 32767).astype(np.int16)


def _save(path: Path, samples: NDArray[np.int16]) -> None:
    """Write mono samples [samples] at `SAMPLE_RATE` as a wav file."""
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(SAMPLE_RATE)
        file.writeframes(samples.astype("<i2").tobytes())


def _is_complete(out: Path, settings: Settings) -> bool:
    """Return whether `out` holds the corpus of these settings. Raise ImportingError if it holds something else."""
    if not out.is_dir() or not any(out.iterdir()):
        return False
    if not (out / SETTINGS_FILE).is_file():
        raise ImportingError(f"{out} holds files that are not a demo corpus; name a folder that is new or empty")
    same = (out / SETTINGS_FILE).read_text(encoding="utf-8") == settings.to_json()
    return same and all(is_whole(out / f"{name}.csv") for name in SIZES)
