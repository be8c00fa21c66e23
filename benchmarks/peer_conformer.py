"""Compares the word error rates of our conformer and of PyTorch's, trained equally long on the same augmented data.

    python -m benchmarks.peer_conformer --pytorch-python peer/bin/python -- --train_files train.csv \\
        --dev_files dev.csv --network conformer --bidirectional --n_hidden 144 --feature_type fbank …

The trainer's flags, also those of an experiment, follow `--`. Ours is trained with them, to its end. Then PyTorch's
network of the same sizes gets the same batches, with the same augmentation, for the same time. It uses AdamW and the
same dropout, clipping of gradients and learning rate, which rises in the first tenth of the time and then falls on a
cosine to 0. The same decoder decodes both networks' posteriors of the validation set, without a language model. PyTorch
may be in a separate environment, as for `train_step.py`.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from itertools import count
from pathlib import Path
from typing import IO, Any

import numpy as np

from deepspeech.cli.flags import parse
from deepspeech.decoder.of_alphabet import make_decoder
from deepspeech.errors import FlagError
from deepspeech.options import LanguageModelOptions, Options, with_values
from deepspeech.schedule.jobs import SetName
from deepspeech.training.data_set import DataSet, open_sets
from deepspeech.training.inputs import Inputs, read_inputs
from deepspeech.util.features import front_end
from deepspeech.util.feeding import Batch
from deepspeech.util.figures.metrics import EditCounts, evaluate_transcript
from deepspeech.util.frames.normalization import FeatureStatistics, GlobalNormalization

from .processes import arrays
from .processes.arguments import above_zero, program
from .processes.step import Geometry

REPORT = "test_output.json"


@dataclass(frozen=True)
class Result:
    """The result of a training."""

    minutes: float
    epochs: float
    word_error_rate: float


def train_ours(flags: Sequence[str], options: Options, folder: Path) -> Result:
    """Train with the program, and test on the validation set."""
    report = folder / REPORT
    tested = [f"--test_files={','.join(map(str, options.dev.files))}", f"--test_output_file={report}"]
    checkpoints = [f"--checkpoint_dir={folder / 'checkpoints'}", "--lm_binary_path="]
    started = time.monotonic()
    if subprocess.run([sys.executable, "-m", "deepspeech", *flags, *tested, *checkpoints]).returncode:
        raise SystemExit("ours cannot be trained, for the reason above")
    minutes = (time.monotonic() - started) / 60
    heard = json.loads(report.read_text())
    counts = sum((evaluate_transcript(each["src"], each["res"]) for each in heard), EditCounts())
    return Result(minutes, options.schedule.epoch, counts.wer)


def train_peer(python: str, options: Options, minutes: float) -> Result:
    """Train PyTorch's network on our batches for `minutes`, and decode its posteriors of the validation set."""
    inputs = read_inputs(options)
    with (
        open_sets(options, inputs, front_end(options.features)) as sets,
        _started(python, _geometry(options, inputs), options, minutes) as peer,
    ):
        training, validation = sets[SetName.TRAIN], sets[SetName.DEV]
        normalize = GlobalNormalization(
            FeatureStatistics.of(training.source.features(index) for index in range(len(training.corpus)))
        )
        ends, batches = time.monotonic() + 60 * minutes, 0
        for batch in _batches_until(ends, training):
            peer.send(batch, normalize, trains=True)
            batches += 1
        return Result(minutes, batches / len(training.feeder), _errors(peer, validation, inputs, normalize))


class _Peer:
    """The process that trains PyTorch's network."""

    def __init__(self, stdin: IO[bytes], stdout: IO[bytes]) -> None:
        self._stdin, self._stdout = stdin, stdout

    def send(self, batch: Batch, normalize: GlobalNormalization, *, trains: bool) -> None:
        features = np.stack([normalize(each) for each in batch.features])
        for row, length in zip(features, batch.lengths, strict=True):
            row[length:] = 0
        arrays.send(self._stdin, trains=trains, features=features, lengths=batch.lengths, labels=batch.labels)

    def posteriors(self) -> Any:
        """Return the posteriors of the batch that was sent last, float32 [batch, rows, labels + 1]."""
        answer = arrays.receive(self._stdout)
        assert answer is not None
        return answer["posteriors"]


@contextmanager
def _started(python: str, geometry: Geometry, options: Options, minutes: float) -> Iterator[_Peer]:
    settings = {
        **asdict(geometry),
        "seconds": 60 * minutes,
        "learning_rate": options.optimizer.learning_rate,
        "weight_decay": options.optimizer.weight_decay,
        "clip": options.optimizer.clip_gradient_norm or math.inf,
    }
    command = [python, "-m", "benchmarks.processes.pytorch_training", json.dumps(settings)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            yield _Peer(process.stdin, process.stdout)
        finally:
            process.kill()


def _geometry(options: Options, inputs: Inputs) -> Geometry:
    settings, features = options.model.settings, options.features
    return Geometry(
        n_hidden=options.model.n_hidden,
        coefficients=features.width,
        labels=inputs.alphabet.size,
        network="conformer",
        step_ms=features.network_step_ms,
        layers=settings.conformer.layers,
        convolutions=settings.convolutions,
        channels=settings.channels,
        bidirectional=settings.bidirectional,
        dropout=options.model.dropout_rate,
    )


def _batches_until(ends: float, training: DataSet) -> Iterator[Batch]:
    for epoch in count():
        for batch in training.feeder.batches(range(len(training.feeder)), epoch):
            if time.monotonic() > ends:
                return
            yield batch


def _errors(peer: _Peer, validation: DataSet, inputs: Inputs, normalize: GlobalNormalization) -> float:
    """Return the word error rate of the validation set."""
    decoder, counts = make_decoder(inputs.alphabet, LanguageModelOptions()), EditCounts()
    for batch in validation.feeder.batches(range(len(validation.feeder))):
        peer.send(batch, normalize, trains=False)
        posteriors = peer.posteriors()
        longest = batch.features.shape[1]
        for row, length, utterance in zip(posteriors, batch.lengths, batch.utterances, strict=True):
            rows = math.ceil(length * len(row) / longest)
            heard = decoder.decode(np.ascontiguousarray(row[:rows]))[0].text
            counts += evaluate_transcript(utterance.reference, heard)
    return counts.wer


def main(arguments: Sequence[str] | None = None) -> None:
    """Train both and print."""
    arguments = sys.argv[1:] if arguments is None else arguments
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pytorch-python", type=program, default=sys.executable, help="a Python with PyTorch")
    parser.add_argument("--minutes", type=above_zero, help="of PyTorch's training, without ours before it")
    parser.add_argument("flags", nargs="*", help="behind --: the trainer's flags")
    given = parser.parse_args(arguments)
    try:
        options = parse(given.flags)
    except FlagError as error:
        parser.error(str(error))
    if options is None or not options.dev.files:
        parser.error("--dev_files: give it behind --, with the recordings to test both on")
    options = with_values(options, {"validation_step": 1})  # so that the validation set is read
    minutes = given.minutes
    with tempfile.TemporaryDirectory() as folder:
        if minutes is None:
            ours = train_ours(given.flags, options, Path(folder))
            minutes = ours.minutes
            print(_line("ours", ours), flush=True)
        print(_line("PyTorch", train_peer(given.pytorch_python, options, minutes)))


def _line(name: str, result: Result) -> str:
    rate = 100 * result.word_error_rate
    return f"{name:>8}: WER {rate:5.2f} % on the validation set, {result.epochs:.1f} epochs, {result.minutes:.1f} min"


if __name__ == "__main__":
    main()
