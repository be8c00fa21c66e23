"""The state machine of training: hands out jobs, counts their results, and decides which epoch comes next.

    train ─► dev (every validation_step epochs) ─► train … ─► test ─► over
                     └─ early stopping ──────────────────────┘

It does no I/O, and depends on neither clocks nor workers. On one machine, `deepspeech.training.run` calls it directly;
on a cluster, `deepspeech.cluster.coordination` does.
"""

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum

from ..options import ScheduleOptions
from .early_stopping import should_stop, shows_plateau
from .jobs import MOST_BATCHES, EpochReport, Job, JobResult, SetName, Tally
from .pending import PendingJobs
from .resumption import resumed
from .state import Figures, OpenEpoch, Plan, TrainingState

logger = logging.getLogger(__name__)


class NoJob(Enum):
    """Why there is no job: all jobs of this epoch are handed out (WAIT), or training is over (OVER)."""

    WAIT = "wait"
    OVER = "over"


class ResultRefusedError(ValueError):
    """A result is not of a job that is handed out, or not of the job's next batches; nothing was counted."""


@dataclass
class _Running:
    """The open epoch while its results are counted; `snapshot` copies it."""

    set_name: SetName
    plan: Plan
    done: set[int]
    tally: Tally

    def snapshot(self) -> OpenEpoch:
        return OpenEpoch(self.set_name, self.plan, frozenset(self.done), self.tally)


@dataclass
class _Out:
    """A job that is handed out, and how many of its batches are counted."""

    job: Job
    counted: int = 0


