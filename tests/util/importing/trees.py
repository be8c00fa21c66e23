"""Small trees of files in the layouts of corpora, and the output of an import."""

from __future__ import annotations

import csv
import os
from pathlib import Path

import numpy as np
import soundfile

from deepspeech.util.importing import import_corpus
from deepspeech.util.importing.pipeline.records import SETS, Choices

RATE = 8000


def tone(path: Path, seconds: float = 0.5, channels: int = 1, rate: int = RATE) -> Path:
    """Write a recording whose samples in second n, counted from 1, are 100 n."""
    path.parent.mkdir(parents=True, exist_ok=True)
    samples = (np.arange(round(seconds * rate)) // rate * 100 + 100).astype(np.int16)
    form = {".mp3": "MP3", ".opus": "OGG", ".sph": "NIST"}.get(path.suffix)
    subtype = {".opus": "OPUS", ".sph": "PCM_16"}.get(path.suffix)
    soundfile.write(os.fsencode(path), np.stack([samples] * channels, axis=1), rate, format=form, subtype=subtype)
    return path


def write(path: Path, text: str | bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


class Import:
    """The files that an import wrote into a folder, and its messages."""

    def __init__(self, name: str, source: Path, out: Path, choices: Choices = Choices()) -> None:  # noqa: B008
        self.out = out
        self.news: list[str] = []
        import_corpus(name, out, source, self.news.append, choices)
        self.left_out = {row["source"]: row["reason"] for row in read(out / "left_out.csv")}

    def rows(self, name: str) -> list[dict[str, str]]:
        return read(self.out / f"{name}.csv")

    @property
    def all_rows(self) -> list[dict[str, str]]:
        return [row for name in SETS for row in self.rows(name)]

    @property
    def transcripts(self) -> dict[str, str]:
        """The transcript of each recording, by its name without the folder, of all sets."""
        return {Path(row["wav_filename"]).name: row["transcript"] for row in self.all_rows}

    @property
    def sets(self) -> dict[str, set[str]]:
        """The names of the recordings of each set."""
        return {name: {Path(row["wav_filename"]).name for row in self.rows(name)} for name in SETS}

    def samples(self, row: dict[str, str]) -> tuple[np.typing.NDArray[np.int16], int]:
        """Return the samples of a row's recording, and the number of its channels."""
        samples, _ = soundfile.read(self.out / row["wav_filename"], dtype="int16", always_2d=True)
        return samples[:, 0], samples.shape[1]


def read(path: Path) -> list[dict[str, str]]:
    if not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))
