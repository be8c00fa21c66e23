import json
import re
import signal
import time
from collections.abc import Callable
from random import Random
from typing import Any

from nodes import Cluster, batches_counted, losses, steps_counted, utterances_applied
from program import Program

from benchmarks.processes.ports import free_ports
from deepspeech.checkpoints.identity import read_description


def flags(program: Program, **changes: object) -> list[str]:
    given = {"train_batch_size": 2, "validation_step": 5, "dropout_rate": 0, "random_seed": 3, **changes}
    return [*program.training(**given), "--noearly_stop"]


def test_two_workers_learn_what_one_process_learns_with_a_batch_as_large_and_everyone_ends(program: Program) -> None:
    augmented = {"epoch": 5, "augment": "speed[factor=1~0.1],noise[p=0.5],time_mask[p=0.5]"}
    alone = program.run(*flags(program, train_batch_size=4, checkpoint_dir=program.folder / "alone", **augmented))
    with Cluster(program, [*flags(program, **augmented), *program.test_files()]) as cluster:
        cluster.start("worker 1", "worker 0", "ps 0")
        assert cluster.wait() == [0, 0, 0], cluster.logs()
        log = cluster.log("worker 0")
    for title in ("Training", "Validation"):
        expected, found = losses(alone.stderr, title), losses(log, title)
        assert len(expected) == len(found) > 0
        # The chief's first batches are separate steps if the other worker is too late on a busy machine.
        within = 0.2 if "Training begins without worker 1" in log else 0.05
        assert all(abs(a - b) <= within * a for a, b in zip(expected, found, strict=True)), (expected, found)
        assert re.search(
            r"^I Training epoch 5 here: loss [\d.]+, \d+ utterances in [\d.]+ s", cluster.log("worker 1"), re.MULTILINE
        )
    assert re.findall(r"^I (.+): (?:loss [\d.]+, )?(\d+) utterances in [\d.]+ s", log, re.MULTILINE)[-7:] == [
        *((f"Training of epoch {epoch}", "24") for epoch in range(1, 6)),
        ("Validation of epoch 5", "6"),
        ("Test", "6"),
    ]
    assert "Test: loss" in log
    description = read_description(program.checkpoints / "train-30")
    assert description is not None
    assert json.dumps(description["state"]["dev_losses"]) != "[]"


def members(count: int) -> Callable[[dict[str, Any]], bool]:
    return lambda status: len(status["members"]) == count


def test_every_batch_is_counted_once_while_workers_are_killed_again_and_again(program: Program) -> None:
    random = Random(5)
    arguments = [*flags(program, epoch=600, validation_step=2, coord_lease_secs=2), "--log_traffic"]
    with Cluster(program, arguments) as cluster:
        cluster.start()
        for turn in range(3):
            cluster.wait_for(members(3))
            time.sleep(random.uniform(0, 1.5))
            cluster.kill("worker 1")
            before = cluster.status()["counts"]["steps"]
            if turn % 2:  # the new process takes the lost one's place before the coordinator has missed it
                cluster.start("worker 1")
            cluster.wait_for(steps_counted(before + 3))
            if not turn % 2:
                cluster.start("worker 1")
        cluster.wait_for(lambda status: len(status["losses"]["dev"]) >= 2)
        cluster.processes["worker 0"].send_signal(signal.SIGTERM)
        assert cluster.wait("worker 0", "ps 0") == [128 + signal.SIGTERM] * 2
        log = cluster.log("worker 0")
    counted = batches_counted(log)
    epochs = len(losses(log, "Training"))
    validations = len(losses(log, "Validation"))
    assert set(counted.values()) == {1}
    assert {key for key in counted if key[0] == "train" and key[1] <= epochs} == {
        ("train", epoch, batch) for epoch in range(1, epochs + 1) for batch in range(12)
    }
    assert validations >= epochs // 2 - 1 > 0


