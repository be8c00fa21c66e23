"""The chief when workers are missing, when a checkpoint cannot be saved, and when parameter servers do not answer."""

from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

import pytest
import tensorflow as tf

from deepspeech.cluster import chief, steps, watchdog, worker
from deepspeech.cluster.allreduce.steps import AllReduceSteps
from deepspeech.cluster.coordination.coordinator import ClusterCoordinator
from deepspeech.cluster.coordination.membership import Applicant, ClusterSettings, Role
from deepspeech.cluster.coordination.rounds import RoundEnd
from deepspeech.cluster.http.service import Service
from deepspeech.errors import CheckpointError, ClusterError, TrainingError
from deepspeech.options import ClusterOptions, LearningRateOptions, Options, ScheduleOptions
from deepspeech.schedule.coordinator import TrainingCoordinator
from deepspeech.schedule.jobs import EpochReport, Job, SetName, Tally
from deepspeech.schedule.learning_rate import LearningRate
from deepspeech.schedule.state import Plan

LOST = tf.errors.UnavailableError(None, None, "From /job:ps/replica:0/task:0:\nSocket closed")
NO_MEMORY = tf.errors.ResourceExhaustedError(None, None, "OOM when allocating tensor\n\t [[{{node Adam}}]]")
FULL = tf.errors.ResourceExhaustedError(None, None, "/data/train-7.data_temp; No space left on device")


def leading(monkeypatch: pytest.MonkeyPatch, cause: tf.errors.OpError) -> tuple[Any, Any]:
    """Return a chief whose first checkpoint cannot be saved, and its coordinator."""
    monkeypatch.setattr(chief, "RETRY_SECONDS", 0.0)
    leader = chief.Chief.__new__(chief.Chief)
    leader.__dict__ |= {name: MagicMock() for name in ("_context", "_service", "_progress", "_options", "_send")}
    leader.__dict__ |= {name: MagicMock() for name in ("_gather", "_open", "_watch", "_ending_without_weights")}
    error = CheckpointError("checkpoint train-7 cannot be written")
    error.__cause__ = cause
    leader.__dict__ |= {"_is_over": lambda: False, "_do_what_is_due": MagicMock(side_effect=error)}
    monkeypatch.setattr(chief, "Summaries", MagicMock())
    return leader, leader.__dict__["_service"].locked.return_value.__enter__.return_value


