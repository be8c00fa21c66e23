"""Compares our training step with PyTorch's, same model and batch: time, memory, and share of the machine's ceiling.

    python -m benchmarks.train_step [--pytorch-python PYTHON] [--n_hidden 512 1024 2048] [--rounds 7]

Ours is the program's own step: graph, session, feeds, dropout, Adam. PyTorch's has the same layers (nn.LSTM, CTCLoss,
fused Adam). Each is a separate process. They alternate step by step, so that other load on the machine affects both.
The ceiling is the speed of a large matrix product of the same precision, in the faster of the two processes. PyTorch
may be in a separate environment (`python -m venv peer && peer/bin/pip install torch numpy`). Linux only.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from typing import IO, Any

from .processes.arguments import at_least, program
from .processes.step import Geometry

NETWORKS: Mapping[str, Mapping[str, Any]] = {
    "deepspeech": {},
    "lstm": {"network": "lstm", "coefficients": 80, "step_ms": 10},
    "conformer": {"network": "conformer", "coefficients": 80, "step_ms": 10, "layers": 8},
    "convolutional": {"network": "convolutional", "coefficients": 80, "step_ms": 10},
}
"""The measured networks, and the differences in their geometry; frames of the others are 10 ms apart."""


@dataclass(frozen=True)
class Measurement:
    """A process's median step in seconds, its memory minus that at its start, and the speed of its products."""

    seconds: float
    megabytes: float
    operations_per_second: float


class StepProcess:
    """A process that runs a step on request."""

    def __init__(self, name: str, process: "subprocess.Popen[str]", messages: IO[str]) -> None:
        self._name = name
        self._process = process
        self._messages = messages

    def ask(self, what: str) -> Any:
        """Have the process run a "step", or "products"; return its answer."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with suppress(BrokenPipeError):
            self._process.stdin.write(f"{what}\n")
            self._process.stdin.flush()
        answer = self._process.stdout.readline()
        if not answer:
            self._messages.seek(0)
            raise SystemExit(self._messages.read() + f"{self._name} ended without an answer")
        return json.loads(answer)


@contextmanager
def started(python: str, module: str, geometry: Geometry) -> Iterator[StepProcess]:
    """Start a module of `processes` that runs steps; it ends with the context."""
    command = [python, "-m", f"benchmarks.processes.{module}", json.dumps(asdict(geometry))]
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"}
    with tempfile.TemporaryFile("w+") as messages:
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=messages, text=True, env=environment
        )
        try:
            yield StepProcess(f"{python} -m benchmarks.processes.{module}", process, messages)
        finally:
            process.kill()
            process.communicate()


def measure(geometry: Geometry, pythons: dict[str, str], rounds: int) -> dict[str, Measurement]:
    """Let the processes take turns."""
    with ExitStack() as stack:
        processes = {
            name: stack.enter_context(started(python, f"{name}_step", geometry)) for name, python in pythons.items()
        }
        for process in processes.values():  # the first steps are slower: they allocate memory and optimize graphs
            process.ask("step")
            process.ask("step")
        answers: dict[str, list[Any]] = {name: [] for name in processes}
        for _ in range(rounds):
            for name, process in processes.items():
                answers[name].append(process.ask("step") | process.ask("products"))
        return {
            name: Measurement(
                statistics.median(answer["seconds"] for answer in answers[name]),
                answers[name][-1]["megabytes"],
                max(answer["operations_per_second"] for answer in answers[name]),
            )
            for name in processes
        }


def row(geometry: Geometry, of: dict[str, Measurement]) -> str:
    """Return one line of the table."""
    ceiling = max(measurement.operations_per_second for measurement in of.values())
    precision = "bfloat16" if geometry.bfloat16 else "float32"
    cells = [f"{geometry.n_hidden:>8} {precision:>9}"]
    for measurement in of.values():
        share = geometry.operations / measurement.seconds / ceiling
        cells.append(f"{measurement.seconds:9.3f} s {measurement.megabytes:6.0f} MB {share:5.0%}")
    if "pytorch" in of:
        cells.append(f"{of['pytorch'].seconds / of['our'].seconds:6.2f} x")
    return " | ".join([*cells, f"{ceiling / 1e9:7.0f} GFLOP/s"])


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n_hidden", type=at_least(1), nargs="+", default=[512, 1024, 2048])
    parser.add_argument("--batch", type=at_least(1), nargs="+", default=[16], help="utterances")
    parser.add_argument("--frames", type=at_least(1), nargs="+", default=[400])
    parser.add_argument("--precision", nargs="+", choices=["float32", "bfloat16"], default=["float32", "bfloat16"])
    parser.add_argument("--rounds", type=at_least(1), default=7)
    parser.add_argument("--network", default="deepspeech", choices=NETWORKS)
    parser.add_argument("--convolutions", type=int, choices=(2, 4), default=2, help="of lstm or conformer")
    parser.add_argument("--bidirectional", action="store_true", help="lstm or conformer that does not stream")
    parser.add_argument("--threads", type=at_least(1), default=len(os.sched_getaffinity(0)))
    parser.add_argument("--pytorch-python", type=program, default=sys.executable, help="a Python that has PyTorch")
    parser.add_argument("--alone", action="store_true", help="measure ours only")
    options = parser.parse_args(arguments)
    pythons = {"our": sys.executable}
    if not options.alone:
        pythons["pytorch"] = options.pytorch_python
    shown = " | ".join(f"{name:>25}" for name in pythons)
    for batch in options.batch:
        for frames in options.frames:
            print(f"{batch} utterances of {frames} frames, {options.threads} threads")
            print(f"n_hidden precision | {shown}{'' if options.alone else ' |    ratio'} | ceiling", flush=True)
            for n_hidden in options.n_hidden:
                for precision in options.precision:
                    numbers = Geometry(n_hidden, precision == "bfloat16", batch, frames, options.threads)
                    chosen = {"convolutions": options.convolutions, "bidirectional": options.bidirectional}
                    geometry = replace(numbers, **NETWORKS[options.network], **chosen)
                    print(row(geometry, measure(geometry, pythons, options.rounds)), flush=True)


if __name__ == "__main__":
    main()
