"""Measures the live streams that the server handles at once in real time, with messages of 20 ms over WebSocket.

    python -m benchmarks.server [--demo demo] [--n_hidden 2048] [--streams 1 10 20 40] [--client published_client.py]

The graph is the demo's, widened to `--n_hidden` units with the same outputs (see processes/speech_graph.py), and the
recording is speech of the demo's test set. A number of streams passes if 99 % of the partials arrive within 300 ms of
the audio that they cover, and 99 % of the finals within 500 ms of the end. The processor time and memory are those of
the server's process; the clients are another process on the same cores. With `--client`, the same number of threads of
one process then stream to the published DeepSpeech 0.9.3 client.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import IO

import numpy as np

from .inference import ROOT, trained_graph, write_graph, write_speech
from .processes.arguments import above_zero, at_least, file

PARTIAL_SECONDS = 0.3
FINAL_SECONDS = 0.5
SHARE = 99
"""Percent of the texts that must be in time."""

WORDY_SECONDS = 90
"""Seconds of the recording, in which each stream begins at a random position."""


def main() -> None:
    """Measure and print."""
    options = parsed()
    with tempfile.TemporaryDirectory() as folder:
        graph = write_graph(Path(folder) / "graph.pb", options.n_hidden, trained_graph(options.demo))
        recording = write_speech(Path(folder) / "speech.wav", options.demo / "corpus/test.csv", WORDY_SECONDS)
        with Server(graph, options.flags) as server:
            measured(server, 1, 3.0, recording)  # everything is loaded
            idle = server.megabytes
            print(f"n_hidden {options.n_hidden}; memory without streams: {idle:.0f} MB")
            most = 0
            for streams in options.streams:
                if measured(server, streams, options.seconds, recording, idle):
                    most = streams
        for streams in options.streams if options.client else ():
            published(options.client, streams, options.seconds, graph, recording)
        print(f"most streams of those tried with {SHARE} % in time: {most}")


def parsed() -> argparse.Namespace:
    """Return the command line's arguments."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--demo", type=Path, default=ROOT / "demo", help="the demo's folder")
    parser.add_argument("--n_hidden", type=at_least(1), default=2048)
    parser.add_argument("--streams", type=at_least(1), nargs="+", default=[1, 10, 20, 30, 40, 50, 60, 70, 80])
    parser.add_argument("--client", type=file, help="a script whose function `library` loads the published client")
    parser.add_argument("--seconds", type=above_zero, default=15)
    parser.add_argument("--flags", nargs="*", default=[], help="further flags of the server, as name=value")
    return parser.parse_args()


class Server:
    """The server's process; a context manager."""

    def __init__(self, graph: Path, flags: list[str]) -> None:
        command = [sys.executable, "-c", "import sys; from deepspeech.commands import server; sys.exit(server())"]
        given = [f"--{flag}" for flag in flags]
        limits = ["--port=0", "--max_streams=1000", "--busy_seconds=1000", "--max_connections=2000"]
        self._process = subprocess.Popen(
            [*command, f"--model={graph}", *limits, *given], stderr=subprocess.PIPE, text=True
        )
        assert self._process.stderr is not None
        line = self._process.stderr.readline()
        found = re.search(r"at http://\S+:(\d+)/", line)
        if found is None:
            sys.exit(f"the server does not start: {line.rstrip()}")
        self.port = int(found.group(1))
        threading.Thread(target=self._pass_on, args=(self._process.stderr,), daemon=True).start()

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        self._process.wait()

    @staticmethod
    def _pass_on(said: IO[str]) -> None:
        """Print the server's output; the server would block if it were not read."""
        for line in said:
            print(line, end="", file=sys.stderr, flush=True)

    def stop(self) -> None:
        """Tell the server to stop; it first completes what it has begun."""
        self._process.terminate()

    @property
    def processor_seconds(self) -> float:
        """Processor seconds of the process."""
        fields = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    @property
    def megabytes(self) -> float:
        """Memory of the process."""
        return self._status("VmRSS") / 1000

    @property
    def threads(self) -> int:
        """The number of the process's threads."""
        return self._status("Threads")

    @property
    def open_files(self) -> int:
        """The number of files and connections that the process has open."""
        return len(list(Path(f"/proc/{self._process.pid}/fd").iterdir()))

    def _status(self, name: str) -> int:
        status = Path(f"/proc/{self._process.pid}/status").read_text()
        found = re.search(rf"{name}:\s+(\d+)", status)
        assert found is not None
        return int(found.group(1))


def measured(server: Server, streams: int, seconds: float, recording: Path, idle: float | None = None) -> bool:
    """Run `streams` clients, print the figures, and return whether enough texts came in time."""
    computed, begin = server.processor_seconds, time.monotonic()
    with started("live_clients", server.port, streams, seconds, recording) as clients:
        time.sleep(0.8 * seconds)
        megabytes = server.megabytes
        output, _ = clients.communicate()
    cores = 100 * (server.processor_seconds - computed) / (time.monotonic() - begin)
    assert clients.returncode == 0
    if idle is None:
        return True
    print(f"{streams:4} streams: {cores:.0f} % of a core; {(megabytes - idle) / streams:.1f} MB a stream; ", end="")
    return in_time(json.loads(output))


def published(client: Path, streams: int, seconds: float, graph: Path, recording: Path) -> None:
    """Stream to the published client from `streams` threads, and print the figures."""
    with started("live_threads", client, streams, seconds, graph, recording) as threads:
        output, _ = threads.communicate()
    assert threads.returncode == 0
    print(f"{streams:4} threads of the published client: ", end="")
    in_time(json.loads(output))


def started(name: str, *arguments: object) -> subprocess.Popen[str]:
    """Start one side of a measurement in a separate process."""
    command = [sys.executable, "-m", f"benchmarks.processes.{name}", *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def in_time(late: dict[str, list[float]]) -> bool:
    """Print the lateness of partials and finals, and return whether enough of them came in time."""
    partial, final = (float(np.percentile(late[name], SHARE)) for name in ("partials", "finals"))
    median = float(np.median(late["partials"]))
    told = f"partials {1000 * median:.0f} ms (median), {1000 * partial:.0f} ms ({SHARE} %)"
    print(f"{told}; finals {1000 * final:.0f} ms ({SHARE} %)", flush=True)
    return partial <= PARTIAL_SECONDS and final <= FINAL_SECONDS


if __name__ == "__main__":
    main()
