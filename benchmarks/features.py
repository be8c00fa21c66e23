"""Measures the speed of all front ends, on one thread and on all cores, from memory and from disk.

    python -m benchmarks.features [--seconds 10]

Prints seconds of audio per second ("times real time"); "per core" counts the processor time of the whole process.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import soundfile

from deepspeech.util.audio import Samples, read_audio
from deepspeech.util.features import FRONT_ENDS, FeatureOptions, FrontEnd, front_end
from deepspeech.util.parallel import usable_cores

from .processes.arguments import above_zero

RATE = 16_000
RECORDING_SECONDS = (1, 3, 10)
TARGET = 1000
"""Times real time that audio_ops must reach on one core."""


def main() -> None:
    """Measure, and print a table."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--seconds", type=above_zero, default=2, help="how long each figure is measured")
    seconds = arguments.parse_args().seconds
    cores = usable_cores()
    print(f"{'front end':10} {'recording':>9} {'per core':>9} {'1 thread':>9} {f'{cores} threads':>10} {'from wav':>9}")
    with tempfile.TemporaryDirectory() as folder:
        for length in RECORDING_SECONDS:
            rates = [measure(name, length, Path(folder), seconds, cores) for name in FRONT_ENDS]
            ratios = " / ".join(f"{rates[0] / rate:.1f}" for rate in rates[1:])
            print(f"{'ratio':10} {length:7} s {ratios:>9}  (audio_ops over {' / '.join([*FRONT_ENDS][1:])}, per core)")


def measure(name: str, length: int, folder: Path, seconds: float, cores: int) -> float:
    """Print the figures of one front end on recordings of one length; return its speed per core."""
    mfcc = front_end(FeatureOptions(sample_rate=RATE, feature_type=name))
    samples = np.random.default_rng(0).normal(0, 0.1, length * RATE).astype(np.float32)
    wav = folder / f"{length}.wav"
    soundfile.write(wav, samples, RATE)
    mfcc.extract(samples)  # sets it up
    one_thread, per_core = speed(lambda: mfcc.extract(samples), length, seconds, 1)
    all_threads, _ = speed(lambda: mfcc.extract(samples), length, seconds, cores)
    from_wav, _ = speed(lambda: extract_file(mfcc, wav), length, seconds, cores)
    missed = f"  below {TARGET}!" if name == "audio_ops" and per_core < TARGET else ""
    print(f"{name:10} {length:7} s {per_core:9.0f} {one_thread:9.0f} {all_threads:10.0f} {from_wav:9.0f}{missed}")
    return per_core


def extract_file(mfcc: FrontEnd, wav: Path) -> Samples:
    """Read a recording and return its features."""
    return mfcc.extract(read_audio(wav, RATE))


def speed(extract: Callable[[], object], length: int, seconds: float, threads: int) -> tuple[float, float]:
    """Return seconds of audio per second of wall-clock time, and per second of processor time."""

    def work(_: int) -> int:
        calls = 0
        while time.perf_counter() < end:
            extract()
            calls += 1
        return calls

    with ThreadPoolExecutor(threads) as pool:
        started, processor_started = time.perf_counter(), time.process_time()
        end = started + seconds
        audio = length * sum(pool.map(work, range(threads)))
        return audio / (time.perf_counter() - started), audio / (time.process_time() - processor_started)


if __name__ == "__main__":
    main()
