#!/usr/bin/env python3
"""Our engine beside the published DeepSpeech 0.9.3 client: the same graph, recording and beam, in turns.

    benchmarks/inference.py --client published_client.py [--n_hidden 2048] [--seconds 10] [--rounds 3]

`--client` is a script that runs a wav through the published client and prints JSON (`--model --audio --beam_width
--repeat --stream`). The graph has random weights unless `--model` names one. Every measurement is a process of its own;
ratios are of the fastest of the rounds, which alternate between the two, so that a busy machine is as busy for both.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import soundfile

RATE = 16_000
BEAM_WIDTH = 500
CHUNK = RATE // 50
STREAMS = 8


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--client", type=Path, required=True)
    parser.add_argument("--model", type=Path)
    parser.add_argument("--n_hidden", type=int, default=2048)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        graph = options.model or write_random_graph(Path(folder) / "graph.pb", options.n_hidden)
        wav = write_recording(Path(folder) / "recording.wav", options.seconds)
        compare(options.client, graph, wav, options.rounds)


def compare(client: Path, graph: Path, wav: Path, rounds: int) -> None:
    """Run both in turns and print the fastest of each, and the ratios."""
    for kind in ("whole", "stream", f"{STREAMS} streams"):
        ours: list[dict[str, Any]] = []
        theirs: list[dict[str, Any]] = []
        for _ in range(rounds):
            theirs.append(run_published(client, graph, wav, kind))
            ours.append(run_ours(graph, wav, kind))
        best_ours, best_theirs = (min(runs, key=lambda run: float(run["seconds"])) for runs in (ours, theirs))
        ratio = best_theirs["seconds"] / best_ours["seconds"]
        seconds = f"published {best_theirs['seconds']:7.2f} s, ours {best_ours['seconds']:7.2f} s"
        print(f"{kind:10} {seconds}: {ratio:.2f} times", flush=True)
        print(f"{'':10} memory: published {best_theirs['memory']:.0f} MB, ours {best_ours['memory']:.0f} MB")
        if kind == "whole":
            print(f"{'':10} model load {best_ours['load']:.2f} s, import deepspeech {best_ours['import']:.3f} s")


def run_published(client: Path, graph: Path, wav: Path, kind: str) -> dict[str, Any]:
    """Run the published client; several streams are several processes at once, as its users run it."""
    command = [sys.executable, str(client), "--model", str(graph), "--audio", str(wav), "--beam_width", str(BEAM_WIDTH)]
    command += ["--stream"] if "stream" in kind else []
    count = STREAMS if kind.startswith(str(STREAMS)) else 1
    started = [
        subprocess.Popen([sys.executable, __file__, "--measure", *command], stdout=subprocess.PIPE)
        for _ in range(count)
    ]
    results = [json.loads(process.communicate()[0]) for process in started]
    return {"seconds": max(run["seconds"] for run in results), "memory": sum(run["memory"] for run in results)}


def run_ours(graph: Path, wav: Path, kind: str) -> dict[str, Any]:
    """Run ours in a process of its own; several streams are threads."""
    command = [sys.executable, __file__, "--ours", str(graph), str(wav), kind]
    result: dict[str, Any] = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    return result


def ours(graph: str, wav: str, kind: str) -> None:
    """In the child: load, transcribe, print what it took."""
    start = time.perf_counter()
    import deepspeech

    imported = time.perf_counter()
    model = deepspeech.Model(graph)
    loaded = time.perf_counter()
    model.setBeamWidth(BEAM_WIDTH)
    samples = np.asarray(soundfile.read(wav, dtype="int16")[0])
    begun = time.perf_counter()
    if kind == "whole":
        model.stt(samples)
    else:
        threads = [
            threading.Thread(target=stream, args=(model, samples))
            for _ in range(STREAMS if kind.startswith(str(STREAMS)) else 1)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    seconds = time.perf_counter() - begun
    report(seconds=seconds, load=loaded - imported, **{"import": imported - start})


def stream(model: Any, samples: npt.NDArray[np.int16]) -> None:
    """Feed 20 ms at a time, as the published client's script does."""
    begun = model.createStream()
    for start in range(0, len(samples), CHUNK):
        begun.feedAudioContent(samples[start : start + CHUNK])
    begun.finishStream()


def measure(command: list[str]) -> None:
    """In a child: run the published client's script and add its memory."""
    result = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    print(json.dumps({"seconds": result["seconds"], "memory": memory}))


def report(**figures: float) -> None:
    """Print the figures and this process's memory."""
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({**figures, "memory": memory}))


def write_random_graph(path: Path, n_hidden: int) -> Path:
    """Write a graph of the alphabet of English with random weights, in a process that is gone afterwards."""
    program = f"""
import numpy as np
from deepspeech.inference_graph import InferenceOptions, inference_graph
from deepspeech.model import variable_shapes
from deepspeech.options import ModelOptions
from deepspeech.util.features import FeatureOptions
from deepspeech.util.text import Alphabet
alphabet = Alphabet(tuple(" abcdefghijklmnopqrstuvwxyz'"))
random = np.random.default_rng(1)
shapes = variable_shapes(alphabet.size, ModelOptions(n_hidden={n_hidden}), FeatureOptions())
weights = {{
    name: random.normal(0, 1 / shape[0] ** 0.5 if len(shape) > 1 else 0.01, shape).astype(np.float32)
    for name, shape in shapes.items()
}}
weights["layer_1/weights"] *= 0.1
weights["layer_6/bias"][-1] = 2
graph = inference_graph(weights, alphabet, FeatureOptions(), InferenceOptions())
open({str(path)!r}, "wb").write(graph.SerializeToString())
"""
    subprocess.run([sys.executable, "-c", program], check=True, capture_output=True)
    return path


def write_recording(path: Path, seconds: float) -> Path:
    """Write noise that swells and fades like syllables."""
    time_axis = np.arange(int(seconds * RATE)) / RATE
    loudness = 0.1 * (1 + np.sin(2 * np.pi * 4 * time_axis))
    noise = np.random.default_rng(2).normal(0, 1, len(time_axis))
    soundfile.write(path, np.clip(loudness * noise, -1, 1), RATE, subtype="PCM_16")
    return path


if __name__ == "__main__":
    if sys.argv[1:2] == ["--ours"]:
        ours(*sys.argv[2:5])
    elif sys.argv[1:2] == ["--measure"]:
        measure(sys.argv[2:])
    else:
        main()
