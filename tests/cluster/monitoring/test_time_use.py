"""The time use of a process, and the worker that the others wait for."""

import os
import resource
import socket
from collections.abc import Iterator
from pathlib import Path

from deepspeech.cluster.coordination.time_shares import MemberTimes, stragglers
from deepspeech.cluster.http.protocol import TimesBody
from deepspeech.cluster.monitoring.node_record import NodeRecord
from deepspeech.util.monitoring.network import NetworkBytes
from deepspeech.util.monitoring.time_use import Activity, Interval, TimeUse, shares


class Clock:
    """A clock that a test sets, in seconds."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def times(own: float, steps: int) -> MemberTimes:
    seconds = {**dict.fromkeys(Activity, 0.0), Activity.COMPUTING: own, Activity.WAITING: 60.0 - own}
    return MemberTimes(seconds, own, steps, 1200, 600)


def test_every_second_is_one_activitys_and_an_inner_one_interrupts_the_outer() -> None:
    clock = Clock()
    use = TimeUse(clock)
    clock.now += 1
    with use.during(Activity.FEEDING):
        clock.now += 2
        with use.during(Activity.WAITING):
            clock.now += 4
        clock.now += 8
    with use.timed(use.steps), use.during(Activity.COMPUTING):
        clock.now += 16
        assert use.seconds()[Activity.COMPUTING] == 16  # while it goes on
    assert use.seconds() == {
        **{Activity.OTHER: 1, Activity.FEEDING: 10, Activity.WAITING: 4, Activity.COMPUTING: 16},
        Activity.DECODING: 0,
    }
    assert (use.steps.count, use.steps.sum) == (1, 16)
    taken = use.take_intervals()
    assert [each.activity.value for each in taken] == ["feeding", "waiting", "feeding", "computing"]
    assert taken[1] == Interval(Activity.WAITING, 103, 107)
    assert use.take_intervals() == []
    assert shares({Activity.FEEDING: 1.0, Activity.OTHER: 3.0}) == {"feeding": 0.25, "other": 0.75}
    assert shares({}) == {}


def test_the_time_until_each_item_comes_is_counted_and_that_of_its_use_is_not() -> None:
    clock = Clock()
    use = TimeUse(clock)

    def slow() -> Iterator[int]:
        for item in (1, 2):
            clock.now += 3
            yield item

    for _ in use.while_awaiting(slow(), Activity.FEEDING):
        clock.now += 5
    assert use.seconds()[Activity.FEEDING] == 6
    assert use.seconds()[Activity.OTHER] == 10


def test_a_node_reports_its_newest_minute_every_few_seconds_once_it_has_joined() -> None:
    clock = Clock()
    record = NodeRecord("worker 1", clock)
    assert record.state.value == "starting"
    assert record.report_if_due() is None
    clock.now += 500  # reading the corpus is not part of the last minute
    record.note_joined()
    assert record.state.value == "ready"
    assert record.report_if_due() is None
    for _ in range(30):
        with record.time_use.timed(record.time_use.steps), record.time_use.during(Activity.COMPUTING):
            clock.now += 4
        with record.time_use.during(Activity.FEEDING):
            clock.now += 1
        report = record.report_if_due()
    assert report is not None
    assert (report["computing"], report["feeding"], report["other"], report["steps"]) == (48, 12, 0, 12)
    assert report["sent_bytes"] >= 0
    assert record.report_if_due() is None


def test_a_node_that_was_suspended_for_a_month_reports_what_the_coordinator_takes() -> None:
    clock = Clock()
    record = NodeRecord("worker 1", clock)
    record.note_joined()
    clock.now += 30 * 86400
    told = TimesBody.model_validate(record.report_if_due())
    assert told.other == 30 * 86400


def test_validation_and_waiting_have_no_part_in_a_workers_own_time_of_its_steps() -> None:
    clock = Clock()
    record = NodeRecord("worker 1", clock)
    use = record.time_use
    record.note_joined()
    for activities in ((Activity.FEEDING, Activity.WAITING, Activity.COMPUTING), (Activity.OTHER,)):
        with use.doing_steps():
            for activity in activities:
                with use.timed(use.steps), use.during(activity):
                    clock.now += 2
        with use.during(Activity.COMPUTING):  # the validation of an epoch
            clock.now += 30
    with use.doing_steps():
        clock.now += 1
        report = record.report_if_due()  # in the middle of an epoch
    assert report is not None
    assert (report["own_seconds_of_steps"], report["steps"]) == (7, 4)
    assert TimesBody(**report).times().own_step_seconds == 1.75


def test_a_straggler_is_one_whose_own_part_of_a_step_is_far_longer_than_the_median_workers() -> None:
    assert stragglers({"worker 0": times(20, 40), "worker 1": times(58, 40), "ps 0": None}) == {"worker 1"}
    assert stragglers({"worker 0": times(40, 40), "worker 1": times(50, 40)}) == set()
    assert stragglers({"worker 0": times(50, 40), "worker 1": times(0, 0)}) == set()


def test_bytes_are_those_of_this_processes_connections_also_of_closed_ones() -> None:
    network = NetworkBytes()
    before = network.look()
    with socket.create_server(("127.0.0.1", 0)) as listening:
        sending = socket.create_connection(listening.getsockname())
        receiving, _ = listening.accept()
        with sending, receiving:
            sending.sendall(b"x" * 100_000)
            received = 0
            while received < 100_000:
                received += len(receiving.recv(1 << 16))
            seen = network.look()
            assert 100_000 <= seen.sent - before.sent < 101_000
            assert 100_000 <= seen.received - before.received < 101_000
    after = network.look()
    assert after.sent >= seen.sent
    assert after.received >= seen.received


def test_bytes_are_not_counted_twice_after_a_look_for_which_no_descriptor_was_left() -> None:
    network = NetworkBytes()
    with socket.create_server(("127.0.0.1", 0)) as listening:
        sending = socket.create_connection(listening.getsockname())
        receiving, _ = listening.accept()
        with sending, receiving:
            sending.sendall(bytes(100_000))
            assert receiving.recv(100_000, socket.MSG_WAITALL) == bytes(100_000)
            before = network.look()
            files = resource.getrlimit(resource.RLIMIT_NOFILE)
            with Path(os.devnull).open() as next_one:
                resource.setrlimit(resource.RLIMIT_NOFILE, (next_one.fileno(), files[1]))
            try:
                assert network.look().received == before.received
            finally:
                resource.setrlimit(resource.RLIMIT_NOFILE, files)
            assert network.look().received == before.received
