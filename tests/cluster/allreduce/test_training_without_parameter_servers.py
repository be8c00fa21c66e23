import re
import signal

import pytest
from nodes import Cluster, batches_counted, losses, steps_counted, utterances_applied
from program import Program

from deepspeech.checkpoints.identity import read_description


def flags(program: Program, **changes: object) -> list[str]:
    given = {"train_batch_size": 2, "validation_step": 5, "dropout_rate": 0, "random_seed": 3, **changes}
    return [*program.training(**given), "--noearly_stop"]


def steps(log: str) -> list[tuple[int, int]]:
    """Return the numbers of the two batches of each step, in the order of the steps."""
    batches = [int(batch) for batch in re.findall(r"counted: train set, epoch \d+, batches \[(\d+)\]", log)]
    return list(zip(batches[::2], batches[1::2], strict=True))


def weights(log: str) -> dict[int, str]:
    """Return digests of a worker's weights and optimizer state, by their numbers."""
    return {int(number): digest for number, digest in re.findall(r"weights (\d+): (\w+)", log)}


def test_two_workers_learn_what_one_process_learns_and_have_the_same_weights_after_every_step(program: Program) -> None:
    alone = program.run(*flags(program, epoch=5, accumulate_gradients=2, checkpoint_dir=program.folder / "alone"))
    arguments = [*flags(program, epoch=5), *program.test_files(), "--log_traffic"]
    with Cluster(program, arguments, servers=0) as cluster:
        cluster.start("worker 1", "worker 0")
        assert cluster.wait() == [0, 0], cluster.logs()
        log, of_other = cluster.log("worker 0"), cluster.log("worker 1")
    # On a busy machine, a worker may get a later batch than in its turn, and then the steps have other pairs. If a
    # worker comes so late that the chief begins without it, some steps do not have pairs.
    of_pairs = log.count("applied: gradients") == len(steps(log))
    in_turn = all(abs(first - second) == 1 and min(first, second) % 2 == 0 for first, second in steps(log))
    for title in ("Training", "Validation"):
        expected = losses(alone.stderr, title)
        assert len(losses(log, title)) == len(expected) > 0
        if of_pairs:
            assert losses(log, title) == pytest.approx(expected, rel=0 if in_turn else 0.02)
    assert "Test: loss" in log
    assert '"key":"(hidden)"' in of_other and not re.search(r'"key": ?"\w', log + of_other)
    assert utterances_applied(log) == 5 * 24
    assert set(batches_counted(log).values()) == {1}
    assert weights(log) == weights(of_other)
    assert len(weights(log)) >= 5 * 6


def test_no_ring_is_formed_after_training_if_nothing_is_tested(program: Program) -> None:
    with Cluster(program, [*flags(program, epoch=1), "--log_traffic"], servers=0) as cluster:
        cluster.start("worker 1", "worker 0")
        assert cluster.wait() == [0, 0], cluster.logs()
        log = cluster.log("worker 1")
    rounds = re.findall(r'/v1/orders .*"round":(\w+)', log)
    assert rounds and rounds[-1] != "null"
    assert "The ring of the workers is broken" not in log


def test_what_is_counted_is_in_the_weights_once_while_a_worker_is_killed_and_started_again(program: Program) -> None:
    arguments = [*flags(program, epoch=3000, coord_lease_secs=2, replicas=-2, replicas_to_agg=-2), "--log_traffic"]
    with Cluster(program, arguments, servers=0) as cluster:
        cluster.start()
        for comes_back_at_once in (True, False):
            cluster.wait_for(lambda status: len(status["members"]) == 2)
            cluster.wait_for(steps_counted(cluster.status()["counts"]["steps"] + 5))
            cluster.kill("worker 1")
            if not comes_back_at_once:
                cluster.wait_for(lambda status: len(status["members"]) == 1)
                cluster.wait_for(steps_counted(cluster.status()["counts"]["steps"] + 3))
            cluster.start("worker 1")
        cluster.wait_for(lambda status: len(status["members"]) == 2)
        cluster.wait_for(steps_counted(cluster.status()["counts"]["steps"] + 5))
        cluster.processes["worker 0"].send_signal(signal.SIGTERM)
        assert cluster.wait("worker 0", "worker 1") == [128 + signal.SIGTERM] * 2, cluster.logs()
        log, of_other = cluster.log("worker 0"), cluster.log("worker 1")
    trained = {key: count for key, count in batches_counted(log).items() if key[0] == "train"}
    finished = len(losses(log, "Training"))
    assert set(trained.values()) == {1}
    assert {key for key in trained if key[1] <= finished} == {
        ("train", epoch, batch) for epoch in range(1, finished + 1) for batch in range(12)
    }
    assert utterances_applied(log) == 2 * len(trained)
    assert "Back to the last checkpoint" not in log
    newest = max(program.checkpoints.glob("train-*.index"), key=lambda path: int(path.stem.split("-")[1]))
    description = read_description(newest.with_suffix("")) or {}
    assert description["global_step"] == log.count("applied: gradients")
    both = weights(log).keys() & weights(of_other).keys()
    assert len(both) > 10
    assert all(weights(log)[number] == weights(of_other)[number] for number in both)
