"""Workers that announce their addresses: their number changes, one is told to stop, and one comes back elsewhere."""

import json
import re
import signal

from nodes import Cluster, batches_counted, side_by_side, steps_counted, utterances_applied
from program import Program

from benchmarks.processes.ports import free_ports

STOPPED = 128 + signal.SIGTERM


def flags(program: Program, **changes: object) -> list[str]:
    given = {"train_batch_size": 2, "dropout_rate": 0, "validation_step": 0, **changes}
    return [*program.training(**given), "--noearly_stop", "--log_traffic", "--worker_hosts=auto", "--workers=2:4"]


def test_training_goes_on_with_those_who_are_there_and_waits_for_the_least_number(program: Program) -> None:
    (port,) = free_ports(1)
    with Cluster(
        program, flags(program, epoch=5000, coord_lease_secs=2), hosts=([f"localhost:{port}"], ["auto"])
    ) as cluster:
        cluster.start("ps 0", "worker 0")
        waiting = cluster.wait_for(lambda status: status["phase"] == "waiting" and len(status["members"]) == 2)
        assert waiting["missing"] == ["worker 1"]
        assert waiting["counts"]["steps"] == 0
        for name in ("worker 1", "worker 2"):
            cluster.start(name, flags=["--task_index=-1"])
        grown = cluster.wait_for(lambda status: len(status["members"]) == 4 and status["counts"]["steps"] > 10)
        cluster.wait_for(steps_counted(grown["counts"]["steps"] + 5))

        cluster.processes["worker 2"].send_signal(signal.SIGTERM)
        shrunk = cluster.wait_for(lambda status: len(status["members"]) == 3)
        assert cluster.wait("worker 2") == [STOPPED]
        assert cluster.errors("worker 2")[-1].endswith("interrupted; the other workers go on without this one")
        cluster.wait_for(steps_counted(shrunk["counts"]["steps"] + 5))
        cluster.kill("worker 1")
        paused = cluster.wait_for(lambda status: status["phase"] == "waiting" and len(status["members"]) == 2)
        cluster.start("worker 3", flags=["--task_index=-1", "--log_format=json"])
        cluster.wait_for(steps_counted(paused["counts"]["steps"] + 5))

        cluster.processes["worker 0"].send_signal(signal.SIGTERM)
        assert cluster.wait("ps 0", "worker 0", "worker 3") == [STOPPED] * 3, cluster.logs()
        log = cluster.log("worker 0")
        last_words = json.loads(cluster.log("worker 3").splitlines()[-1])
    assert [last_words["node"]] == re.findall(r"This is (worker \d)", cluster.log("worker 3"))
    counted = {key: count for key, count in batches_counted(log).items() if key[0] == "train"}
    assert set(counted.values()) == {1}
    assert utterances_applied(log) == 2 * len(counted)
    done = max(epoch for _, epoch, _ in counted)
    assert all(("train", epoch, batch) in counted for epoch in range(1, done) for batch in range(12))


def test_a_worker_that_waits_for_a_place_is_told_that_training_ends(program: Program) -> None:
    def check(program: Program, ending: str) -> None:
        arguments = [*flags(program, epoch=30, coord_lease_secs=100), "--workers=2:2"]
        with Cluster(program, arguments, servers=0, workers=3, hosts=([], ["auto"])) as cluster:
            cluster.start("worker 0")
            cluster.start("worker 1", flags=["--task_index=-1"])
            cluster.wait_for(lambda status: len(status["members"]) == 2)
            cluster.processes["worker 1"].send_signal(signal.SIGSTOP)
            cluster.start("worker 2", flags=["--task_index=-1"])
            cluster.until(lambda: "/v1/places" in cluster.log("worker 2"))
            if ending == "stopped":
                cluster.processes["worker 0"].send_signal(signal.SIGTERM)
            cluster.processes["worker 1"].send_signal(signal.SIGCONT)
            assert cluster.wait() == [STOPPED if ending == "stopped" else 0] * 3, cluster.logs()
        assert "could not be reached" not in cluster.log("worker 2")

    side_by_side(program, ["stopped", "over"], check)