@pytest.mark.parametrize(("too_few", "told"), [(False, ["Training begins without worker 1, worker 3, …"]), (True, [])])
def test_the_chief_says_which_workers_it_begins_without(
    too_few: bool, told: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    leader = chief.Chief.__new__(chief.Chief)
    leader.__dict__ |= {name: MagicMock() for name in ("_watchdog", "_check")}
    leader.__dict__ |= {"_service": MagicMock(), "_watch": MagicMock(signal_number=None)}
    leader.__dict__ |= {"_context": MagicMock(cluster=MagicMock(parameter_servers=())), "_patience": 1.0}
    service, watchdog = leader.__dict__["_service"], leader.__dict__["_watchdog"]
    service.clock.side_effect = [0.0, 9.0, 9.0, 15.1]
    watchdog.trouble.return_value = None
    members = service.locked.return_value.__enter__.return_value.members
    members.missing.side_effect = lambda role: [1, 3] if role is Role.WORKER else []
    members.are_too_few = too_few
    leader._gather(MagicMock())
    assert service.wait.call_count == 1
    assert [message.replace("which can join at any time", "…") for message in caplog.messages] == told


def test_a_server_that_is_lost_during_a_save_takes_training_back_to_the_last_checkpoint(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    leader, coordinator = leading(monkeypatch, LOST)
    assert leader._lead_until_servers_are_lost(MagicMock()) is False
    coordinator.suspend.assert_called_once_with()
    assert "Back to the last checkpoint, or to the beginning if there is none: " in caplog.text


def test_a_chief_that_waits_for_a_lost_server_does_not_answer_a_signal_as_if_there_were_weights_to_save(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    leader, _ = leading(monkeypatch, LOST)
    watch, endings = leader._watch, []
    leader.__dict__["_gather"] = lambda _: endings.append(watch.ending)
    leader.__dict__["_open"] = lambda *_: setattr(watch, "ending", "saving a checkpoint")
    for _ in range(2):
        assert leader._lead_until_servers_are_lost(MagicMock()) is False
    assert endings == [leader._ending_without_weights] * 2


def test_a_validation_is_reported_before_weights_are_saved_for_a_server_that_must_go() -> None:
    leader = chief.Chief.__new__(chief.Chief)
    leader.__dict__ |= {name: MagicMock() for name in ("_watchdog", "_check", "_steps", "_service", "_progress")}
    leader.__dict__ |= {"_watch": MagicMock(signal_number=None), "_options": MagicMock()}
    coordinator = leader.__dict__["_service"].locked.return_value.__enter__.return_value
    coordinator.trouble, coordinator.training, coordinator.members.that_must_go = None, None, ["ps 0"]
    coordinator.take_reports.return_value = [EpochReport(0, SetName.DEV, False, Tally(1, 1.0))]
    lifecycle = MagicMock()
    with pytest.raises(steps.ParameterServersLostError):
        leader._do_what_is_due(lifecycle, MagicMock(error=None))
    assert [name for name, *_ in lifecycle.method_calls] == ["epoch_done", "save_what_would_be_lost"]


def test_a_full_disk_ends_training(monkeypatch: pytest.MonkeyPatch) -> None:
    leader, coordinator = leading(monkeypatch, FULL)
    with pytest.raises(CheckpointError):
        leader._lead_until_servers_are_lost(MagicMock())
    coordinator.suspend.assert_not_called()


def test_a_chief_that_has_no_memory_for_a_step_says_so_and_tells_all_nodes_in_one_line(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    leader, _ = leading(monkeypatch, LOST)
    leader.__dict__ |= {name: MagicMock() for name in ("_watch", "_watchdog", "_announce_end")}
    leader.__dict__["_do_what_is_due"] = MagicMock(side_effect=NO_MEMORY)
    monkeypatch.setattr(chief, "WorkerThread", MagicMock())
    said = r"^out of memory: lower --train_batch_size.* \(ResourceExhaustedError: OOM when allocating tensor\)$"
    with pytest.raises(TrainingError, match=said) as ended:
        leader.lead(lambda _: None)
    leader._announce_end.assert_called_once_with(ended.value)


def test_training_that_is_begun_again_in_vain_ends_unless_a_result_or_another_server_came(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = [0.0]
    monkeypatch.setattr(worker, "time", SimpleNamespace(monotonic=lambda: now[0]))
    coordinator = ClusterCoordinator(ClusterSettings(1, 1, 1, 1), {})
    made = steps.ServedSteps.__new__(steps.ServedSteps)
    made.__dict__ |= {"_service": Service(coordinator), "_begin_anew": lambda: None, "_stand": None}
    made.__dict__ |= {"_trouble": worker.Trouble(), "_seconds_in_vain": 50.0}

    def begin_every_second(seconds: int) -> None:
        for _ in range(seconds):
            made.begin(MagicMock())
            now[0] += 1.0

    coordinator.join(Applicant(Role.PARAMETER_SERVER, 0, "one"), 0.0)
    begin_every_second(50)
    coordinator.counts.results += 1
    begin_every_second(50)
    coordinator.join(Applicant(Role.PARAMETER_SERVER, 0, "another"), 0.0)
    begin_every_second(50)
    with pytest.raises(ClusterError, match=r"nothing could be computed for 50 s, .* are --ps_hosts, .* the same"):
        begin_every_second(3)


def test_a_step_whose_workers_have_all_left_since_is_made_with_the_rate_of_one() -> None:
    coordinator = ClusterCoordinator(ClusterSettings(4, 0, 8, 8, least_workers=1), {})
    coordinator.open(TrainingCoordinator(ScheduleOptions(epoch=1), {SetName.TRAIN: Plan(4, 1, "corpus")}))
    made = steps.ServedSteps.__new__(steps.ServedSteps)
    made.__dict__ |= {"_service": Service(coordinator), "_progress": MagicMock(), "_least_workers": 1}
    made.__dict__ |= {"_rate": LearningRate(0.001, LearningRateOptions())}
    member = coordinator.join(Applicant(Role.WORKER, 0, "process"), 0.0)
    job = coordinator.next_job(member, 0.0)
    assert isinstance(job, Job)
    number = coordinator.begin_step(member, job.number, 0.0)
    coordinator.submit(member, job.number, job.batches, Tally(1, 1.0), last=True, round_number=number, now=0.0)
    assert coordinator.close_round(0.0) is None
    coordinator.leave(member, 0.0)
    assert coordinator.close_round(0.0) == RoundEnd(0, 1)
    assert made._rate_now() == 0.001


def test_each_server_is_waited_for_from_its_own_loss_on_and_not_from_that_of_one_that_is_back() -> None:
    now = [0.0]
    coordinator = ClusterCoordinator(ClusterSettings(1, 2, 1, 1), {})
    servers = [coordinator.join(Applicant(Role.PARAMETER_SERVER, task, "process"), 0.0) for task in range(2)]
    watching = watchdog.Watchdog(Service(coordinator, lambda: now[0]), ["a:2222", "b:2222"], patience=50.0)
    coordinator.leave(servers[0], 10.0)
    coordinator.leave(servers[1], 55.0)
    coordinator.join(Applicant(Role.PARAMETER_SERVER, 0, "another"), 58.0)
    now[0] = 104.0
    assert watching.trouble(waiting_since=10.0) is None
    now[0] = 105.0
    said = "parameter server 1 (b:2222) did not come, or come back, for 50 s"
    assert watching.trouble(waiting_since=10.0) == said


@pytest.mark.parametrize(
    ("seconds", "failures"), [([0.5] * 1203, 1), ([0.5, 1000.0, 0.5], 0)], ids=["cut off", "suspended"]
)
def test_servers_that_do_not_answer_end_training_but_not_the_time_in_which_the_chief_was_suspended(
    seconds: Sequence[float], failures: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    watching, look, fail = watched(monkeypatch)
    watching.expect(600.0)
    look(seconds)
    assert fail.call_count == failures


def test_a_checkpoint_may_be_on_its_way_to_a_store_for_longer_than_servers_may_take(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    watching, look, fail = watched(monkeypatch)
    watching.expect(600.0)
    watching.apart_from(lambda _: look([0.5] * 10_000))(Path("run"))
    assert fail.call_count == 0
    look([0.5] * 1203)
    assert fail.call_count == 1


def test_recordings_may_be_measured_for_longer_than_servers_may_take(monkeypatch: pytest.MonkeyPatch) -> None:
    watching, look, fail = watched(monkeypatch)
    leader = chief.Chief.__new__(chief.Chief)
    leader.__dict__ |= {"_context": MagicMock(), "_options": MagicMock(), "_watchdog": watching}
    monkeypatch.setattr(chief, "fill_in_statistics", lambda *_, **__: look([0.5] * 10_000))
    watching.expect(600.0)
    leader._fill_in_statistics(MagicMock())
    assert fail.call_count == 0
    look([0.5] * 1203)
    assert fail.call_count == 1


def test_gradients_may_go_around_a_ring_of_workers_for_longer_than_servers_may_take(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    watching, look, fail = watched(monkeypatch)
    slow = MagicMock(session=None, step=lambda *_: look([0.5] * 10_000) or 4, form=lambda *_: look([0.5] * 10_000))
    made = steps_in_a_ring(monkeypatch, watching, slow)
    watching.expect(600.0)
    assert made.are_possible()
    made.end_round(RoundEnd(1000, count=1))
    assert fail.call_count == 0


def test_a_checkpoint_that_is_due_after_a_step_may_take_as_long_as_any_other(monkeypatch: pytest.MonkeyPatch) -> None:
    watching, look, fail = watched(monkeypatch)
    made = steps_in_a_ring(monkeypatch, watching, MagicMock(session=None, step=lambda *_: 4))
    watching.expect(600.0)
    made.end_round(RoundEnd(1000, count=1))
    look([0.5] * 1190)
    assert fail.call_count == 0
    look([0.5] * 20)
    assert fail.call_count == 1


def steps_in_a_ring(monkeypatch: pytest.MonkeyPatch, watching: watchdog.Watchdog, replica: MagicMock) -> AllReduceSteps:
    """Return the object that ends rounds of two workers; the replica stands for the chief's weights."""
    graph = SimpleNamespace(training=SimpleNamespace(train_towers=[0]))
    options = Options(cluster=ClusterOptions(workers=("a:2222", "b:2222")))
    context: Any = SimpleNamespace(options=options, cluster=options.cluster, graph=graph, replica=replica)
    service = MagicMock(clock=lambda: 0.0)
    coordinator = service.locked.return_value.__enter__.return_value
    coordinator.end_round.return_value, coordinator.over, coordinator.group.is_whole = 4, False, False
    monkeypatch.setattr(AllReduceSteps, "_rate_now", lambda _: 0.001)
    monkeypatch.setattr("deepspeech.cluster.allreduce.steps._place_of_first", MagicMock())
    return AllReduceSteps(context, service, watching, MagicMock())


def watched(monkeypatch: pytest.MonkeyPatch) -> tuple[watchdog.Watchdog, Callable[[Sequence[float]], None], MagicMock]:
    """Return a watchdog of servers that have joined, a function that lets it check at intervals, and `fail`."""
    now = [0.0]
    monkeypatch.setattr(watchdog, "time", SimpleNamespace(monotonic=lambda: now[0]))
    monkeypatch.setattr(watchdog, "end_hard_later", MagicMock())
    service = MagicMock(clock=lambda: 0.0)
    coordinator = service.locked.return_value.__enter__.return_value
    coordinator.members.missing.return_value = []
    watching = watchdog.Watchdog(service, ["a:2222"], patience=50.0)

    def look(steps: Sequence[float]) -> None:
        left = list(steps)

        def wait(_: float) -> bool:
            now[0] += left.pop(0) if left else 0.0
            return not left

        watching.__dict__["_ended"] = MagicMock(wait=wait)
        watching._look_again_and_again()

    return watching, look, coordinator.fail