def test_training_goes_on_when_a_parameter_server_or_the_chief_is_killed_and_restarted(program: Program) -> None:
    arguments = flags(program, epoch=3000, checkpoint_secs=1, validation_step=0)
    with Cluster(program, arguments) as cluster:
        cluster.start()
        cluster.wait_for(steps_counted(20))
        cluster.wait_for(lambda status: status["checkpoint_age"] is not None)
        cluster.kill("ps 0")
        cluster.start("ps 0")
        cluster.wait_for(lambda status: status["phase"] == "waiting")
        steps = cluster.status()["counts"]["steps"]
        cluster.wait_for(steps_counted(steps + 20))
        assert "Back to the last checkpoint" in cluster.log("worker 0")
        cluster.wait_for(lambda status: len(status["losses"]["train"]) >= 5)
        cluster.wait_for(lambda _: len(list(program.checkpoints.glob("train-*.index"))) >= 2)
        curve = cluster.status()["losses"]["train"]
        cluster.kill("worker 0")
        cluster.start("worker 0")
        status = cluster.wait_for(steps_counted(20))
        assert status["losses"]["train"][:1] == curve[:1]
        assert [epoch for epoch, _ in status["losses"]["train"]] == [
            *range(1, len(status["losses"]["train"]) + 1),
        ]
        assert cluster.log("worker 0").count("Resuming from checkpoint") >= 2
        cluster.processes["worker 0"].send_signal(signal.SIGTERM)
        assert cluster.wait() == [128 + signal.SIGTERM] * 3
        assert "training was stopped: interrupted; saved in" in cluster.errors("ps 0")[-1]
    newest = max(program.checkpoints.glob("train-*.index"), key=lambda path: int(path.stem.split("-")[1]))
    description = read_description(newest.with_suffix("")) or {}
    state = description["state"]
    done = sum(end - start for start, end in state["open_epoch"]["done"]) if state["open_epoch"] else 0
    assert 2 * description["global_step"] >= 12 * state["epoch"] + done > 2 * 20


def test_two_parameter_servers_two_devices_a_worker_and_several_gradients_a_step_train_too_beside_a_proxy(
    program: Program,
) -> None:
    nobody, *_ = free_ports(1)
    proxies = {"http_proxy": f"http://127.0.0.1:{nobody}", "no_proxy": ""}
    epochs, batches = 6, 24
    gradients = {"replicas": 4, "replicas_to_agg": 4, "iters_per_worker": 3}
    arguments = [*flags(program, epoch=epochs, train_batch_size=1, **gradients), "--log_traffic"]
    with Cluster(program, arguments, servers=2, devices=2, environment=proxies) as cluster:
        cluster.start()
        assert cluster.wait() == [0] * 4, cluster.logs()
        log = cluster.log("worker 0")
    assert utterances_applied(log) == epochs * 24
    trained = {key: count for key, count in batches_counted(log).items() if key[0] == "train"}
    assert trained == {("train", epoch + 1, batch): 1 for epoch in range(epochs) for batch in range(batches)}
    handed_out = [json.loads(job) for job in re.findall(r'/v1/jobs .* -> 200 (.*"set":"train".*)', log)]
    assert {len(job["batches"]) for job in handed_out} == {2 * 3}
    together = [len(found.split(",")) for found in re.findall(r"counted: train set, .* batches \[(.*)\]", log)]
    assert set(together) == {2}
    description = read_description(max(program.checkpoints.glob("train-*.index")).with_suffix("")) or {}
    assert epochs * batches / (2 * 4) <= description["global_step"] < epochs * batches / 2
    first, *_, last = losses(log, "Training")
    assert last < 0.8 * first  # the loss of blanks only, with which networks begin


def test_where_spare_gradients_are_computed_none_of_them_is_in_the_weights_besides_those_counted(
    program: Program,
) -> None:
    epochs = 4
    spare = {"replicas": 2, "replicas_to_agg": 1}
    with Cluster(program, [*flags(program, epoch=epochs, **spare), "--log_traffic"]) as cluster:
        cluster.start()
        assert cluster.wait() == [0] * 3, cluster.logs()
        log = cluster.log("worker 0")
    assert utterances_applied(log) == epochs * 24
    trained = {key: count for key, count in batches_counted(log).items() if key[0] == "train"}
    assert trained == {("train", epoch + 1, batch): 1 for epoch in range(epochs) for batch in range(12)}
    description = read_description(max(program.checkpoints.glob("train-*.index")).with_suffix("")) or {}
    assert description["global_step"] == epochs * 12


def test_a_long_job_of_validation_or_test_is_handed_in_part_by_part_so_that_its_worker_is_not_taken_for_hung(
    program: Program,
) -> None:
    arguments = [*flags(program, epoch=1, validation_step=1, iters_per_worker=100, dev_batch_size=1)]
    with Cluster(program, [*arguments, *program.test_files(), "--test_batch_size=1", "--log_traffic"]) as cluster:
        cluster.start()
        assert cluster.wait() == [0] * 3, cluster.logs()
        log = cluster.log("worker 0")
    parts = re.findall(r"counted: (dev|test) set, epoch 1, batches \[(.*)\]", log)
    counted = [(name, int(batch)) for name, batches in parts for batch in batches.split(",")]
    assert sorted(counted) == [(name, batch) for name in ("dev", "test") for batch in range(6)]
    assert len([name for name, _ in parts if name == "dev"]) == 6
    assert len([name for name, _ in parts if name == "test"]) > 1
