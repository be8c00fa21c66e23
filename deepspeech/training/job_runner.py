"""The job runner: feeds batches of jobs to the towers, runs the steps, and submits the results to the coordinator."""

from collections import deque
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import closing, nullcontext
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from ..errors import AudioError, DeepSpeechError, TrainingError
from ..schedule.coordinator import NoJob
from ..schedule.jobs import EpochReport, Job, JobResult, SetName, Tally
from ..util.feeding import LABEL_PADDING, UNREADABLE, Batch
from ..util.monitoring.time_use import Activity, TimeUse
from .data_set import DataSet
from .graph import TrainingGraph
from .scoring import Evaluator
from .towers import Tower, feeds

DECODING_BACKLOG = 64
"""The number of utterances that may wait for the decoder; if there are more, the model waits."""

UTTERANCES_NAMED = 20
"""The most utterances that an error names."""


class Coordinator(Protocol):
    """The interface that a JobRunner needs. With `stepwise`, it takes a result after every training step."""

    stepwise: bool

    def next_job(self) -> Job | NoJob:
        """Return a job, or the reason why there is none."""

    def submit(self, result: JobResult) -> EpochReport | None:
        """Count a result; return the report of the epoch if this was its last result."""

    def give_back(self, job: Job) -> None:
        """Accept a job that is returned undone."""


class StepObserver(Protocol):
    """Callbacks before and after each step."""

    def step_arguments(self, job: Job) -> Mapping[str, Any]:
        """Return extra arguments for the session's run of the next step."""

    def step_feeds(self, job: Job, batch: int) -> Mapping[Any, Any]:
        """Wait until the next step of a training job may run; return its additional feeds.

        `batch` is the index of the step's first batch in the epoch.
        """

    def step_done(
        self, job: Job, batches: Sequence[Batch], losses: npt.NDArray[np.float32], gradient_norm: float
    ) -> None:
        """Process the results of a step on batches; `losses`, float32 [utterances], are of its utterances, in nats.

        `gradient_norm` is that of the step's mean gradient; 0 if nothing is trained.
        """


