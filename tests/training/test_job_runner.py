"""What a process does with the jobs of a coordinator: the steps, their results, and the jobs that it gives back.

The session is a list of what it was asked to run; the towers are names. Everything else is real.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import fields, replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from deepspeech.errors import AudioError, TrainingError
from deepspeech.options import EarlyStoppingOptions, ScheduleOptions
from deepspeech.schedule.coordinator import NoJob, ResultRefusedError, TrainingCoordinator
from deepspeech.schedule.jobs import EpochReport, Job, JobResult, SetName, Tally
from deepspeech.schedule.state import Plan
from deepspeech.training.data_set import DataSet
from deepspeech.training.job_runner import DECODING_BACKLOG, JobRunner
from deepspeech.training.towers import Tower
from deepspeech.util.batching.batches import Batching
from deepspeech.util.corpus import Corpus, Utterance
from deepspeech.util.feeding import LABEL_PADDING, Batch, Feeder
from deepspeech.util.figures.metrics import EditCounts

TRAIN, DEV, TEST = SetName.TRAIN, SetName.DEV, SetName.TEST


class Recordings:
    """Features that are an utterance's number; those of the recordings that are `gone` cannot be read."""

    def __init__(self, gone: Sequence[int]) -> None:
        self._gone = gone

    def features(self, index: int, epoch: int = 0) -> npt.NDArray[np.float32]:  # noqa: ARG002 - as in the protocol
        if index in self._gone:
            raise AudioError(f"{index}.wav: No such file")
        return np.full((2, 1), index, np.float32)


def set_of(name: SetName, utterances: int, batch_size: int, gone: Sequence[int], skip: bool) -> DataSet:
    each = Utterance("", "a", np.ones(1, np.int32), 640, 2, 0, 0, f"{name.value}.csv", 0)
    corpus = Corpus(tuple(replace(each, path=f"{index}.wav", line=index) for index in range(utterances)), 16000)
    feeder = Feeder(corpus, Recordings(gone), Batching(batch_size), 1, 3, skip_unreadable=skip)
    return DataSet(corpus, feeder, Plan(len(feeder), batch_size, name.value), Recordings(gone))


def towers(purpose: str) -> tuple[Tower, ...]:
    names: list[dict[str, Any]] = [
        {each.name: f"{each.name} {purpose}-{index}" for each in fields(Tower)} for index in (0, 1)
    ]
    return tuple(Tower(**each) for each in names)


class Steps:
    """The session of a process, and the observer of its steps.

    An utterance's loss is its number, counted from 1, unless a test sets another, and its best path has label 3.
    """

    def __init__(self) -> None:
        self.ran: list[tuple[str, list[list[int]]]] = []
        """What was run besides the losses, and the utterances of each tower."""
        self.done: list[tuple[list[int], float]] = []
        self.first_batches: list[int] = []
        self.loss_of: Callable[[int], float] = lambda number: number + 1.0
        self.norm = 0.5

    def run(self, fetches: Mapping[str, Any], fed: Mapping[Any, Any]) -> dict[str, Any]:
        towers = [name.removeprefix("losses ") for name in fetches["losses"]]
        assert all(name.startswith("train" if "step" in fetches else "evaluate") for name in towers)
        numbers = [fed[f"features {tower}"][:, 0, 0].astype(int).tolist() for tower in towers]
        self.ran.append((fetches.get("step", "none"), numbers))
        values = {
            "losses": [np.array([self.loss_of(number) for number in each], np.float32) for each in numbers],
            "posteriors": [np.zeros((2, len(each), 5), np.float32) for each in numbers],
            "best_paths": [np.array([[3] * len(each), [LABEL_PADDING] * len(each)], np.int32) for each in numbers],
            "norm": self.norm,
        }
        return {name: values.get(name) for name in fetches}

    def step_arguments(self, _job: Job) -> Mapping[str, Any]:
        return {}

    def step_feeds(self, _job: Job, batch: int) -> Mapping[Any, Any]:
        self.first_batches.append(batch)
        return {}

    def step_done(
        self, _job: Job, _batches: Sequence[Batch], losses: npt.NDArray[np.float32], gradient_norm: float
    ) -> None:
        self.done.append((losses.astype(int).tolist(), gradient_norm))


