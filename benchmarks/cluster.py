"""Compares a cluster of workers, with or without a parameter server, with as many independent processes.

    python -m benchmarks.cluster [--n_hidden 512] [--batch 16] [--epochs 4] [--rounds 3] [--workers 2]
        [--sync ps allreduce] [--flags "--gradient_type bfloat16"]

All train on the same synthetic corpus, noise of 2 to 6 seconds. They take turns, `--rounds` times:

1. the clusters; a parameter server has a core of its own if there is one, else it shares the last worker's,
2. as many independent processes at once as there are workers, each on its own core.

Prints after each round, of the median epoch so far, without the first, in which TensorFlow optimizes the graph:

* utterances a second, which say little on a machine that others use,
* the processor time for an utterance, of all processes together,
* the bytes that all send in a step over the loopback interface, which nothing else should use meanwhile.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from .processes.arguments import at_least
from .processes.ports import free_ports
from .train_epoch import write_corpus

UTTERANCES = 1024
"""Enough for the two successive batches of a step to be nearly equally long: with 256 utterances they differ by 6 %."""


@dataclass
class Epochs:
    """The seconds of epochs, and the processor seconds in them."""

    seconds: list[float] = field(default_factory=list)
    processor: list[float] = field(default_factory=list)
    bytes: list[int] = field(default_factory=list)

    def add(self, other: Epochs) -> None:
        """Add the epochs of another run."""
        self.seconds += other.seconds
        self.processor += other.processor
        self.bytes += other.bytes

    @property
    def utterances_per_second(self) -> float:
        """Utterances a second in the median epoch."""
        return UTTERANCES / statistics.median(self.seconds)

    @property
    def milliseconds(self) -> float:
        """The processor time for an utterance, in the median epoch."""
        return 1000 * statistics.median(self.processor) / UTTERANCES


def on_core(core: int, command: Sequence[str]) -> subprocess.Popen[str]:
    """Start a command on one core of those that this process may use."""
    cores = sorted(os.sched_getaffinity(0))
    pinned = ["taskset", "--cpu-list", str(cores[core % len(cores)]), *command, "--intra_op_parallelism_threads=1"]
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"}
    return subprocess.Popen(pinned, stderr=subprocess.PIPE, text=True, env=environment)


def watch(leader: subprocess.Popen[str], others: Sequence[subprocess.Popen[str]]) -> Epochs:
    """Return all but the first of the epochs whose ends `leader` logs; the processor time is that of all processes."""
    ends, last = [], ""
    assert leader.stderr is not None
    for line in leader.stderr:
        last = line.strip() or last
        if "Training of epoch" in line:
            processor = sum(_processor_seconds(process) for process in (leader, *others))
            ends.append((time.monotonic(), processor, _loopback_bytes()))
    if leader.wait():
        raise SystemExit(f"a process has failed: {last}")
    pairs = list(pairwise(ends))
    return Epochs(
        [two[0] - one[0] for one, two in pairs],
        [two[1] - one[1] for one, two in pairs],
        [two[2] - one[2] for one, two in pairs],
    )


def _processor_seconds(process: subprocess.Popen[str]) -> float:
    fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _loopback_bytes() -> int:
    return int(Path("/proc/net/dev").read_text().partition("lo:")[2].split()[8])


def training(corpus: tuple[Path, Path], folder: Path, options: argparse.Namespace) -> list[str]:
    """Return the command that trains, without the flags of a cluster."""
    csv_file, alphabet = corpus
    return [
        *(sys.executable, "-m", "deepspeech", f"--train_files={csv_file}"),
        *(f"--alphabet_config_path={alphabet}", f"--n_hidden={options.n_hidden}"),
        *(f"--train_batch_size={options.batch}", f"--epoch={options.epochs}", "--noshow_progressbar"),
        *(f"--checkpoint_dir={folder}", f"--train_cached_features_path={csv_file.with_suffix('.h5')}"),
    ]


def alone(corpus: tuple[Path, Path], folder: Path, options: argparse.Namespace) -> list[Epochs]:
    """Train in as many independent processes as there are workers, all at once."""
    commands = [training(corpus, folder / str(task), options) for task in range(options.workers)]
    processes = [on_core(task, command) for task, command in enumerate(commands)]
    found: list[Epochs] = []
    threads = [threading.Thread(target=lambda each=each: found.append(watch(each, ()))) for each in processes]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


def on_cluster(corpus: tuple[Path, Path], folder: Path, options: argparse.Namespace, sync: str) -> Epochs:
    """Train on a cluster of the workers and, unless the workers hold the weights, one parameter server."""
    coordinator, server, *workers = free_ports(2 + options.workers)
    hosts = ",".join(f"localhost:{port}" for port in workers)
    servers = [f"--ps_hosts=localhost:{server}"] if sync == "ps" else []
    common = [*training(corpus, folder, options), f"--sync={sync}", *servers, f"--worker_hosts={hosts}"]
    common += [f"--coord_port={coordinator}", *options.flags.split()]
    nodes = [("worker", task) for task in range(options.workers)] + ([("ps", 0)] if servers else [])
    chief, *others = (
        on_core(task if job == "worker" else -1, [*common, f"--job_name={job}", f"--task_index={task}"])
        for job, task in nodes
    )
    for process in others:
        threading.Thread(target=process.stderr.read, daemon=True).start()  # type: ignore[union-attr]
    try:
        epochs = watch(chief, others)
        for process in others:
            process.wait(60)
        return epochs
    finally:
        for process in others:
            process.kill()


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n_hidden", type=at_least(1), default=512)
    parser.add_argument("--batch", type=at_least(1), default=16)
    parser.add_argument("--epochs", type=at_least(2), default=4)
    parser.add_argument("--rounds", type=at_least(1), default=3)
    parser.add_argument("--workers", type=at_least(1), default=2)
    parser.add_argument("--sync", nargs="+", default=["ps", "allreduce"], choices=["ps", "allreduce"])
    parser.add_argument("--flags", default="", help="further flags of the cluster's nodes")
    options = parser.parse_args()
    print(f"n_hidden {options.n_hidden}, batches of {options.batch}, {options.rounds} rounds")
    local, clusters = Epochs(), {sync: Epochs() for sync in options.sync}
    with tempfile.TemporaryDirectory() as name:
        corpus = write_corpus(Path(name), UTTERANCES)
        for turn in range(options.rounds):
            for sync, cluster in clusters.items():
                cluster.add(on_cluster(corpus, Path(name) / f"{sync}-{turn}", options, sync))
            for epochs in alone(corpus, Path(name) / f"{turn}", options):
                local.add(epochs)
            print_figures(turn + 1, local, clusters, options)


def print_figures(rounds: int, local: Epochs, clusters: dict[str, Epochs], options: argparse.Namespace) -> None:
    """Print the figures of all rounds so far, for runs that are ended early."""
    twice = options.workers * local.utterances_per_second
    print(
        f"after {rounds} of {options.rounds} rounds: {options.workers} processes: {twice:.1f} utterances a second, "
        f"{local.milliseconds:.1f} ms of a processor each"
    )
    for sync, cluster in clusters.items():
        speed, spent = cluster.utterances_per_second, cluster.milliseconds
        steps = UTTERANCES / (options.batch * options.workers)
        print(
            f"--sync {sync}: {speed:.1f} utterances a second, {spent:.1f} ms of a processor each: speed "
            f"{speed / twice:.0%}, processor's time {local.milliseconds / spent:.0%}; "
            f"{statistics.median(cluster.bytes) / steps / 1e6:.1f} MB a step",
            flush=True,
        )


if __name__ == "__main__":
    main()
