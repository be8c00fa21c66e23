"""How much memory an epoch through the feeder takes, for a small and a large corpus, with and without a cache.

Every figure is the peak of a process of its own that reads the corpus, opens the cache and takes every batch. The
large corpus may take at most 300 MB more than the small one; exits with 1 if it does.
Run from the repository's root: python -m benchmarks.memory [--small 500] [--large 50000]
"""

from __future__ import annotations

import argparse
import csv
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import soundfile

from deepspeech.util.corpus import read_corpus
from deepspeech.util.feature_cache import open_feature_cache
from deepspeech.util.features import FeatureOptions, front_end
from deepspeech.util.feeding import FeatureSource, Feeder, OnTheFly
from deepspeech.util.text import Alphabet

RATE = 16_000
SHORTEST, LONGEST = 0.2, 0.8
"""Seconds."""
ALLOWED_MB = 300
BATCH_SIZE = 32


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--small", type=int, default=500, help="utterances of the small corpus")
    parser.add_argument("--large", type=int, default=50_000, help="utterances of the large corpus")
    parser.add_argument("--epoch", nargs=2, metavar=("CSV", "CACHE"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.epoch:
        run_epoch(*arguments.epoch)
        return
    with tempfile.TemporaryDirectory() as folder:
        small, large = (write_corpus(Path(folder), count) for count in (arguments.small, arguments.large))
        within = [compare(small, large, cached) for cached in (False, True)]
    sys.exit(0 if all(within) else 1)


def compare(small: Path, large: Path, cached: bool) -> bool:
    """Print the peaks of both corpora; return whether the large one's is within what is allowed."""
    peaks = []
    for csv_file in (small, large):
        cache = str(csv_file.with_suffix(".h5")) if cached else ""
        command = [sys.executable, "-m", "benchmarks.memory", "--epoch", str(csv_file), cache]
        output = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
        peaks.append(float(output.split()[0]))
        print(f"{csv_file.stem:>6} utterances, {'cached' if cached else 'no cache':8}: {output.strip()}", flush=True)
    print(
        f"       difference: {peaks[1] - peaks[0]:.0f} MB of {ALLOWED_MB} MB allowed; ratio {peaks[1] / peaks[0]:.2f}"
    )
    return peaks[1] - peaks[0] <= ALLOWED_MB


def run_epoch(csv_file: str, cache: str) -> None:
    """Take every batch of a corpus once, and print this process's peak and the seconds of each stage."""
    mfcc = front_end(FeatureOptions(sample_rate=RATE))
    started = time.perf_counter()
    corpus = read_corpus([csv_file], Alphabet(tuple("abcde ")), mfcc)
    read = time.perf_counter()
    source: FeatureSource = open_feature_cache(cache, corpus, mfcc) if cache else OnTheFly(corpus, mfcc)
    opened = time.perf_counter()
    feeder = Feeder(corpus, source, BATCH_SIZE)
    frames = sum(int(batch.lengths.sum()) for batch in feeder.batches(range(len(feeder))))
    fed = time.perf_counter()
    assert frames == sum(utterance.frames for utterance in corpus)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"{peak:.0f} MB peak; reading {read - started:.1f} s, cache {opened - read:.1f} s, epoch {fed - opened:.1f} s"
    )


def write_corpus(folder: Path, count: int) -> Path:
    """Write so many short recordings of noise, and their CSV."""
    random = np.random.default_rng(count)
    noise = random.normal(0, 3000, int(2 * LONGEST * RATE)).astype(np.int16)
    csv_file = folder / f"{count}.csv"
    with csv_file.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["wav_filename", "wav_filesize", "transcript"])
        for index in range(count):
            wav = folder / f"{count}" / f"{index // 1000}" / f"utterance-{index}.wav"
            wav.parent.mkdir(parents=True, exist_ok=True)
            soundfile.write(wav, noise[: int(random.uniform(SHORTEST, LONGEST) * RATE)], RATE)
            rows.writerow(
                [wav.relative_to(folder), wav.stat().st_size, "".join(random.choice(list("abcde "), 3)) + "a"]
            )
    return csv_file


if __name__ == "__main__":
    main()
