"""How a worker continues after failed steps."""

import threading
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest
import tensorflow as tf

from deepspeech.cluster import worker
from deepspeech.cluster.coordination.errors import NotMemberError
from deepspeech.cluster.monitoring.node_record import NodeRecord
from deepspeech.errors import ClusterError
from deepspeech.options import ClusterOptions
from deepspeech.util.monitoring.time_use import Activity, TimeUse

LOST = tf.errors.UnavailableError(None, None, "Socket closed")
MEMBERSHIP = SimpleNamespace(leave=lambda *_: None, close=lambda: None)


class Clock:
    """A clock that advances only during sleeps."""

    def __init__(self) -> None:
        self.now = 1000.0

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(worker, "time", clock)
    monkeypatch.setattr(worker, "join_or_explain", lambda *_: MEMBERSHIP)
    return clock


def work(monkeypatch: pytest.MonkeyPatch, *memberships: Callable[[Any], None]) -> int:
    """Work through memberships, each with the record of failed steps; return the number of memberships."""
    left: Iterator[Callable[[Any], None]] = iter(memberships)
    begun = 0

    def work_as_member(*arguments: Any) -> None:
        nonlocal begun
        begun += 1
        next(left)(arguments[-1])

    monkeypatch.setattr(worker, "_work_as_member", work_as_member)
    cluster = ClusterOptions(coordinator_retries=100)
    applicant = SimpleNamespace(name="worker 1")
    context: Any = SimpleNamespace(connection=None, applicant=applicant, cluster=cluster, record=NodeRecord())
    worker.work_until_over(context, lambda: False)
    return begun


def test_a_step_that_fails_after_minutes_of_others_is_no_reason_to_end(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    def minutes(_: Any) -> None:
        clock.sleep(600)
        raise LOST

    assert work(monkeypatch, minutes, lambda _: None) == 2


@pytest.mark.usefixtures("clock")
def test_a_worker_that_gives_up_leaves_the_cluster_first(monkeypatch: pytest.MonkeyPatch) -> None:
    left: list[None] = []
    monkeypatch.setattr(MEMBERSHIP, "leave", lambda *_: left.append(None))

    def give_up(_: Any) -> None:
        raise ClusterError("a server cannot be reached")

    with pytest.raises(ClusterError):
        work(monkeypatch, give_up)
    assert len(left) == 1


def test_failures_with_steps_between_them_are_no_reason_to_end(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    def steps(trouble: Any) -> None:
        clock.sleep(30)
        trouble.end()
        clock.sleep(25)
        raise LOST

    assert work(monkeypatch, *[steps] * 5, lambda _: None) == 6


def test_steps_that_fail_for_longer_than_the_coordinator_is_tried_are_an_error(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failure(_: Any) -> None:
        clock.sleep(20)
        raise LOST

    with pytest.raises(ClusterError, match=r"steps have failed for 50 s: UnavailableError: Socket closed"):
        work(monkeypatch, *[failure] * 10)
    assert 1050 < clock.now < 1100


@pytest.mark.usefixtures("clock")
def test_a_step_that_cannot_succeed_is_an_error_of_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_memory(_: Any) -> None:
        raise tf.errors.ResourceExhaustedError(None, None, "OOM when allocating tensor\n\t [[{{node gradients}}]]")

    said = "^worker 1: a step failed: ResourceExhaustedError: OOM when allocating tensor$"
    with pytest.raises(ClusterError, match=said):
        work(monkeypatch, no_memory)


def test_a_worker_that_was_given_up_ends_if_its_step_does_not_return_but_not_while_it_waits_for_recordings(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ended = threading.Event()
    monkeypatch.setattr(worker, "end_hard_later", lambda *_: ended.set())
    monkeypatch.setattr(worker, "RETRY_SECONDS", 0.01)
    time_use = TimeUse()
    timeout = worker._StepTimeout(0.05, time_use)
    with time_use.during(Activity.FEEDING):
        timeout.start(NotMemberError("not a member"))
        assert not ended.wait(0.5)
    with time_use.during(Activity.COMPUTING):
        assert ended.wait(60)
    timeout.stop()


def test_a_session_that_never_closes_does_not_keep_the_worker() -> None:
    closes = threading.Event()
    context: Any = worker.WorkerContext(*[None] * 10)  # type: ignore[arg-type]
    closing = context.begin_to_close(SimpleNamespace(close=closes.wait))
    assert closing.is_alive() and closing.daemon
    closes.set()
    closing.join(60)
    assert not closing.is_alive()
