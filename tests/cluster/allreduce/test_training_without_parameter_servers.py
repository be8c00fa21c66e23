import re

from nodes import Cluster, batches_counted, steps_counted, utterances_applied
from program import Program


def flags(program: Program, **changes: object) -> list[str]:
    given = {"train_batch_size": 2, "validation_step": 5, "dropout_rate": 0, "random_seed": 3, **changes}
    return [*program.training(**given), "--noearly_stop"]


def losses(log: str, title: str) -> list[float]:
    return [float(loss) for loss in re.findall(rf"{title} of epoch \d+: loss ([\d.]+)", log)]


def weights(log: str) -> dict[int, str]:
    """Return digests of a worker's weights, optimizer's state included, by their numbers."""
    return {int(number): digest for number, digest in re.findall(r"weights (\d+): (\w+)", log)}


def test_two_workers_learn_what_one_process_learns_and_have_the_same_weights_after_every_step(program: Program) -> None:
    alone = program.run(*flags(program, epoch=5, train_batch_size=4, checkpoint_dir=program.folder / "alone"))
    arguments = [*flags(program, epoch=5), *program.test_files(), "--log_traffic"]
    with Cluster(program, arguments, servers=0) as cluster:
        cluster.start("worker 1", "worker 0")
        assert cluster.wait() == [0, 0], cluster.logs()
        log, of_other = cluster.log("worker 0"), cluster.log("worker 1")
    for title in ("Training", "Validation"):
        expected, found = losses(alone.stderr, title), losses(log, title)
        assert len(expected) == len(found) > 0
        assert all(abs(a - b) <= 0.001 * a for a, b in zip(expected, found, strict=True)), (expected, found)
    assert "Test: loss" in log
    assert utterances_applied(log) == 5 * 24
    assert set(batches_counted(log).values()) == {1}
    assert weights(log) == weights(of_other)
    assert len(weights(log)) >= 5 * 6