class JobRunner:
    """Runs the jobs of one process on its towers: training, validation and test."""

    def __init__(
        self,
        graph: TrainingGraph,
        session: Any,
        sets: Mapping[SetName, DataSet],
        evaluator: Evaluator,
        *,
        report_count: int,
        observer: "StepObserver",
        time_use: TimeUse | None = None,
    ) -> None:
        """Keep `report_count` wrong utterances in reports, and call the observer at every step.

        `time_use` records how the time is used.
        """
        self._graph = graph
        self._session = session
        self._sets = sets
        self._evaluator = evaluator
        self._report_count = report_count
        self._observer = observer
        self._time_use = time_use or TimeUse()

    def work(self, first: Job, coordinator: Coordinator, interrupted: Callable[[], bool]) -> Iterator[EpochReport]:
        """Do a job and the next jobs of its epoch, until there are no more or `interrupted`.

        Yield the report of the epoch if `coordinator.submit` returns it. At the end, submit the results of all steps,
        so that the coordinator's state agrees with the weights, and give back the jobs that were requested but not
        begun. If an utterance cannot be read, do the same, then raise its error. Raise TrainingError for a loss or a
        gradient that is not finite.
        """
        claims = _Claims(first, coordinator)
        outcomes: deque[_Outcome] = deque()
        step: list[Batch] = []
        towers = self._towers(first.set_name)
        batches_per_step = len(towers) * (self._graph.batches_per_step if first.set_name is SetName.TRAIN else 1)
        feeder = self._sets[first.set_name].feeder
        batches = _Readable(feeder.batches(claims.batch_indices(), first.epoch), coordinator.stepwise)
        doing_steps = self._time_use.doing_steps() if first.set_name is SetName.TRAIN else nullcontext()
        with closing(batches.source), doing_steps:
            for batch in self._time_use.while_awaiting(batches, Activity.FEEDING):
                job, last = claims.next_slot()
                if not outcomes or outcomes[-1].job is not job:
                    outcomes.append(_Outcome(job))
                step.append(batch)
                if len(step) < batches_per_step and not last:
                    continue
                self._do_batches(outcomes[-1], towers, step)
                step = []
                yield from self._submit(coordinator, outcomes, wait=False)
                if interrupted():
                    break
        claims.give_back_unbegun()
        yield from self._submit(coordinator, outcomes, wait=True)
        if batches.error is not None:
            raise batches.error

    def _towers(self, set_name: SetName) -> tuple[Tower, ...]:
        return self._graph.train_towers if set_name is SetName.TRAIN else self._graph.evaluate_towers

    def _do_batches(self, outcome: "_Outcome", towers: Sequence[Tower], batches: Sequence[Batch]) -> None:
        job = outcome.job
        first = job.batches[outcome.done]
        outcome.done += len(batches)
        batches = [batch for batch in batches if batch.utterances]
        if not batches:
            return
        if job.set_name is not SetName.TRAIN:
            self._do_step(outcome, towers, batches, {})
            return
        with self._time_use.timed(self._time_use.steps):
            with self._time_use.timed(self._time_use.round_waits):
                extra = self._observer.step_feeds(job, first)
            self._do_step(outcome, towers, batches, extra)

    def _do_step(
        self, outcome: "_Outcome", towers: Sequence[Tower], batches: Sequence[Batch], extra: Mapping[Any, Any]
    ) -> None:
        job = outcome.job
        arguments = self._observer.step_arguments(job)
        losses, gradient_norm = [], 0.0
        for begin in range(0, len(batches), len(towers)):
            together = batches[begin : begin + len(towers)]
            ends_step = begin + len(towers) >= len(batches)
            fetches, fed = self._fetches_and_feeds(job, towers, together, ends_step=ends_step)
            with self._time_use.during(Activity.COMPUTING):
                fetched = self._session.run(fetches, {**fed, **extra}, **arguments)
            losses += fetched["losses"]
            gradient_norm = float(fetched.get("norm", 0.0))
            _check_finite(job, together, np.concatenate(fetched["losses"]), gradient_norm)
            self._take(outcome, together, fetched)
        self._observer.step_done(job, batches, np.concatenate(losses), gradient_norm)

    def _fetches_and_feeds(
        self, job: Job, towers: Sequence[Tower], batches: Sequence[Batch], *, ends_step: bool
    ) -> tuple[dict[str, Any], dict[Any, Any]]:
        used = towers[: len(batches)]
        fetches: dict[str, Any] = {"losses": [tower.losses for tower in used]}
        if self._evaluator.decodes(job):
            fetches["posteriors"] = [tower.posteriors for tower in used]
        if job.set_name is not SetName.TRAIN:
            fetches["best_paths"] = [tower.best_path for tower in used]
            return fetches, feeds(used, batches)
        if ends_step:
            fetches |= {"step": self._graph.train_step, "norm": self._graph.gradient_norm}
        else:
            fetches["step"] = self._graph.accumulate
        return fetches, feeds(towers, batches)  # the joined step needs every tower fed

    def _take(self, outcome: "_Outcome", batches: Sequence[Batch], fetched: Mapping[str, Any]) -> None:
        job = outcome.job
        for paths in fetched.get("best_paths", ()):
            emitted = Tally.of_labels(np.unique(paths[paths != LABEL_PADDING]).tolist())
            outcome.tally = outcome.tally.merged(emitted, self._report_count)
        if "posteriors" in fetched:
            for batch, posteriors, of_batch in zip(batches, fetched["posteriors"], fetched["losses"], strict=True):
                outcome.decoding += self._evaluator.submit(job, batch, posteriors, of_batch)
        if job.report:
            return  # the tallies of decoded utterances include the losses
        losses = np.concatenate(fetched["losses"])
        summed = Tally(len(losses), float(losses.sum(dtype=np.float64)))
        outcome.tally = outcome.tally.merged(summed, self._report_count)

    def _submit(self, coordinator: Coordinator, outcomes: "deque[_Outcome]", *, wait: bool) -> Iterator[EpochReport]:
        """Submit decoded results, oldest first; with `wait`, those of all steps, also of unfinished jobs."""
        while outcomes:
            oldest = outcomes[0]
            stepwise = coordinator.stepwise and oldest.job.set_name is SetName.TRAIN
            backlog = sum(len(outcome.decoding) for outcome in outcomes)
            while oldest.decoding and (wait or stepwise or backlog > DECODING_BACKLOG or oldest.decoding[0].done()):
                with self._time_use.during(Activity.DECODING):
                    decoded = oldest.decoding.popleft().result()
                oldest.tally = oldest.tally.merged(decoded, self._report_count)
                backlog -= 1
            complete = oldest.done == len(oldest.job.batches)
            if oldest.decoding or not (complete or wait or stepwise):
                return
            report = coordinator.submit(oldest.take_result(last=complete or wait))
            if report is not None:
                yield report
            if not (complete or wait):
                return
            outcomes.popleft()


