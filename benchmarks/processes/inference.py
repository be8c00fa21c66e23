"""One measurement of `inference.py`, in a separate process, whose peak memory is the client's.

    python -m benchmarks.processes.inference CLIENT KIND STREAMS GRAPH RECORDING.wav

CLIENT is "ours", or the script whose library is the published client; KIND is whole, stream or first. Prints JSON.
"""

from __future__ import annotations

import json
import resource
import runpy
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import soundfile

BEAM_WIDTH = 500
RATE = 16_000
CHUNK = RATE // 50
"""Samples that a stream is fed at a time, as the published client's script does."""
ASKED_EVERY = RATE // 10
"""Samples of a real-time stream after which it is asked for its text."""

Samples = npt.NDArray[np.int16]
"""int16 [samples]."""


def whole(model: Any, samples: Samples) -> str:
    """Return the text of samples that are passed all at once."""
    return str(model.stt(samples))


def stream(model: Any, samples: Samples) -> str:
    """Return the text of samples that are fed 20 ms at a time, as fast as the client takes them."""
    begun = model.createStream()
    for start in range(0, len(samples), CHUNK):
        begun.feedAudioContent(samples[start : start + CHUNK])
    return str(begun.finishStream())


def first_text(model: Any, samples: Samples) -> float:
    """Return the seconds from the speaker's beginning to a stream's first text, with audio in real time.

    The clock is simulated: it advances to the time of the next samples, and by the client's time to process them.
    """
    begun = model.createStream()
    clock = 0.0
    for start in range(0, len(samples), ASKED_EVERY):
        piece = samples[start : start + ASKED_EVERY]
        clock = max(clock, (start + len(piece)) / RATE)
        asked = time.perf_counter()
        begun.feedAudioContent(piece)
        text = begun.intermediateDecode()
        clock += time.perf_counter() - asked
        if text:
            break
    begun.freeStream()
    return clock


def load(client: str, graph: Path) -> tuple[Any, float, float]:
    """Return a client's model with the beam of the measurement, and the seconds of its import and of loading."""
    start = time.perf_counter()
    import deepspeech

    imported = time.perf_counter()
    if client == "ours":
        model: Any = deepspeech.Model(graph)
    else:
        published = runpy.run_path(str(Path(__file__).parents[2] / "tests/serving/published.py"))
        model = published["PublishedClient"](Path(client).parent, graph)
    loaded = time.perf_counter()
    model.setBeamWidth(BEAM_WIDTH)
    return model, imported - start, loaded - imported


def main(client: str, kind: str, streams: str, graph: str, recording: str) -> None:
    """Measure and print."""
    model, import_seconds, load_seconds = load(client, Path(graph))
    samples = np.asarray(soundfile.read(recording, dtype="int16")[0])
    texts: list[str] = []
    start = time.perf_counter()
    if kind == "first":
        seconds = first_text(model, samples)
    else:
        work = whole if kind == "whole" else stream
        with ThreadPoolExecutor(int(streams)) as threads:
            texts = list(threads.map(lambda _: work(model, samples), range(int(streams))))
        seconds = time.perf_counter() - start
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    figures = {"seconds": seconds, "import": import_seconds, "load": load_seconds, "memory": memory}
    print(json.dumps({**figures, "texts": texts}))


if __name__ == "__main__":
    main(*sys.argv[1:])
