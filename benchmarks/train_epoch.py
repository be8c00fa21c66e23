"""Compares the whole program with its bare training step, in utterances a second.

    python -m benchmarks.train_epoch [--n_hidden 512 1024] [--batch 16] [--rounds 3]

The variants take turns, `--rounds` times, on the same synthetic corpus, noise of 2 to 6 seconds:

* the bare step, on batches in memory,
* the program, `python -m deepspeech`, with feature cache, feeding, jobs, summaries every ten seconds and checkpoints
  every twenty,
* the program without a cache, so that features are computed while the model trains,
* the program with augmentation (speed, noise, and masks of the features), which also needs to read recordings.

The median epoch of each variant counts, without the first of every process.
"""

import argparse
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
import soundfile

from deepspeech.util.batching.batches import Batching
from deepspeech.util.importing.corpus_csv import write_corpus as write_csv

from .processes.arguments import at_least

LABELS = "abcdefghijklmnopqrstuvwxyz '"
RATE = 16_000

AUGMENTATION = (
    "--augment=speed[factor=1~0.1]",
    "--augment=noise[snr=15~10]",
    "--augment=frequency_mask[domain=features,n=2,size=4~3]",
    "--augment=time_mask[domain=features,n=2,size=200~150]",
)


def write_corpus(folder: Path, utterances: int) -> tuple[Path, Path]:
    """Write noise with transcripts of ten labels a second; return the CSV file and the alphabet."""
    random = np.random.default_rng(1)
    rows = []
    for index in range(utterances):
        seconds = random.uniform(2, 6)
        samples = random.normal(size=int(seconds * RATE)) * 0.1
        transcript = "".join(random.choice(list(LABELS[:26]), int(10 * seconds)))
        soundfile.write(folder / f"{index}.wav", samples, RATE, subtype="PCM_16")
        rows.append((folder / f"{index}.wav", transcript))
    csv_file, alphabet = folder / "train.csv", folder / "alphabet.txt"
    write_csv(csv_file, rows)
    alphabet.write_text("".join(f"{label}\n" for label in LABELS), encoding="utf-8")
    return csv_file, alphabet


def seconds_of_epochs(command: Sequence[str]) -> list[float]:
    """Run a command that logs the end of each epoch; return the seconds of each epoch but the first."""
    times = []
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"}
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stderr is not None
        for line in process.stderr:
            if re.search("Training of epoch", line):
                times.append(time.monotonic())
    if process.returncode:
        raise SystemExit(f"{' '.join(command)}: failed with code {process.returncode}")
    return [after - before for before, after in pairwise(times)]


def program(csv_file: Path, alphabet: Path, options: argparse.Namespace, n_hidden: int, *flags: str) -> list[float]:
    """Train with the whole program."""
    with tempfile.TemporaryDirectory() as folder:
        return seconds_of_epochs(
            [
                *(sys.executable, "-m", "deepspeech", f"--train_files={csv_file}"),
                *(f"--alphabet_config_path={alphabet}", f"--n_hidden={n_hidden}", f"--epoch={options.epochs}"),
                *(f"--train_batch_size={options.batch}", *flags),
                *(f"--checkpoint_dir={folder}", f"--summary_dir={folder}/summaries", "--noshow_progressbar"),
                *("--checkpoint_secs=20", "--summary_secs=10"),
            ]
        )


def bare(csv_file: Path, alphabet: Path, options: argparse.Namespace, n_hidden: int) -> list[float]:
    """Run the bare steps in a separate process."""
    arguments = [str(csv_file), str(alphabet), str(n_hidden), str(options.batch), str(options.epochs)]
    return seconds_of_epochs([sys.executable, "-m", "benchmarks.train_epoch", "--bare", *arguments])


def run_bare_steps(csv_file: Path, alphabet_path: Path, n_hidden: int, batch_size: int, epochs: int) -> None:
    """Train on batches in memory, and log the end of each epoch to stderr, as the program does."""
    from deepspeech.training.towers import feeds
    from deepspeech.util.corpus import read_corpus
    from deepspeech.util.features import FeatureOptions, front_end
    from deepspeech.util.feeding import Feeder, OnTheFly
    from deepspeech.util.text import Alphabet

    from .processes.our_step import session_of
    from .processes.step import Geometry

    alphabet = Alphabet.load(alphabet_path)
    extractor = front_end(FeatureOptions())
    corpus = read_corpus([csv_file], alphabet, extractor)
    feeder = Feeder(corpus, OnTheFly(corpus, extractor), Batching(batch_size))
    batches = list(feeder.batches(range(len(feeder))))
    with session_of(Geometry(n_hidden=n_hidden, labels=alphabet.size), "auto") as (session, graph, fetches):
        for epoch in range(epochs):
            for batch in batches:
                session.run(fetches, feeds(graph.train_towers, [batch]))
            print(f"Training of epoch {epoch + 1}", file=sys.stderr, flush=True)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n_hidden", type=at_least(1), nargs="+", default=[512, 1024])
    parser.add_argument("--utterances", type=at_least(1), default=256)
    parser.add_argument("--batch", type=at_least(1), default=16)
    parser.add_argument("--epochs", type=at_least(2), default=4)
    parser.add_argument("--rounds", type=at_least(1), default=3)
    parser.add_argument("--bare", nargs=5, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.bare:
        csv_file, alphabet, *numbers = options.bare
        return run_bare_steps(Path(csv_file), Path(alphabet), *map(int, numbers))
    with tempfile.TemporaryDirectory() as folder:
        corpus = write_corpus(Path(folder), options.utterances)
        for n_hidden in options.n_hidden:
            cache = f"--train_cached_features_path={folder}/train.h5"
            programs = {"program": (cache,), "program without a cache": (), "program with augmentation": AUGMENTATION}
            seconds: dict[str, list[float]] = {"bare step": [], **{name: [] for name in programs}}
            for _ in range(options.rounds):
                seconds["bare step"] += bare(*corpus, options, n_hidden)
                for name, flags in programs.items():
                    seconds[name] += program(*corpus, options, n_hidden, *flags)
            print(f"n_hidden {n_hidden}, batches of {options.batch}:")
            fastest = options.utterances / statistics.median(seconds["bare step"])
            for name, of_epochs in seconds.items():
                speed = options.utterances / statistics.median(of_epochs)
                print(f"{name:>26}: {speed:7.1f} utterances a second, {speed / fastest:4.2f}", flush=True)


if __name__ == "__main__":
    main()
