"""TensorBoard summaries: losses and pace by step, figures and samples by epoch, features, and traces on request."""

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
import numpy.typing as npt
import tensorflow as tf

from ...options import Options
from ...schedule.jobs import EpochReport, Job, Sample, SetName
from ...util.feeding import Batch
from ...util.figures.markdown import in_code
from ...util.figures.report import by_wer
from ...util.files.whole_files import encoded
from ...util.storage.folders import try_to_send
from ..data_set import DataSet
from .event_file import EventFile
from .feature_images import feature_images

v1 = tf.compat.v1

TEXT_PLUGIN = "text"
"""TensorBoard's plugin for tensors of strings: it shows a matrix as a table, with Markdown in each cell."""


class Summaries(AbstractContextManager["Summaries"]):
    """Writes one event file into the folder of `--summary_dir`, or nothing if `--summary_secs` is 0."""

    def __init__(
        self,
        options: Options,
        sets: Mapping[SetName, DataSet],
        graph: Any,
        first_step: int,
        send: Callable[[Path], None] = try_to_send,
    ) -> None:
        """Count steps from `first_step`; at this step, write the features of some utterances of the training set.

        From time to time, `send` is called with the folder.
        """
        self._options = options.summaries
        self._learning_rate = options.optimizer.learning_rate
        self._sample_rate = options.features.sample_rate
        self._step = first_step
        self._next_time = 0.0
        self._pace = _Pace()
        self._trace: Any = None
        self._writer: Any = None
        if not self._options.seconds:
            return
        self._writer = EventFile(self._options.directory, graph, send)
        if SetName.TRAIN in sets:
            self._write([_image(name, *image) for name, image in feature_images(sets[SetName.TRAIN])], first_step)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._writer:
            self._writer.close()

    def run_arguments(self, job: Job) -> Mapping[str, Any]:
        """Return the arguments of a session's run that request a full trace, if a summary of the step is due."""
        self._pace.step_begins(job)
        if not (self._is_due(job) and self._options.full_trace):
            return {}
        self._trace = v1.RunMetadata()
        return {"options": v1.RunOptions(trace_level=v1.RunOptions.FULL_TRACE), "run_metadata": self._trace}

    def show_rate(self, learning_rate: float) -> None:
        """Store the learning rate of the next step."""
        self._learning_rate = learning_rate

    def step_done(
        self, job: Job, batches: Sequence[Batch], losses: npt.NDArray[np.float32], gradient_norm: float
    ) -> None:
        """Write the figures of a training step, if a summary is due.

        `losses` are float32 [utterances] in nats. The throughput is measured since the last summary.
        """
        if job.set_name is not SetName.TRAIN:
            return
        self._step += 1
        self._pace.step_done(batches)
        if not self._is_due(job):
            return
        seconds = max(self._pace.seconds, 1e-9)
        values = {
            "step_loss": float(losses.mean()),
            "learning_rate": self._learning_rate,
            "gradient_norm": gradient_norm,
            "utterances_per_second": self._pace.utterances / seconds,
            "audio_seconds_per_second": self._pace.samples / self._sample_rate / seconds,
        }
        self._pace = _Pace()
        self._write([_scalar(name, value) for name, value in values.items()], self._step)
        if self._trace is not None:
            self._writer.add_run_metadata(self._trace, f"step {self._step}", self._step)
            self._trace = None
        self._next_time = time.monotonic() + self._options.seconds

    def epoch_done(self, report: EpochReport) -> None:
        """Write an epoch's loss, its error rates if they were counted, and its samples if it was decoded."""
        if not self._writer:
            return
        name = report.set_name.value
        entries = [_scalar(f"{name}/loss", report.tally.mean_loss)]
        if report.edits:
            entries += [_scalar(f"{name}/wer", report.edits.wer), _scalar(f"{name}/cer", report.edits.cer)]
        if report.decoded:
            entries += [_table(f"{name}/samples", by_wer(report.tally.samples))]
        self._write(entries, report.epoch + 1)

    def _is_due(self, job: Job) -> bool:
        return bool(self._writer) and job.set_name is SetName.TRAIN and time.monotonic() >= self._next_time

    def _write(self, entries: Sequence[Any], step: int) -> None:
        self._writer.add_summary(v1.Summary(value=entries), step)
        self._writer.flush()


@dataclass
class _Pace:
    """The training steps since the last summary, and their seconds; steps of other sets do not count."""

    utterances: int = 0
    samples: int = 0
    seconds: float = 0.0
    _since: float | None = None

    def step_begins(self, job: Job) -> None:
        """Start the clock, unless it is running since the previous step; only training steps count."""
        if job.set_name is not SetName.TRAIN:
            self._since = None
        elif self._since is None:
            self._since = time.monotonic()

    def step_done(self, batches: Sequence[Batch]) -> None:
        """Count a training step."""
        now = time.monotonic()
        self.utterances += sum(len(batch.utterances) for batch in batches)
        self.samples += sum(utterance.samples for batch in batches for utterance in batch.utterances)
        self.seconds += now - self._since if self._since is not None else 0.0
        self._since = now


def _scalar(name: str, value: float) -> Any:
    return v1.Summary.Value(tag=name, simple_value=value)


def _image(name: str, png: bytes, height: int, width: int) -> Any:
    image = v1.Summary.Image(height=height, width=width, colorspace=1, encoded_image_string=png)
    return v1.Summary.Value(tag=name, image=image)


def _table(name: str, samples: Sequence[Sample]) -> Any:
    """Return a table of samples: a tensor of strings [samples + 1, 5] for the text plugin, with a header."""
    rows = [["recording", "WER", "loss", "said", "heard"]]
    rows += [
        [_code(each.wav), f"{each.edits.wer:.2%}", f"{each.loss:.4f}", _code(each.transcript), _code(each.hypothesis)]
        for each in samples
    ]
    plugin = v1.SummaryMetadata(plugin_data=v1.SummaryMetadata.PluginData(plugin_name=TEXT_PLUGIN))
    cells = [[encoded(cell) for cell in row] for row in rows]
    return v1.Summary.Value(tag=name, metadata=plugin, tensor=tf.make_tensor_proto(cells, tf.string))


def _code(text: str) -> str:
    return in_code(text) if text else ""