class _Readable:
    """Batches up to the first one that cannot be read; `error` holds its error.

    In a cluster's `rounds`, each batch must contribute, so a batch with no utterances left counts as unreadable.
    """

    def __init__(self, source: Generator[Batch, None, None], rounds: bool) -> None:
        self.source = source
        self._rounds = rounds
        self.error: DeepSpeechError | None = None

    def __iter__(self) -> Iterator[Batch]:
        try:
            for batch in self.source:
                if self._rounds and not batch.utterances:
                    raise AudioError(f"no utterance of a batch of {len(batch.indices)} can still be read")
                yield batch
        except UNREADABLE as error:
            self.error = error


@dataclass
class _Outcome:
    """The completed part of a job: its batches, figures, and the utterances that are being decoded."""

    job: Job
    done: int = 0
    tally: Tally = field(default_factory=Tally)
    decoding: "deque[Future[Tally]]" = field(default_factory=deque)
    submitted: int = 0

    def take_result(self, *, last: bool) -> JobResult:
        """Return the result of the batches since the previous result."""
        result = JobResult(self.job, self.job.batches[self.submitted : self.done], self.tally, last)
        self.submitted, self.tally = self.done, Tally()
        return result


class _Claims:
    """The batches of successive jobs as one sequence; it requests jobs while batches are prepared."""

    def __init__(self, first: Job, coordinator: Coordinator) -> None:
        self._coordinator = coordinator
        self._first = first
        self._slots: deque[tuple[Job, bool]] = deque()
        self._begun: Job | None = None

    def batch_indices(self) -> Iterator[int]:
        """Yield the batches of this epoch's jobs; request the next job when the batches of the last one are taken."""
        job: Job | NoJob = self._first
        while isinstance(job, Job):
            if (job.set_name, job.epoch) != (self._first.set_name, self._first.epoch):
                self._coordinator.give_back(job)
                return
            for index in job.batches:
                self._slots.append((job, index == job.batches[-1]))
                yield index
            job = self._coordinator.next_job()

    def next_slot(self) -> tuple[Job, bool]:
        """Return the job of the next batch, and whether it is that job's last batch."""
        self._begun, last = self._slots.popleft()
        return self._begun, last

    def give_back_unbegun(self) -> None:
        """Give jobs back in reverse order, so that the coordinator hands them out in their order again."""
        unbegun = {job.number: job for job, _ in self._slots if job is not self._begun}
        for job in reversed(unbegun.values()):
            self._coordinator.give_back(job)


def _check_finite(job: Job, batches: Sequence[Batch], losses: npt.NDArray[np.float32], gradient_norm: float) -> None:
    if np.isfinite(losses).all() and np.isfinite(gradient_norm):
        return
    utterances = [utterance for batch in batches for utterance in batch.utterances]
    blamed = [utterance for utterance, finite in zip(utterances, np.isfinite(losses), strict=True) if not finite]
    named = blamed or utterances
    what = "loss" if blamed else "gradient"
    names = ", ".join(f"{utterance.place} ({utterance.source})" for utterance in named[:UTTERANCES_NAMED])
    more = f" and {len(named) - UTTERANCES_NAMED} more" if len(named) > UTTERANCES_NAMED else ""
    where = f"in epoch {job.epoch + 1} of the {job.set_name.value} set, in a batch with {names}{more}"
    raise TrainingError(
        f"the {what} is not finite {where}; nothing was saved since the last checkpoint: "
        "look at these recordings, or lower --learning_rate"
    )
