"""The status page of training on one machine, `--status_port`."""

import json
import socket
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator

import pytest

from benchmarks.processes.ports import free_ports
from deepspeech.cli import flags
from deepspeech.cluster.http import libraries
from deepspeech.cluster.monitoring.node_record import NodeRecord
from deepspeech.cluster.status_page import RunStatus, status_page
from deepspeech.errors import ClusterError, FlagError
from deepspeech.options import ScheduleOptions
from deepspeech.schedule.coordinator import TrainingCoordinator
from deepspeech.schedule.jobs import Job, JobResult, SetName, Tally
from deepspeech.schedule.snapshot import Snapshot
from deepspeech.schedule.state import Plan
from deepspeech.util.monitoring.time_use import Activity

PLANS = {SetName.TRAIN: Plan(4, 2, "a"), SetName.TEST: Plan(1, 2, "b")}


def steps() -> Iterator[Snapshot]:
    """Yield the state of a training of two epochs, and of its test, after each batch."""
    coordinator = TrainingCoordinator(ScheduleOptions(epoch=2), PLANS)
    yield Snapshot.of(coordinator)
    while isinstance(job := coordinator.next_job(), Job):
        coordinator.submit(JobResult(job, job.batches, Tally(2, 6.0)))
        yield Snapshot.of(coordinator)


def get(port: int, path: str) -> str:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=60) as answer:
        return str(answer.read().decode())


@pytest.mark.parametrize("step_seconds", [1, 30])
def test_the_time_is_that_of_the_last_minute_however_rarely_it_is_asked_for(step_seconds: int) -> None:
    seconds = [1000.0]
    record = NodeRecord(clock=lambda: seconds[0])
    status = RunStatus(lambda: seconds[0], record)
    stand = next(steps())
    record.note_joined()
    for activity, spent in ((Activity.FEEDING, 3600), (Activity.COMPUTING, 120)):
        for _ in range(spent // step_seconds):
            with record.time_use.during(activity):
                seconds[0] += step_seconds
            status.publish(stand, 1.0)
    assert status.tell()["time"] == {**dict.fromkeys(Activity, 0.0), Activity.COMPUTING: 1.0}


def test_the_page_tells_how_training_stands_and_takes_no_messages() -> None:
    (port,) = free_ports(1)
    with status_page(port) as publish:
        assert publish is not None
        assert "<title>DeepSpeech training</title>" in get(port, "/")
        before = json.loads(get(port, "/v1/status"))
        assert (before["phase"], before["epochs"], before["open_epoch"]) == ("preparing", None, None)
        stands = steps()
        for _ in range(6):
            publish(next(stands), 12.345)
        status = json.loads(get(port, "/v1/status"))
        assert (status["phase"], status["epochs_done"], status["epochs"]) == ("training", 1, 2)
        assert status["open_epoch"] == {
            **{"set": "train", "epoch": 2, "batches": 4, "batches_done": 1, "utterances_done": 2, "loss": 3.0},
            **{"jobs_open": 3, "jobs_running": 0},
        }
        assert status["losses"]["train"] == [[1, 3.0]]
        assert status["utterances_per_second"] == 12.35
        assert status["seconds_left"] > 0
        assert "members" not in status
        assert "counts" not in status
        metrics = get(port, "/metrics")
        assert "deepspeech_epoch_batches_done 1.0" in metrics
        assert "member" not in metrics
        assert "jobs" not in metrics
        with pytest.raises(urllib.error.HTTPError, match="404"):
            urllib.request.urlopen(f"http://127.0.0.1:{port}/v1/join", b"{}", timeout=60)
        for snapshot in stands:
            publish(snapshot, 0.0)
        assert json.loads(get(port, "/v1/status"))["phase"] == "testing"


def test_the_status_may_be_asked_for_at_any_time() -> None:
    status, over = RunStatus(), threading.Event()
    problems: list[Exception] = []

    def ask() -> None:
        while not over.is_set():
            try:
                json.dumps(status.tell(), allow_nan=False)
            except Exception as error:
                problems.append(error)

    asking = threading.Thread(target=ask)
    asking.start()
    for _ in range(50):
        for snapshot in steps():
            status.publish(snapshot, 1.0)
    over.set()
    asking.join()
    assert problems == []


def test_only_this_machine_reaches_the_page() -> None:
    (port,) = free_ports(1)
    with status_page(port), socket.create_server(("127.0.0.2", port)):
        pass  # the page listens on 127.0.0.1 alone


def test_a_port_that_is_taken_is_named_with_its_flag() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with (
            pytest.raises(
                FlagError, match=rf"--status_port={port}: .*\(Address already in use\); .*choose another port"
            ),
            status_page(port),
        ):
            pass


def test_missing_libraries_name_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(libraries, "SERVER_LIBRARIES", ("no_such_library",))
    with pytest.raises(ClusterError, match=r"--status_port needs no_such_library: .* extra `cluster`"), status_page(1):
        pass


def test_a_cluster_has_a_page_of_its_own() -> None:
    cluster = ["--ps_hosts=a:1", "--worker_hosts=b:1", "--job_name=worker"]
    with pytest.raises(FlagError, match="--status_port: a cluster's page"):
        flags.parse(["--train_files=a.csv", "--status_port=8000", *cluster])
