"""Compares files transcribed together and one after another, and measures streams of threads that share a model.

    python -m benchmarks.serving.batches [--demo demo] [--n_hidden 2048] [--files 1000] [--streams 1 8 40 70]
        [--client published_client.py]

The graph is the one that `make demo` trained, widened to `--n_hidden` units (see ../processes/speech_graph.py), and the
audio is that of the demo's test set, repeated. Each measurement is a separate process. Rounds alternate between the
kinds, and the fastest of each kind counts. The real-time factor is that of all streams together: below 1, they keep up
with speakers. The processor time beside it is what the factor would be on an otherwise idle machine. With `--client`, a
script whose function `library` loads the published client, that client transcribes some of the files.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from deepspeech.serving.layers.precision import Precision

from ..inference import ROOT, trained_graph, write_graph
from ..processes.arguments import at_least, file


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--demo", type=Path, default=ROOT / "demo", help="the demo's folder")
    parser.add_argument("--n_hidden", type=at_least(1), default=2048)
    parser.add_argument("--files", type=at_least(0), default=1000)
    parser.add_argument("--streams", type=at_least(1), nargs="*", default=[1, 8, 40, 70])
    parser.add_argument("--client", type=file, help="a script whose function `library` loads the published client")
    parser.add_argument("--rounds", type=at_least(1), default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        graph = write_graph(Path(folder) / "graph.pb", options.n_hidden, trained_graph(options.demo))
        inputs = [str(graph), str(options.demo / "corpus/test.csv")]
        if options.files:
            compare_files(options.files, inputs, options.rounds, options.client)
        for count in options.streams:
            measure_streams(count, inputs, options.rounds)


CLIENT_FILES = 60
"""Number of files that the published client transcribes; it takes long."""


def compare_files(count: int, inputs: list[str], rounds: int, client: Path | None) -> None:
    """Print the seconds of files one after another and together, for each precision, and how many texts agree."""
    kinds = [("alone", "float32"), *(("together", precision.value) for precision in Precision)]
    fastest = fastest_of([(kind, str(count), precision) for kind, precision in kinds], inputs, rounds)
    before = fastest[0]
    for (kind, precision), run in zip(kinds, fastest, strict=True):
        same = sum(a == b for a, b in zip(run["texts"], before["texts"], strict=True))
        faster, less = before["seconds"] / run["seconds"], before["work"] / run["work"]
        print(
            f"{count} files {kind}, {precision}: {run['seconds']:.1f} s ({faster:.1f} times faster), "
            f"processor {run['work']:.1f} s ({less:.1f} times less), "
            f"{same} of {count} texts the same, {run['memory']:.0f} MB ({run['loaded']:.0f} when loaded)",
            flush=True,
        )
    if client is not None:
        published = measured(("client", str(CLIENT_FILES), str(client)), inputs)
        rate = published["seconds"] / published["audio"]
        print(f"{CLIENT_FILES} files by the published client: {rate:.2f} s for a second of audio")
        for (kind, precision), run in zip(kinds, fastest, strict=True):
            same = sum(a == b for a, b in zip(run["texts"], published["texts"], strict=False))
            faster = rate * run["audio"] / run["seconds"]
            print(f"{kind}, {precision}: {faster:.0f} times faster, {same} of its texts the same", flush=True)


def measure_streams(count: int, inputs: list[str], rounds: int) -> None:
    """Print the real-time factors of streams for both precisions."""
    kinds = [("streams", str(count), precision.value) for precision in Precision]
    for (_, _, precision), run in zip(kinds, fastest_of(kinds, inputs, rounds), strict=True):
        print(
            f"{count} streams, {precision}: real-time factor {run['seconds'] / run['audio']:.2f}, "
            f"processor {run['work'] / run['audio']:.2f} s for each second, {run['memory']:.0f} MB",
            flush=True,
        )


def fastest_of(kinds: list[tuple[str, str, str]], inputs: list[str], rounds: int) -> list[dict[str, Any]]:
    """Run each kind once a round; return the fastest run of each."""
    runs = [[measured(kind, inputs) for kind in kinds] for _ in range(rounds)]
    return [min(of_kind, key=lambda run: float(run["seconds"])) for of_kind in zip(*runs, strict=True)]


def measured(kind: tuple[str, str, str], inputs: list[str]) -> dict[str, Any]:
    """Run one measurement in a separate process."""
    command = [sys.executable, "-m", "benchmarks.processes.batches", *kind, *inputs]
    result: dict[str, Any] = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    return result


if __name__ == "__main__":
    main()
