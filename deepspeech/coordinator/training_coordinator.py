"""The state machine of training: hands out jobs, counts their results, and decides what comes next.

    train ─► dev (every validation_step epochs) ─► train … ─► test ─► over
                     └─ early stopping ──────────────────────┘

It does no I/O and knows neither clocks nor workers. A local worker calls it directly.
"""

import logging
from collections import deque
from collections.abc import Mapping
from dataclasses import replace
from enum import Enum

from ..options import ScheduleOptions
from .early_stopping import should_stop
from .jobs import EpochReport, Job, JobResult, SetName, Tally
from .state import OpenEpoch, Plan, TrainingState

logger = logging.getLogger(__name__)


class NoJob(Enum):
    """Why there is no job: all of this epoch's are handed out (WAIT), or training is over (OVER)."""

    WAIT = "wait"
    OVER = "over"


class ResultRefusedError(ValueError):
    """A result does not belong to a job that is out, or does not cover a job's first batches; nothing was counted."""


class TrainingCoordinator:
    """Leads through the epochs. Every batch of an epoch is counted in exactly one accepted result."""

    def __init__(
        self,
        schedule: ScheduleOptions,
        plans: Mapping[SetName, Plan],
        *,
        report_count: int = 10,
        state: TrainingState | None = None,
    ) -> None:
        """Start at `state`, or at the beginning. Sets without a plan are left out."""
        self._schedule = schedule
        self._plans = plans
        self._report_count = report_count
        self._state = (state or TrainingState()).aimed_at(schedule.epoch)
        self._tested = False
        self._next_number = 0
        self._pending: deque[tuple[int, ...]] = deque()
        self._out: dict[int, Job] = {}
        self._resume_open_epoch()

    @property
    def state(self) -> TrainingState:
        """Progress so far; the results of jobs that are out aren't part of it."""
        return self._state

    @property
    def current(self) -> OpenEpoch | None:
        """The epoch that is open, if any."""
        return self._state.open_epoch

    @property
    def training_is_over(self) -> bool:
        """Whether no training or validation is left, only testing."""
        opened = self.current
        busy = opened is not None and opened.set_name is not SetName.TEST
        return not busy and self._next_training_set() is None

    def next_job(self) -> Job | NoJob:
        """Hand out a job, opening the next epoch when the last is finished."""
        if self.current is None and not self._open_next_epoch():
            return NoJob.OVER
        if not self._pending:
            return NoJob.WAIT
        opened = self.current
        assert opened is not None
        job = Job(
            number=self._next_number,
            epoch=self._epoch_index(opened.set_name),
            set_name=opened.set_name,
            batches=self._pending.popleft(),
            report=self._reports(opened.set_name),
        )
        self._next_number += 1
        self._out[job.number] = job
        return job

    def give_back(self, job: Job) -> None:
        """Take back a job that won't be finished; its batches are handed out again."""
        if self._out.pop(job.number, None) is not None:
            self._pending.appendleft(job.batches)

    def submit(self, result: JobResult) -> EpochReport | None:
        """Count a result; batches that the worker left undone are handed out again.

        Returns the report of the epoch if this was its last result. Raises ResultRefusedError, having counted nothing.
        """
        job = self._out.get(result.job.number)
        if job is None or job != result.job:
            raise ResultRefusedError(f"job {result.job.number} is not out")
        if result.batches != job.batches[: len(result.batches)]:
            raise ResultRefusedError(f"job {job.number}: the result's batches are not the job's first batches")
        opened = self.current
        assert opened is not None
        del self._out[job.number]
        undone = job.batches[len(result.batches) :]
        if undone:
            self._pending.appendleft(undone)
        counted = replace(
            opened,
            done=opened.done | set(result.batches),
            tally=opened.tally.merged(result.tally, self._report_count),
        )
        self._state = replace(self._state, open_epoch=counted)
        return self._finish_epoch() if len(counted.done) == counted.plan.batch_count else None

    def _resume_open_epoch(self) -> None:
        opened = self.current
        if opened is None:
            return
        plan = self._plans.get(opened.set_name)
        if plan is None:
            self._state = replace(self._state, open_epoch=None)
        elif plan == opened.plan:
            self._queue(opened)
        else:
            logger.warning("The %s set or its batch size changed: its epoch starts anew", opened.set_name.value)
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

    def _open(self, set_name: SetName) -> None:
        opened = OpenEpoch(set_name, self._plans[set_name])
        self._state = replace(self._state, open_epoch=opened)
        self._queue(opened)

    def _queue(self, opened: OpenEpoch) -> None:
        left = [index for index in range(opened.plan.batch_count) if index not in opened.done]
        size = self._schedule.batches_per_job
        self._pending = deque(tuple(left[start : start + size]) for start in range(0, len(left), size))

    def _finish_epoch(self) -> EpochReport:
        opened = self.current
        assert opened is not None
        report = EpochReport(
            self._epoch_index(opened.set_name), opened.set_name, self._reports(opened.set_name), opened.tally
        )
        self._state = replace(self._state, open_epoch=None)
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
        losses = (*self._state.dev_losses, tally.mean_loss)
        stop = should_stop(losses, self._schedule.early_stopping)
        self._state = replace(self._state, dev_losses=losses, stopped_early=stop)

    def _epoch_index(self, set_name: SetName) -> int:
        """The training epoch, counted from 0, that an epoch over the set belongs to."""
        return self._state.epoch if set_name is SetName.TRAIN else max(self._state.epoch - 1, 0)

    def _reports(self, set_name: SetName) -> bool:
        return set_name is SetName.TEST or _is_due(self._epoch_index(set_name), self._schedule.display_step)


def _is_due(epoch: int, every: int) -> bool:
    """Whether something done every so many epochs (0: never) is due after this epoch, counted from 0."""
    return every > 0 and (epoch + 1) % every == 0
