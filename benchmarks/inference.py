"""Compares our engine with the published DeepSpeech 0.9.3 client: the same graph, recording and beam, in turns.

    python -m benchmarks.inference --client published_client.py [--demo demo] [--n_hidden 2048] [--seconds 10]
    python -m benchmarks.inference --client published_client.py --random
    python -m benchmarks.inference --client published_client.py --model GRAPH.pb --audio SPEECH.wav

`--client` is a script whose function `library` loads the published client. The graph and the recording are

* by default, the graph that `make demo` trained in the folder `--demo` (it is trained now if missing), widened to
  `--n_hidden` units with the same outputs (see processes/speech_graph.py), and speech of the demo's test set;
* with `--random`, random weights and noise, which is the hardest input for a decoder;
* with `--model` and `--audio`, the given ones.

Every measurement is a separate process; several streams are threads of it. Rounds alternate between the two, so that a
busy machine affects both equally, and ratios are those of the fastest rounds. The time to the first text counts from
when the speaker begins, with audio in real time and a client that is asked for its text ten times a second.
"""

from __future__ import annotations

import argparse
import csv
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import soundfile

from .processes.arguments import above_zero, at_least, file
from .processes.commands import run_quietly
from .processes.inference import RATE

ROOT = Path(__file__).parents[1]
STREAMS = 8
KINDS = {"whole": ("whole", 1), "stream": ("stream", 1), f"{STREAMS} streams": ("stream", STREAMS)}


def main() -> None:
    """Measure and print."""
    options = parsed()
    with tempfile.TemporaryDirectory() as folder:
        graph, recording = options.model, options.audio
        if options.random:
            graph = write_graph(Path(folder) / "graph.pb", options.n_hidden, None)
            recording = write_noise(Path(folder) / "recording.wav", options.seconds)
            print(f"graph: random weights, n_hidden {options.n_hidden}; recording: noise")
        elif not graph:
            trained = trained_graph(options.demo)
            graph = write_graph(Path(folder) / "graph.pb", options.n_hidden, trained)
            recording = write_speech(Path(folder) / "recording.wav", options.demo / "corpus/test.csv", options.seconds)
            print(f"graph: {trained}, widened to n_hidden {options.n_hidden}; recording: the demo's test set")
        print(f"{soundfile.info(recording).duration:.1f} s of audio")
        compare(options.client, graph, recording, options.rounds)


def parsed() -> argparse.Namespace:
    """Return the command line's arguments."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--client", type=file, required=True)
    parser.add_argument("--demo", type=Path, default=ROOT / "demo", help="the demo's folder")
    parser.add_argument("--random", action="store_true", help="random weights, and noise for a recording")
    parser.add_argument("--model", type=file, help="a graph to be used as it is, with --audio")
    parser.add_argument("--audio", type=file, help="16-bit mono samples at the model's rate")
    parser.add_argument("--n_hidden", type=at_least(1), default=2048)
    parser.add_argument("--seconds", type=above_zero, default=10)
    parser.add_argument("--rounds", type=at_least(1), default=3)
    options = parser.parse_args()
    if bool(options.model) != bool(options.audio):
        parser.error("--model and --audio go together")
    return options


def compare(client: Path, graph: Path, recording: Path, rounds: int) -> None:
    """Run both in turns and print the fastest of each, and the ratios."""
    for name, (kind, streams) in {**KINDS, "first text": ("first", 1)}.items():
        both: dict[str, list[dict[str, Any]]] = {str(client): [], "ours": []}
        for _ in range(rounds):
            for who, runs in both.items():
                runs.append(measured(who, kind, streams, graph, recording))
        theirs, ours = (min(runs, key=lambda run: float(run["seconds"])) for runs in both.values())
        ratio = f": {theirs['seconds'] / ours['seconds']:.2f} times" if kind != "first" else " after the begin"
        print(f"{name:10} published {theirs['seconds']:7.2f} s, ours {ours['seconds']:7.2f} s{ratio}")
        print(f"{'':10} memory: published {theirs['memory']:.0f} MB, ours {ours['memory']:.0f} MB", flush=True)
        if kind == "whole":
            load = f"published {theirs['load']:.2f} s, ours {ours['load']:.2f} s"
            print(f"{'':10} model load: {load}; import deepspeech {ours['import'] * 1000:.1f} ms")
            print(
                f"{'':10} text: {'the same' if theirs['texts'] == ours['texts'] else 'DIFFERENT'}, {ours['texts'][0]!r}"
            )


def measured(client: str, kind: str, streams: int, graph: Path, recording: Path) -> dict[str, Any]:
    """Run one measurement in a separate process."""
    command = [sys.executable, "-m", "benchmarks.processes.inference", client, kind, str(streams)]
    command += [str(graph), str(recording)]
    result: dict[str, Any] = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    return result


def trained_graph(demo: Path) -> Path:
    """Return the graph that the demo trained; train it now if it is missing."""
    graph = demo / "model/output_graph.pb"
    if not graph.exists():
        print(f"training the demo in {demo}, which takes some minutes", flush=True)
        run_quietly([ROOT / "bin/run-demo.sh", "--work", demo])
    return graph


def write_graph(path: Path, n_hidden: int, trained: Path | None) -> Path:
    """Write a graph in a separate process, which ends before anything is measured."""
    command = [sys.executable, "-m", "benchmarks.processes.speech_graph", str(path), "--n_hidden", str(n_hidden)]
    command += ["--trained", str(trained)] if trained else []
    done = subprocess.run(command, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        raise SystemExit(done.stderr.splitlines()[-1])
    return path


def write_speech(path: Path, corpus: Path, seconds: float) -> Path:
    """Write recordings of a corpus one after another, until they last `seconds`."""
    samples = np.zeros(0, np.int16)
    with corpus.open(newline="", encoding="utf-8") as rows:
        for row in csv.DictReader(rows):
            samples = np.append(samples, soundfile.read(corpus.parent / row["wav_filename"], dtype="int16")[0])
            if len(samples) >= seconds * RATE:
                break
    soundfile.write(path, samples[: int(seconds * RATE)], RATE, subtype="PCM_16")
    return path


def write_noise(path: Path, seconds: float) -> Path:
    """Write noise that swells and fades like syllables."""
    time_axis = np.arange(int(seconds * RATE)) / RATE
    loudness = 0.1 * (1 + np.sin(2 * np.pi * 4 * time_axis))
    noise = np.random.default_rng(2).normal(0, 1, len(time_axis))
    soundfile.write(path, np.clip(loudness * noise, -1, 1), RATE, subtype="PCM_16")
    return path


if __name__ == "__main__":
    main()
