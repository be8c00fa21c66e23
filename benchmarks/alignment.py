"""Measures time and memory to align a long recording, and the errors of the positions of its sentences.

    python -m benchmarks.alignment [--demo demo] [--minutes 2 60]

Every recording is a sequence of utterances of the demo's training set. `python -m deepspeech.align` aligns it in a
separate process, with the demo's model, which `make demo` leaves in the folder demo.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import soundfile

from .processes.arguments import above_zero

RATE = 16_000
MEASURED = """
import resource, sys
from deepspeech.cli.align import main
code = main()
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
sys.exit(code)
"""


def main() -> None:
    """Measure, and print a line for each recording."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--demo", type=Path, default=Path("demo"), help="folder of the demo (default: %(default)s)")
    parser.add_argument("--minutes", type=above_zero, nargs="+", default=[2, 60], help="lengths of the recordings")
    arguments = parser.parse_args()
    if not (arguments.demo / "model/output_graph.pb").exists():
        sys.exit(f"--demo={arguments.demo}: holds no demo; `make demo` makes it, in the folder demo")
    for minutes in arguments.minutes:
        with tempfile.TemporaryDirectory() as folder:
            measure(arguments.demo, minutes, Path(folder))


def measure(demo: Path, minutes: float, folder: Path) -> None:
    """Align a recording; print memory, time, and the errors of the sentences' begins."""
    begins, texts = write_recording(demo / "corpus/train.csv", minutes, folder)
    flags = [f"--model={demo / 'model/output_graph.pb'}", f"--audio={folder / 'speech.wav'}"]
    flags += [f"--transcript={folder / 'speech.txt'}", "--format=json", f"--output={folder / 'speech.json'}"]
    started = time.perf_counter()
    done = subprocess.run([sys.executable, "-c", MEASURED, *flags], stdout=subprocess.PIPE, text=True, check=True)
    seconds = time.perf_counter() - started
    words = json.loads((folder / "speech.json").read_text(encoding="utf-8"))["words"]
    firsts = np.cumsum([0, *(len(text.split()) for text in texts)])[:-1]
    late = np.abs(np.array([words[number]["start"] for number in firsts]) - begins)
    print(
        f"{minutes:g} minutes, {len(words)} words: {done.stdout.strip()} MB peak, {seconds:.0f} s; sentences begin "
        f"within {np.median(late) * 1000:.0f} ms (median), {np.quantile(late, 0.99) * 1000:.0f} ms (99 %)",
        flush=True,
    )


def write_recording(csv_file: Path, minutes: float, folder: Path) -> tuple[list[float], list[str]]:
    """Write speech.wav and speech.txt; return the seconds at which the sentences begin, and the sentences."""
    rows = itertools.cycle(list(csv.DictReader(csv_file.open(encoding="utf-8"))))
    begins, texts, samples = [], [], 0
    with soundfile.SoundFile(folder / "speech.wav", "w", RATE, 1, "PCM_16") as file:
        while samples < 60 * minutes * RATE:
            row = next(rows)
            utterance, _ = soundfile.read(csv_file.parent / row["wav_filename"], dtype="int16")
            file.write(utterance)
            begins.append(samples / RATE)
            texts.append(row["transcript"])
            samples += len(utterance)
    (folder / "speech.txt").write_text("\n".join(texts), encoding="utf-8")
    return begins, texts


if __name__ == "__main__":
    main()
