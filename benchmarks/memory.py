"""Measures the memory of an epoch of training, for a small and a large corpus, with and without a cache.

    python -m benchmarks.memory [--small 500] [--large 50000]

Every figure is the peak of a separate process that trains a small model for one epoch. Exits with 1 if the large corpus
takes more than 300 MB more than the small one.
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

from deepspeech.cli.train import main as program

from .processes.arguments import at_least

RATE = 16_000
SHORTEST, LONGEST = 0.2, 0.8
"""Seconds."""
ALLOWED_MB = 300
BATCH_SIZE = 32


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--small", type=at_least(1), default=500, help="utterances of the small corpus")
    parser.add_argument("--large", type=at_least(1), default=50_000, help="utterances of the large corpus")
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
    """Print the peaks of both corpora; return whether the large corpus's peak is within the limit."""
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
    """Train for one epoch, as the program does, and print this process's peak and the seconds it took."""
    started = time.perf_counter()
    with tempfile.TemporaryDirectory() as checkpoints:
        arguments = [f"--train_files={csv_file}", f"--train_cached_features_path={cache}", "--epoch=1"]
        arguments += [f"--checkpoint_dir={checkpoints}", "--n_hidden=16", f"--train_batch_size={BATCH_SIZE}"]
        if code := program(arguments):
            sys.exit(code)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{peak:.0f} MB peak, {time.perf_counter() - started:.0f} s")


def write_corpus(folder: Path, count: int) -> Path:
    """Write `count` short recordings of noise, and their CSV."""
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
