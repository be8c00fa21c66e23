"""SIGTERM, as schedulers send it: to nodes that wait, to one node, and to all at once."""

import signal
import time
from collections.abc import Sequence

from nodes import Cluster, steps_counted
from program import Program

STOPPED = 128 + signal.SIGTERM
GRACE = 30.0
"""Grace period of schedulers in seconds, on an otherwise idle machine."""


def seconds_to_stop(cluster: Cluster, *names: str) -> float:
    """Send SIGTERM to nodes at once; return when the last of them has ended, stopped and resumable."""
    for name in names:
        cluster.processes[name].send_signal(signal.SIGTERM)
    start = time.monotonic()
    assert cluster.wait(*names) == [STOPPED] * len(names), cluster.logs()
    return time.monotonic() - start


def flags(program: Program, **changes: object) -> Sequence[str]:
    return program.training(**{"epoch": 5000, "train_batch_size": 2, "checkpoint_secs": 600, **changes})


def test_nodes_that_wait_for_others_stop_when_they_are_told_to(program: Program) -> None:
    with Cluster(program, flags(program)) as chiefless, Cluster(program, flags(program)) as serverless:
        chiefless.start("ps 0", "worker 1")
        chiefless.until(lambda: "Parameter server 0 at" in chiefless.log("ps 0"))
        serverless.start("worker 0")
        serverless.wait_for(lambda status: status["phase"] == "waiting" and len(status["members"]) == 1)
        assert seconds_to_stop(serverless, "worker 0") < GRACE
        assert "interrupted while waiting for other nodes" in serverless.log("worker 0")
        assert seconds_to_stop(chiefless, "ps 0", "worker 1") < GRACE


def test_a_server_that_is_told_to_stop_loses_nothing_and_all_nodes_at_once_end_with_one_code(program: Program) -> None:
    with Cluster(program, flags(program)) as cluster:
        cluster.start()
        cluster.wait_for(steps_counted(10))
        assert seconds_to_stop(cluster, "ps 0") < GRACE
        before = cluster.wait_for(lambda status: status["phase"] == "waiting")["counts"]["steps"]
        assert any(program.checkpoints.glob("train-*.index"))
        cluster.start("ps 0")
        cluster.wait_for(steps_counted(before + 10))
        going_on = f"Resuming from checkpoint {program.checkpoints / f'train-{before}'},"
        assert going_on in cluster.log("worker 0"), cluster.logs()
        assert seconds_to_stop(cluster, "ps 0", "worker 0", "worker 1") < GRACE
        assert "interrupted; saved in" in cluster.log("worker 0")


def test_a_worker_whose_server_is_dead_stops_when_it_is_told_to(program: Program) -> None:
    with Cluster(program, flags(program)) as cluster:
        cluster.start()
        cluster.wait_for(steps_counted(5))
        cluster.kill("ps 0")
        time.sleep(1)
        assert seconds_to_stop(cluster, "worker 1") < GRACE
        assert seconds_to_stop(cluster, "worker 0") < GRACE