class Decoding(Future[Tally]):
    """An utterance that is decoded when its result is waited for."""

    def result(self, timeout: float | None = None) -> Tally:
        if not self.done():
            self.set_result(Tally(1, 2.0, EditCounts(1, 2, 1, 2, 1)))
        return super().result(timeout)


class Decoder:
    """An evaluator that keeps the utterances which it was given to decode."""

    def __init__(self) -> None:
        self.given: list[Decoding] = []

    def decodes(self, job: Job) -> bool:
        return job.report

    def submit(self, _job: Job, batch: Batch, _posteriors: Any, _losses: Any) -> list[Decoding]:
        self.given += (given := [Decoding() for _ in batch.utterances])
        return given


class Process:
    """A process with two towers, and its coordinator."""

    def __init__(
        self,
        utterances: int = 14,
        *,
        batch_size: int = 1,
        gone: Sequence[int] = (),
        skip: bool = False,
        accumulated: int = 1,
        tested: int = 0,
        **schedule: Any,
    ) -> None:
        handles = {"train_step": "step", "accumulate": "accumulate", "gradient_norm": "norm"}
        of_purpose = {f"{purpose}_towers": towers(purpose) for purpose in ("train", "evaluate")}
        graph: Any = SimpleNamespace(**handles, **of_purpose, batches_per_step=accumulated)
        self.steps, self.decoder = Steps(), Decoder()
        sizes = {TRAIN: utterances, TEST: tested}
        self.sets = {name: set_of(name, size, batch_size, gone, skip) for name, size in sizes.items() if size}
        plans = {name: each.plan for name, each in self.sets.items()}
        options = ScheduleOptions(early_stopping=EarlyStoppingOptions(enabled=False), **schedule)
        self.coordinator = TrainingCoordinator(options, plans, batches_per_step=2 * accumulated)
        evaluator: Any = self.decoder
        self.runner = JobRunner(graph, self.steps, self.sets, evaluator, report_count=10, observer=self.steps)

    def work(self, interrupted: Callable[[], bool] = lambda: False) -> list[EpochReport]:
        job = self.coordinator.next_job()
        assert isinstance(job, Job)
        return list(self.runner.work(job, self.coordinator, interrupted))

    @property
    def trained(self) -> list[int]:
        return [number for _, towers in self.steps.ran for tower in towers for number in tower]

    @property
    def counted(self) -> list[int]:
        opened = self.coordinator.current
        return sorted(opened.done) if opened is not None else []


def noting(noted: list[Any], value: Callable[[], Any]) -> Callable[[], bool]:
    """Return a function that notes a value at each call, and never interrupts."""

    def note() -> bool:
        noted.append(value())
        return False

    return note


def test_an_interruption_leaves_the_coordinator_with_the_done_steps_and_all_other_jobs_in_their_order() -> None:
    process = Process(epoch=2, steps_per_job=2)
    for done in range(2, 14, 2):
        assert not process.work(lambda: True)
        assert process.trained == process.counted == list(range(done))
        assert process.coordinator.running == 0
    (report,) = process.work(lambda: True)
    assert (report.epoch, report.tally) == (0, Tally(14, sum(range(1, 15))))
    assert len(process.work()) == 1
    assert process.trained == [*range(14)] * 2


def test_an_epoch_ends_with_its_report_and_the_next_one_is_not_begun() -> None:
    process = Process(epoch=3, steps_per_job=3)
    (report,) = process.work()
    assert (report.epoch, report.tally.utterances) == (0, 14)
    assert process.trained == [*range(14)]
    assert (process.coordinator.running, process.counted) == (0, [])


def test_a_job_of_the_next_epoch_which_others_have_begun_is_given_back() -> None:
    process = Process(2, epoch=2)
    coordinator = process.coordinator
    lost, next_job = coordinator.next_job(), coordinator.next_job
    assert isinstance(lost, Job)

    def of_next_epoch() -> Job | NoJob:
        coordinator.give_back(lost)
        other = next_job()
        assert isinstance(other, Job)
        coordinator.submit(JobResult(other, other.batches, Tally()))
        return next_job()

    coordinator.next_job = of_next_epoch  # type: ignore[method-assign, assignment]
    with pytest.raises(ResultRefusedError):
        list(process.runner.work(lost, coordinator, lambda: False))
    assert (process.trained, coordinator.running) == ([0, 1], 0)


