"""Measures importing: rows a second and memory for a synthetic Common Voice, and the speed of checking FLACs.

    python -m benchmarks.importing [--rows 2000000] [--flacs 1500]

The Common Voice is a generated table with a row for each sentence. It has only a few clips, so that the rows decide the
speed. It is imported first with a tenth of the rows, whose peak memory should be nearly that of all rows. The FLACs are
different files of noise of 8 to 16 seconds at 16 kHz.
"""

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import soundfile

from .processes.arguments import at_least

CLIPS = 5
ROWS_OF_A_SPEAKER = 40
RATE = 16000


class Cost(NamedTuple):
    """The costs of a process."""

    seconds: float
    processor_seconds: float
    """The processor seconds of all threads."""
    peak_megabytes: float


def import_corpus(name: str, source: Path, out: Path) -> Cost:
    """Import in a separate process."""
    command = [sys.executable, "-m", "deepspeech.import_corpus", name, "--from", str(source), "--to", str(out)]
    started = time.monotonic()
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"{' '.join(command)} failed")
    return Cost(time.monotonic() - started, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def write_common_voice(folder: Path, rows: int) -> None:
    """Write validated.tsv, row by row, and the few clips that it names."""
    source = np.random.default_rng(1)
    (folder / "clips").mkdir(parents=True)
    for number in range(CLIPS):
        soundfile.write(folder / "clips" / f"{number}.mp3", noise(source, 3.0), RATE, format="MP3")
    with (folder / "validated.tsv").open("w", encoding="utf-8") as file:
        file.write("client_id\tpath\tsentence\tup_votes\tdown_votes\tage\tgender\taccent\tlocale\tsegment\n")
        file.writelines(made_up_rows(rows))


def made_up_rows(rows: int) -> Iterator[str]:
    """Yield lines of validated.tsv; a speaker has neighbouring rows."""
    words = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
    source = random.Random(1)
    for number in range(rows):
        speaker = f"{number // ROWS_OF_A_SPEAKER:0128x}"
        sentence = " ".join(source.choices(words, k=8))
        yield f"{speaker}\t{number % CLIPS}.mp3\t{sentence}\t2\t0\ttwenties\tfemale\t\ten\t\n"


def write_flacs(folder: Path, count: int) -> float:
    """Write a folder of FLACs with their texts, and return the sum of their seconds."""
    source = np.random.default_rng(1)
    folder.mkdir()
    seconds = 0.0
    for number in range(count):
        samples = noise(source, source.uniform(8, 16))
        soundfile.write(folder / f"{number:05d}.flac", samples, RATE)
        (folder / f"{number:05d}.txt").write_text("noise\n")
        seconds += len(samples) / RATE
    return seconds


def noise(source: np.random.Generator, seconds: float) -> "np.typing.NDArray[np.float32]":
    """Return noise as loud as speech, float32 [samples] at `RATE`."""
    return source.normal(0, 0.05, round(seconds * RATE)).astype(np.float32)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=at_least(0), default=2_000_000)
    parser.add_argument("--flacs", type=at_least(0), default=1500)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for rows in filter(None, (options.rows // 10, options.rows)):
            write_common_voice(folder / f"common-voice-{rows}", rows)
            cost = import_corpus("common_voice", folder / f"common-voice-{rows}", folder / f"rows-{rows}")
            rate = rows / cost.seconds
            print(f"{rows} rows: {cost.seconds:.1f} s, {rate:.0f} rows/s, peak memory {cost.peak_megabytes:.0f} MB")
        if options.flacs:
            seconds = write_flacs(folder / "flacs", options.flacs)
            for run in ("first", "again"):
                cost = import_corpus("folder", folder / "flacs", folder / "flacs-imported")
                speed = seconds / cost.processor_seconds
                print(f"{options.flacs} FLACs, {run}: {cost.seconds:.1f} s, {speed:.0f} times real time per core")


if __name__ == "__main__":
    main()
