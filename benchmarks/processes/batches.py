"""One measurement of `serving/batches.py`, in a separate process.

    python -m benchmarks.processes.batches KIND COUNT PRECISION GRAPH CORPUS.csv

KIND is one of:

* `alone`: files, one after another;
* `together`: the same files, with `transcribe_many`;
* `streams`: streams, one thread each, fed 20 ms at a time;
* `client`: files, one after another, with the published client; its script is given in place of PRECISION.

Prints JSON.
"""

from __future__ import annotations

import csv
import itertools
import json
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import soundfile

from deepspeech import Model

from .inference import BEAM_WIDTH, RATE, Samples, load, stream, whole

STREAM_SECONDS = 10.0
"""Seconds of audio of each stream."""


def audio_files(corpus: Path) -> Iterator[Path]:
    """Yield the recordings of a corpus, endlessly repeated."""
    with corpus.open(newline="", encoding="utf-8") as rows:
        names = [row["wav_filename"] for row in csv.DictReader(rows)]
    return (corpus.parent / name for name in itertools.cycle(names))


def alone(model: Model, files: Iterator[Path], count: int) -> tuple[float, list[str]]:
    """Transcribe files one after another; return the seconds of their audio, and their texts."""
    chosen = list(itertools.islice(files, count))
    return _seconds(chosen), [model.transcribe(path).text for path in chosen]


def together(model: Model, files: Iterator[Path], count: int) -> tuple[float, list[str]]:
    """Transcribe the same files together."""
    chosen = list(itertools.islice(files, count))
    return _seconds(chosen), [transcript.text for transcript in model.transcribe_many(chosen)]


def streams(model: Model, files: Iterator[Path], count: int) -> tuple[float, list[str]]:
    """Transcribe streams in threads, as fast as possible; return the seconds of one stream."""
    audio = [_speech(files) for _ in range(count)]
    with ThreadPoolExecutor(count) as threads:
        texts = list(threads.map(lambda samples: stream(model, samples), audio))
    return STREAM_SECONDS, texts


def client(model: Any, files: Iterator[Path], count: int) -> tuple[float, list[str]]:
    """Transcribe files one after another with the published client, which takes samples."""
    chosen = list(itertools.islice(files, count))
    return _seconds(chosen), [whole(model, soundfile.read(path, dtype="int16")[0]) for path in chosen]


KINDS: dict[str, Callable[[Any, Iterator[Path], int], tuple[float, list[str]]]] = {
    "alone": alone,
    "client": client,
    "together": together,
    "streams": streams,
}


def _seconds(files: list[Path]) -> float:
    return float(sum(soundfile.info(path).duration for path in files))


def _speech(files: Iterator[Path]) -> Samples:
    """Return STREAM_SECONDS of speech."""
    samples = np.zeros(0, np.int16)
    while len(samples) < STREAM_SECONDS * RATE:
        samples = np.append(samples, soundfile.read(next(files), dtype="int16")[0])
    return samples[: int(STREAM_SECONDS * RATE)]


def resident() -> float:
    """Return the process's current memory, in MB."""
    with Path("/proc/self/status").open(encoding="ascii") as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS")) / 1024


def main(kind: str, count: str, precision: str, graph: str, corpus: str) -> None:
    """Measure and print."""
    model = load(precision, Path(graph))[0] if kind == "client" else Model(graph, precision)
    model.setBeamWidth(BEAM_WIDTH)
    loaded = resident()
    start, work = time.perf_counter(), time.process_time()
    audio, texts = KINDS[kind](model, audio_files(Path(corpus)), int(count))
    figures = {"seconds": time.perf_counter() - start, "work": time.process_time() - work, "audio": audio}
    print(json.dumps({**figures, "loaded": loaded, "memory": resident(), "texts": texts}))


if __name__ == "__main__":
    main(*sys.argv[1:])
