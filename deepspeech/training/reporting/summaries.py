"""TensorBoard summaries: losses by step, losses and error rates by epoch, and full traces on request."""

import time
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from types import TracebackType
from typing import Any

import numpy as np
import numpy.typing as npt
import tensorflow as tf

from ...options import SummaryOptions
from ...schedule.jobs import EpochReport, Job, SetName
from ...util.feeding import Batch

v1 = tf.compat.v1


class Summaries(AbstractContextManager["Summaries"]):
    """Writes one event file into the folder, or nothing if `seconds` is 0."""

    def __init__(self, options: SummaryOptions, graph: Any, first_step: int) -> None:
        """Count steps from `first_step`."""
        self._options = options
        self._step = first_step
        self._next_time = 0.0
        self._trace: Any = None
        self._writer: Any = None
        if options.seconds:
            with graph.as_default():
                self._writer = v1.summary.FileWriter(str(options.directory), graph)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._writer:
            self._writer.close()

    def run_arguments(self, job: Job) -> Mapping[str, Any]:
        """Return the arguments of a session's run that ask for a full trace, when a summary of the step is due."""
        if not (self._is_due(job) and self._options.full_trace):
            return {}
        self._trace = v1.RunMetadata()
        return {"options": v1.RunOptions(trace_level=v1.RunOptions.FULL_TRACE), "run_metadata": self._trace}

    def step_done(self, job: Job, _batches: Sequence[Batch], losses: npt.NDArray[np.float32]) -> None:
        """Write the mean of a training step's losses, float32 [utterances] in nats, if a summary is due."""
        if job.set_name is not SetName.TRAIN:
            return
        self._step += 1
        if not self._is_due(job):
            return
        self._add({"step_loss": float(losses.mean())}, self._step)
        if self._trace is not None:
            self._writer.add_run_metadata(self._trace, f"step {self._step}", self._step)
            self._trace = None
        self._next_time = time.monotonic() + self._options.seconds

    def epoch_done(self, report: EpochReport) -> None:
        """Write an epoch's loss and, where it was decoded, its error rates."""
        if not self._writer:
            return
        name = report.set_name.value
        values = {f"{name}/loss": report.tally.mean_loss}
        if report.decoded:
            values |= {f"{name}/wer": report.tally.edits.wer, f"{name}/cer": report.tally.edits.cer}
        self._add(values, report.epoch + 1)

    def _is_due(self, job: Job) -> bool:
        return bool(self._writer) and job.set_name is SetName.TRAIN and time.monotonic() >= self._next_time

    def _add(self, values: Mapping[str, float], step: int) -> None:
        entries = [v1.Summary.Value(tag=tag, simple_value=value) for tag, value in values.items()]
        self._writer.add_summary(v1.Summary(value=entries), step)
        self._writer.flush()