def test_an_unreadable_recording_is_raised_after_the_whole_steps_before_it_are_counted() -> None:
    process = Process(epoch=1, steps_per_job=2, gone=[9])
    with pytest.raises(AudioError, match=r"9\.wav"):
        process.work()
    assert process.trained == process.counted == list(range(8))
    assert process.coordinator.running == 0
    process = Process(epoch=1, gone=[0])
    with pytest.raises(AudioError, match=r"0\.wav"):
        process.work()
    assert (process.trained, process.coordinator.running) == ([], 0)


def test_batches_without_readable_utterances_are_counted_without_a_step() -> None:
    process = Process(8, epoch=1, gone=[2, 3, 5], skip=True)
    (report,) = process.work()
    assert process.steps.ran == [("step", [[0], [1]]), ("step", [[4]]), ("step", [[6], [7]])]
    assert report.tally.utterances == 5


def test_rounds_of_a_cluster_refuse_a_batch_to_which_nothing_is_left() -> None:
    process = Process(epoch=1, gone=[4], skip=True)
    process.coordinator.stepwise = True
    with pytest.raises(AudioError, match="no utterance of a batch of 1 can still be read"):
        process.work()
    assert process.trained == process.counted == list(range(4))


def test_gradients_are_accumulated_over_the_batches_of_a_step_and_applied_once_even_by_a_shorter_last_one() -> None:
    process = Process(9, epoch=1, accumulated=3)
    process.work()
    assert process.steps.ran == [
        ("accumulate", [[0], [1]]),
        ("accumulate", [[2], [3]]),
        ("step", [[4], [5]]),
        ("accumulate", [[6], [7]]),
        ("step", [[8]]),
    ]
    assert process.steps.done == [([1, 2, 3, 4, 5, 6], 0.5), ([7, 8, 9], 0.5)]
    assert process.steps.first_batches == [0, 6]


def test_a_test_takes_a_batch_for_each_tower_at_once_whatever_a_training_step_accumulates() -> None:
    process = Process(0, tested=5, accumulated=3)
    process.work()
    assert process.steps.ran == [("none", [[0], [1]]), ("none", [[2], [3]]), ("none", [[4]])]
    assert process.steps.first_batches == []


def test_figures_of_a_test_are_those_of_the_decoder_with_the_labels_that_the_network_emits() -> None:
    process = Process(0, tested=3)
    (report,) = process.work()
    assert report.tally == Tally(3, 6.0, EditCounts(3, 6, 3, 6, 3), labels_emitted=(3,))


def test_the_network_waits_for_the_decoder_only_while_more_utterances_than_the_backlog_are_not_decoded() -> None:
    process = Process(0, tested=DECODING_BACKLOG + 14, batch_size=3)
    ahead: list[int] = []
    process.work(noting(ahead, lambda: sum(not each.done() for each in process.decoder.given)))
    assert ahead == [*range(6, DECODING_BACKLOG + 1, 6), *[DECODING_BACKLOG] * 3]
    assert all(each.done() for each in process.decoder.given)


def test_each_step_of_training_is_submitted_by_itself_in_the_rounds_of_a_cluster() -> None:
    process = Process(6, epoch=1, steps_per_job=3, display_step=1)
    process.coordinator.stepwise = True
    seen: list[list[int]] = []
    process.work(noting(seen, lambda: process.counted))
    assert seen == [[0, 1], [0, 1, 2, 3], []]


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_a_loss_that_is_not_finite_names_its_utterances_alone(bad: float) -> None:
    process = Process(epoch=1, batch_size=2)
    process.steps.loss_of = lambda number: bad if number == 5 else 1.0
    with pytest.raises(TrainingError) as raised:
        process.work()
    assert "the loss is not finite in epoch 1 of the train set, in a batch with 5.wav (train.csv:5);" in str(
        raised.value
    )


def test_a_gradient_that_is_not_finite_names_the_utterances_of_its_step_but_not_hundreds() -> None:
    process = Process(60, epoch=1, batch_size=15)
    process.steps.norm = float("nan")
    with pytest.raises(TrainingError) as raised:
        process.work()
    assert "the gradient is not finite in epoch 1" in str(raised.value)
    assert "18.wav (train.csv:18), 19.wav (train.csv:19) and 10 more;" in str(raised.value)
