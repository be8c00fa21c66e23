"""Workers that tell their own addresses: a number that changes, and one that comes back at another port."""


from counted import utterances_applied
from nodes import Cluster
from program import Program

from benchmarks.processes.ports import free_ports


def flags(program: Program, workers: str, **changes: object) -> list[str]:
    given = {"train_batch_size": 2, "dropout_rate": 0, "validation_step": 0, "workers": workers, **changes}
    return [*program.training(**given), "--noearly_stop", "--log_traffic"]


def announcing(program: Program, flags: list[str]) -> Cluster:
    (port,) = free_ports(1)
    return Cluster(program, flags, hosts=([f"localhost:{port}"], ["auto"]))


def members(count: int) -> object:
    return lambda status: len(status["members"]) == count


def test_workers_take_free_places_and_training_waits_while_there_are_too_few(program: Program) -> None:
    epochs = 150
    with announcing(program, flags(program, "2:4", epoch=epochs)) as cluster:
        cluster.start("ps 0", "worker 0")
        waiting = cluster.wait_for(lambda status: status["phase"] == "waiting" and len(status["members"]) == 2)
        assert waiting["missing"] == ["worker 1"]
        for name in ("worker 1", "worker 2"):
            cluster.start(name, flags=["--task_index=-1"])
        cluster.wait_for(lambda status: len(status["members"]) == 4 and status["counts"]["steps"] > 20)
        assert cluster.wait() == [0] * 4, cluster.logs()
        log = cluster.log("worker 0")
    assert waiting["counts"]["steps"] == 0
    assert utterances_applied(log) == epochs * 24