class TrainingCoordinator:
    """Hands out the jobs of all epochs. Every batch of an epoch is counted in exactly one accepted result."""

    stepwise = False

    def __init__(
        self,
        schedule: ScheduleOptions,
        plans: Mapping[SetName, Plan],
        *,
        report_count: int = 10,
        state: TrainingState | None = None,
        batches_per_step: int = 1,
    ) -> None:
        """Start at `state`, or at the beginning. Sets without a plan are left out."""
        self._schedule = schedule
        self._plans = plans
        self._report_count = report_count
        self._batches_per_step = batches_per_step
        self._state, remarks = resumed(state or TrainingState(), schedule, plans)
        for remark in remarks:
            logger.warning(remark)
        self._running: _Running | None = None
        self._before_end_of_validation: TrainingState | None = None
        self._tested = False
        self._next_number = 0
        self._pending = PendingJobs()
        self._out: dict[int, _Out] = {}
        self._resume_open_epoch()

    @property
    def state(self) -> TrainingState:
        """Progress so far, without the batches of jobs whose results are not submitted yet."""
        return replace(self._state, open_epoch=self.current)

    @property
    def state_before_report(self) -> TrainingState:
        """Progress before the report of the newest epoch: if that was a validation, without its last result.

        The report decides whether the validated weights are the best ones, so no checkpoint may record the validation
        as finished before.
        """
        return self._before_end_of_validation or self.state

    @property
    def state_without_epoch(self) -> TrainingState:
        """Progress so far without the open epoch, whose batches would take time to copy."""
        return replace(self._state, open_epoch=None)

    @property
    def current(self) -> OpenEpoch | None:
        """The open epoch, if any."""
        return self._running.snapshot() if self._running else None

    @property
    def pending(self) -> int:
        """Number of jobs of the open epoch that are not handed out."""
        return len(self._pending)

    @property
    def batches_left(self) -> int:
        """Number of training batches left until the end of the last epoch, if training does not stop early."""
        plan = self._plans.get(SetName.TRAIN)
        if plan is None or self._next_training_set() is None:
            return 0
        done = len(self._running.done) if self._running and self._running.set_name is SetName.TRAIN else 0
        return (self._state.target_epoch - self._state.epoch) * plan.batch_count - done

    @property
    def running(self) -> int:
        """Number of jobs of the open epoch that are handed out."""
        return len(self._out)

    @property
    def training_is_over(self) -> bool:
        """Whether no training or validation is left, only testing."""
        busy = self._running is not None and self._running.set_name is not SetName.TEST
        return not busy and self._next_training_set() is None

    @property
    def progress(self) -> tuple[SetName, int, int, int] | None:
        """The open epoch's set, its number, how many of its batches are done, and how many it has."""
        if self._running is None:
            return None
        set_name, plan = self._running.set_name, self._running.plan
        return set_name, self._epoch_index(set_name), len(self._running.done), plan.batch_count

    @property
    def tally(self) -> Tally | None:
        """The open epoch's figures so far."""
        return self._running.tally if self._running is not None else None

    def plan_of(self, set_name: SetName) -> Plan | None:
        """Return the plan of a set's batches; None if the run does not use the set."""
        return self._plans.get(set_name)

    def next_job(self, last: Job | None = None, others: Iterable[Job] = ()) -> Job | NoJob:
        """Hand out a job, or return why there is none; open the next epoch if the last one is finished.

        `last` is the last job of the worker that asks, `others` are those of the other workers; see `PendingJobs`.
        """
        if self._running is None and not self._open_next_epoch():
            return NoJob.OVER
        if not self._pending:
            return NoJob.WAIT
        assert self._running is not None
        set_name, epoch = self._running.set_name, self._epoch_index(self._running.set_name)
        now = (each.batches[0] for each in others if (each.set_name, each.epoch) == (set_name, epoch))
        before = last.batches[0] if last is not None and (last.set_name, last.epoch) == (set_name, epoch) else None
        job = Job(
            number=self._next_number,
            epoch=epoch,
            set_name=set_name,
            batches=self._pending.take(before, now),
            report=self._reports(set_name),
        )
        self._next_number += 1
        self._out[job.number] = _Out(job)
        return job

    def give_back(self, job: Job) -> None:
        """Take back a job that will not be finished; its batches that are not counted are handed out again."""
        out = self._out.pop(job.number, None)
        if out is not None:
            self._pending.put_back(job.batches[out.counted :])

    def submit(self, result: JobResult) -> EpochReport | None:
        """Count a result; with `last`, batches of the job that are still undone are handed out again.

        Return the epoch's report if this was its last result. Raise ResultRefusedError, and count nothing, if the
        result is not of the next batches of a job that is handed out.
        """
        out = self._out.get(result.job.number)
        if out is None or out.job != result.job:
            raise ResultRefusedError(f"job {result.job.number} is not handed out")
        counted = out.counted + len(result.batches)
        if result.batches != out.job.batches[out.counted : counted]:
            raise ResultRefusedError(f"job {out.job.number}: the result's batches are not the job's next ones")
        assert self._running is not None
        ends_epoch = len(self._running.done) + len(result.batches) == self._running.plan.batch_count
        if ends_epoch:
            self._before_end_of_validation = self.state if self._running.set_name is SetName.DEV else None
        self._running.done.update(result.batches)
        self._running.tally = self._running.tally.merged(result.tally, self._report_count)
        out.counted = counted
        undone = out.job.batches[counted:]
        if result.last or not undone:
            del self._out[out.job.number]
            self._pending.put_back(undone)
        return self._finish_epoch() if ends_epoch else None

    def _resume_open_epoch(self) -> None:
        opened = self._state.open_epoch
        if opened is None:
            return
        plan = self._plans.get(opened.set_name)
        if plan == opened.plan:
            self._open(opened.set_name, set(opened.done), opened.tally)
        elif plan is not None:
            logger.warning(
                "The %s set or its batch size changed: its epoch begins again",
                opened.set_name.value,
            )
            self._open(opened.set_name)

    def _open_next_epoch(self) -> bool:
        set_name = self._next_training_set()
        if set_name is None and SetName.TEST in self._plans and not self._tested:
            set_name = SetName.TEST
        if set_name is None:
            return False
        self._open(set_name)
        return True

    def _next_training_set(self) -> SetName | None:
        stopped = self._state.stopped_early and self._schedule.early_stopping.enabled
        more = self._state.epoch < self._state.target_epoch and not stopped
        return SetName.TRAIN if more and SetName.TRAIN in self._plans else None

    def _open(self, set_name: SetName, done: set[int] | None = None, tally: Tally | None = None) -> None:
        plan = self._plans[set_name]
        self._running = _Running(set_name, plan, done or set(), tally or Tally())
        left = [index for index in range(plan.batch_count) if index not in self._running.done]
        starts = plan.starts(self._epoch_index(set_name))
        steps = self._schedule.steps_per_job if set_name is SetName.TRAIN else 1
        steps = min(steps, max(MOST_BATCHES // self._batches_per_step, 1))
        self._pending = PendingJobs(left, steps * self._batches_per_step, starts)

    def _finish_epoch(self) -> EpochReport:
        opened = self._running
        assert opened is not None
        self._running = None
        report = EpochReport(
            self._epoch_index(opened.set_name), opened.set_name, self._reports(opened.set_name), opened.tally
        )
        self._state = self._state.with_figures(Figures.of(report))
        if opened.set_name is SetName.TRAIN:
            self._after_training(report.epoch)
        elif opened.set_name is SetName.DEV:
            self._after_validation(opened.tally)
        else:
            self._tested = True
        return report

    def _after_training(self, epoch: int) -> None:
        self._state = replace(self._state, epoch=epoch + 1)
        if SetName.DEV in self._plans and _is_due(epoch, self._schedule.validation_step):
            self._open(SetName.DEV)

    def _after_validation(self, tally: Tally) -> None:
        varied = self._state.varied_validations + 1 if tally.output_varies else 0
        self._state = self._state.with_validation(tally, varied)
        figures = self._state.dev_figures
        stop = should_stop(figures, self._schedule.early_stopping, varied=varied)
        lowered = self._state.plateau_reductions + (not stop and self._is_on_plateau(figures, varied))
        self._state = replace(self._state, stopped_early=stop, plateau_reductions=lowered)

    def _is_on_plateau(self, figures: Sequence[float], varied: int) -> bool:
        rate, improvement = self._schedule.learning_rate, self._schedule.early_stopping.improvement
        return rate.on_plateau and shows_plateau(figures, rate.plateau_epochs, improvement, varied=varied)

    def _epoch_index(self, set_name: SetName) -> int:
        """Return the training epoch, counted from 0, to which an epoch over the set belongs."""
        return self._state.epoch if set_name is SetName.TRAIN else max(self._state.epoch - 1, 0)

    def _reports(self, set_name: SetName) -> bool:
        return set_name is SetName.TEST or _is_due(self._epoch_index(set_name), self._schedule.display_step)


def _is_due(epoch: int, every: int) -> bool:
    """Return whether something that happens every `every` epochs (0: never) is due after `epoch`, counted from 0."""
    return every > 0 and (epoch + 1) % every == 0
