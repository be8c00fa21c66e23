"""Real-time streams as threads of one process with the client's library, as in a program without a server.

    python -m benchmarks.processes.live_threads CLIENT STREAMS SECONDS GRAPH RECORDING.wav

Each thread feeds 20 ms at a time when it is due, and asks for the text ten times a second. Prints JSON as
`live_clients` does: the lateness of each text, and of the final one.
"""

from __future__ import annotations

import json
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import soundfile

from .inference import CHUNK, RATE, Samples, load

ASKED_EVERY = 5
"""Chunks."""


def speak(model: Any, samples: Samples, delay: float) -> tuple[list[float], float]:
    """Return the lateness of each text of a stream, and that of the final one, in seconds."""
    time.sleep(delay)
    stream = model.createStream()
    begin, late = time.monotonic(), []
    for number, start in enumerate(range(0, len(samples), CHUNK), start=1):
        due = begin + number * CHUNK / RATE
        time.sleep(max(due - time.monotonic(), 0))
        stream.feedAudioContent(samples[start : start + CHUNK])
        if number % ASKED_EVERY == 0:
            stream.intermediateDecode()
            late.append(time.monotonic() - due)
    stream.finishStream()
    return late, time.monotonic() - begin - len(samples) / RATE


def main(client: str, streams: str, seconds: str, graph: str, path: str) -> None:
    """Measure and print."""
    model, _, _ = load(client, Path(graph))
    count, length = int(streams), int(float(seconds) * RATE)
    recording = np.asarray(soundfile.read(path, dtype="int16")[0])
    places = np.random.default_rng(1).integers(0, len(recording) - length + 1, count)
    with ThreadPoolExecutor(count) as threads:
        spoken = [recording[place : place + length] for place in places]
        told = list(threads.map(lambda n: speak(model, spoken[n], n / count), range(count)))
    partials, finals = [each for late, _ in told for each in late], [final for _, final in told]
    print(json.dumps({"partials": partials, "finals": finals}))


if __name__ == "__main__":
    main(*sys.argv[1:])
