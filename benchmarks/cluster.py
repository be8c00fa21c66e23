"""One worker and one parameter server against one process: training utterances a second, side by side.

    python benchmarks/cluster.py [--n_hidden 256] [--batch 16] [--epochs 6]

Both train on the same synthesized tones, in turn, three times, and the best epoch of each counts, as the machine may be
busy with other things. The first epoch, in which TensorFlow optimizes the graph, is left out.
"""

import argparse
import re
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from corpora import TinyCorpus, write_tiny_corpus

UTTERANCES = 320


def free_ports(count: int) -> list[int]:
    """Ports that nobody listens on."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [int(each.getsockname()[1]) for each in sockets]
    for each in sockets:
        each.close()
    return ports


def epoch_seconds(command: Sequence[str]) -> list[float]:
    """Run a trainer and return the seconds of each epoch but the first."""
    times = []
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        for line in process.stderr:
            if re.search(r"Training of epoch", line):
                times.append(time.monotonic())
    if process.returncode:
        raise SystemExit(f"the trainer failed with code {process.returncode}")
    return [after - before for before, after in pairwise(times)]


def training(corpus: TinyCorpus, folder: Path, options: argparse.Namespace) -> list[str]:
    """The command of a trainer, without its place in a cluster."""
    return [
        *(sys.executable, "-m", "deepspeech", f"--train_files={corpus.train}"),
        *(f"--alphabet_config_path={corpus.alphabet}", f"--n_hidden={options.n_hidden}"),
        *(f"--train_batch_size={options.batch}", f"--epoch={options.epochs}", "--noshow_progressbar"),
        *(f"--checkpoint_dir={folder}", f"--train_cached_features_path={corpus.train.parent / 'train.h5'}"),
    ]


def on_cluster(command: list[str]) -> list[float]:
    """The same on a cluster of one worker and one parameter server."""
    server, worker, coordinator = free_ports(3)
    place = [f"--ps_hosts=localhost:{server}", f"--worker_hosts=localhost:{worker}", f"--coord_port={coordinator}"]
    with subprocess.Popen([*command, *place, "--job_name=ps"], stderr=subprocess.DEVNULL) as process:
        try:
            return epoch_seconds([*command, *place, "--job_name=worker"])
        finally:
            process.wait(30)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--n_hidden", type=int, default=256)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        corpus = write_tiny_corpus(Path(name), train=UTTERANCES)
        local, cluster = [], []
        for turn in range(options.rounds):
            local += epoch_seconds(training(corpus, Path(name) / f"local-{turn}", options))
            cluster += on_cluster(training(corpus, Path(name) / f"cluster-{turn}", options))
    alone, together = UTTERANCES / min(local), UTTERANCES / min(cluster)
    print(f"n_hidden {options.n_hidden}, batches of {options.batch}, best epoch of {len(local)}")
    print(f"one process:                         {alone:.1f} utterances a second")
    print(f"one worker and one parameter server: {together:.1f} utterances a second, {together / alone:.0%}")


if __name__ == "__main__":
    main()
