"""The sets of a run: how far ahead of the training step their batches are prepared."""

from collections.abc import Iterator
from contextlib import closing

import pytest
from program import Program

from deepspeech.cli.flags import parse
from deepspeech.schedule.jobs import SetName
from deepspeech.training.data_set import open_sets
from deepspeech.training.inputs import read_inputs
from deepspeech.util.features import front_end

TWO_NODES = ("--ps_hosts=localhost:1", "--worker_hosts=localhost:2", "--job_name=worker", "--task_index=0")


@pytest.mark.parametrize(
    ("flags", "towers", "ahead"),
    [((), 1, 4), ((), 8, 8), (("--accumulate_gradients=3",), 2, 6), (TWO_NODES, 1, 1), (TWO_NODES, 8, 8)],
    ids=["one device", "eight devices", "three batches of two", "one device of a node", "eight devices of a node"],
)
def test_the_batches_of_the_next_step_are_prepared_during_a_step(
    program: Program, flags: tuple[str, ...], towers: int, ahead: int
) -> None:
    options = parse([*program.training(train_batch_size=1), "--noshow_progressbar", *flags])
    assert options is not None
    asked: list[int] = []

    def claimed() -> Iterator[int]:
        for index in range(20):
            asked.append(index)
            yield index

    with (
        open_sets(options, read_inputs(options), front_end(options.features), towers=towers) as sets,
        closing(sets[SetName.TRAIN].feeder.batches(claimed())) as batches,
    ):
        next(batches)
        assert len(asked) == 1 + ahead
