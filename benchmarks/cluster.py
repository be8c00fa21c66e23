"""One worker and one parameter server against one process: training utterances a second, side by side.

    python -m benchmarks.cluster [--n_hidden 512] [--batch 16] [--epochs 6] [--rounds 3]

Both train on the same synthetic corpus, noise of 2 to 6 seconds, in turn, `--rounds` times; the median epoch of each
counts. The first epoch, in which TensorFlow optimizes the graph, is left out.
"""

import argparse
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from .processes.ports import free_ports
from .train_epoch import seconds_of_epochs, write_corpus

UTTERANCES = 256


def training(corpus: tuple[Path, Path], folder: Path, options: argparse.Namespace) -> list[str]:
    """Return the command that trains, without the flags of a cluster."""
    csv_file, alphabet = corpus
    return [
        *(sys.executable, "-m", "deepspeech", f"--train_files={csv_file}"),
        *(f"--alphabet_config_path={alphabet}", f"--n_hidden={options.n_hidden}"),
        *(f"--train_batch_size={options.batch}", f"--epoch={options.epochs}", "--noshow_progressbar"),
        *(f"--checkpoint_dir={folder}", f"--train_cached_features_path={csv_file.with_suffix('.h5')}"),
    ]


def on_cluster(command: list[str]) -> list[float]:
    """Run the command on a cluster of one worker and one parameter server; return the seconds of its epochs."""
    server, worker, coordinator = free_ports(3)
    hosts = [f"--ps_hosts=localhost:{server}", f"--worker_hosts=localhost:{worker}", f"--coord_port={coordinator}"]
    with subprocess.Popen([*command, *hosts, "--job_name=ps"], stderr=subprocess.DEVNULL) as process:
        try:
            return seconds_of_epochs([*command, *hosts, "--job_name=worker"])
        finally:
            process.wait(30)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--n_hidden", type=int, default=512)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        corpus = write_corpus(Path(name), UTTERANCES)
        local, cluster = [], []
        for turn in range(options.rounds):
            local += seconds_of_epochs(training(corpus, Path(name) / f"local-{turn}", options))
            cluster += on_cluster(training(corpus, Path(name) / f"cluster-{turn}", options))
    alone, together = (UTTERANCES / statistics.median(seconds) for seconds in (local, cluster))
    print(f"n_hidden {options.n_hidden}, batches of {options.batch}, median of {len(local)} epochs")
    print(f"one process:                         {alone:.1f} utterances a second")
    print(f"one worker and one parameter server: {together:.1f} utterances a second, {together / alone:.0%}")


if __name__ == "__main__":
    main()
