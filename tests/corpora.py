"""Tiny corpora for tests: every character sounds as a tone of its own, so even a tiny model learns to read them."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import soundfile

RATE = 16_000
CHARACTERS = " abcde"
CHARACTER_SECONDS = 0.12

_SILENCE_SECONDS = 0.06
_TONES = {"a": 400.0, "b": 700.0, "c": 1200.0, "d": 2000.0, "e": 3300.0}  # Hz; a space is silent


@dataclass(frozen=True)
class TinyCorpus:
    """Files of a corpus; the recordings lie in the folder `wav` beside the CSVs."""

    train: Path
    dev: Path
    test: Path
    alphabet: Path

    @classmethod
    def of(cls, folder: Path) -> TinyCorpus:
        """Return the corpus that `write_tiny_corpus` has written into a folder."""
        return cls(*(folder / name for name in ("train.csv", "dev.csv", "test.csv", "alphabet.txt")))


def write_tiny_corpus(folder: Path, train: int = 24, dev: int = 6, test: int = 6, seed: int = 1) -> TinyCorpus:
    """Write utterances of one to three words of one to three letters, as many for each set as are given."""
    random = np.random.default_rng(seed)
    write_alphabet(folder / "alphabet.txt", CHARACTERS)
    for name, count in (("train", train), ("dev", dev), ("test", test)):
        rows = []
        for index in range(count):
            transcript = random_transcript(random)
            rows.append((write_wav(folder / "wav" / f"{name}-{index}.wav", say(transcript, random)), transcript))
        write_csv(folder / f"{name}.csv", rows)
    return TinyCorpus.of(folder)


def random_transcript(random: np.random.Generator) -> str:
    letters = list(_TONES)
    return " ".join("".join(random.choice(letters, random.integers(1, 4))) for _ in range(random.integers(1, 4)))


def say(transcript: str, random: np.random.Generator) -> npt.NDArray[np.float32]:
    """Return a transcript as samples at RATE: a tone per character between two silences, all a little different."""
    silence = np.zeros(int(_SILENCE_SECONDS * RATE))
    sounds = np.concatenate([silence, *(_sound(character, random) for character in transcript), silence])
    return (sounds + random.normal(0, 0.003, len(sounds))).astype(np.float32)


def write_wav(path: Path, samples: npt.NDArray[np.floating], rate: int = RATE, subtype: str = "PCM_16") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    soundfile.write(path, samples, rate, subtype=subtype)
    return path


def write_csv(path: Path, rows: Iterable[tuple[Path, str]]) -> Path:
    """Write recordings (named relative to the CSV's folder) and transcripts."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["wav_filename", "wav_filesize", "transcript"])
        for wav, transcript in rows:
            size = wav.stat().st_size if wav.exists() else 0
            writer.writerow([wav.relative_to(path.parent), size, transcript])
    return path


def write_alphabet(path: Path, labels: Sequence[str]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{label}\n" for label in labels), encoding="utf-8")
    return path


def _sound(character: str, random: np.random.Generator) -> npt.NDArray[np.float64]:
    time = np.arange(int(CHARACTER_SECONDS * RATE * random.uniform(0.9, 1.1))) / RATE
    if character not in _TONES:
        return np.zeros(len(time))
    frequency = _TONES[character] * random.uniform(0.97, 1.03)
    fade = np.minimum(1, np.minimum(time, time[::-1]) / 0.02)  # so that a repeated letter sounds twice
    tone: npt.NDArray[np.float64] = random.uniform(0.2, 0.6) * fade * np.sin(2 * np.pi * frequency * time)
    return tone
