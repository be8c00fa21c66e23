"""The tiny corpus with other transcripts, and models of them."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Mapping
from pathlib import Path

from corpora import TinyCorpus
from program import Program


def retold(corpus: TinyCorpus, folder: Path, write: Callable[[str], str]) -> dict[str, Path]:
    """Write the sets with other transcripts of the same recordings; return their files by name."""
    files = {}
    for source in (corpus.train, corpus.dev, corpus.test):
        with source.open(newline="") as lines, (folder / source.name).open("w", newline="", encoding="utf-8") as target:
            rows = csv.writer(target)
            rows.writerow(["wav_filename", "wav_filesize", "transcript"])
            for row in csv.DictReader(lines):
                rows.writerow([source.parent / row["wav_filename"], row["wav_filesize"], write(row["transcript"])])
        files[source.stem] = folder / source.name
    return files


def train_and_export(program: Program, files: dict[str, Path], *flags: str) -> str:
    """Train, test and export; return what was logged."""
    finished = program.run(
        *program.training(epoch=120, train_files=files["train"], test_files=files["train"]),
        "--test_batch_size=6",
        "--dropout_rate=0",
        f"--export_dir={program.folder / 'model'}",
        *flags,
    )
    assert finished.code == 0, finished.stderr
    return finished.stderr


def figures_of_test(log: str) -> str:
    """Return the error rates, without the loss, which rounding changes."""
    (rates,) = re.findall(r"Test: loss [\d.]+, (.*)", log)
    return str(rates)


def character_error_rate(log: str) -> float:
    (rate,) = re.findall(r"Test: .* CER ([\d.]+)%", log)
    return float(rate)


def write_unigrams(path: Path, scores: Mapping[str, float]) -> Path:
    """Write an ARPA file of these words or characters and their logarithms to the base 10."""
    unigrams = ["-99\t<s>\t0", "-1\t</s>", "-3\t<unk>", *(f"{score}\t{each}\t0" for each, score in scores.items())]
    bigrams = [f"-1\t<s> {next(iter(scores))}"]
    counts = [f"ngram 1={len(unigrams)}", f"ngram 2={len(bigrams)}"]
    parts = ["\\data\\", *counts, "", "\\1-grams:", *unigrams, "", "\\2-grams:", *bigrams, "", "\\end\\", ""]
    path.write_text("\n".join(parts))
    return path
