"""The state of training at a moment, for status pages and metrics."""

from dataclasses import dataclass
from typing import Protocol

from .coordinator import TrainingCoordinator
from .jobs import SetName, Tally
from .state import TrainingState


@dataclass(frozen=True)
class Snapshot:
    """The state of training when this was made; it is immutable, so any thread may read it.

    `state` does not include the open epoch; `progress` and `tally` describe it as in `TrainingCoordinator`.
    """

    state: TrainingState
    progress: tuple[SetName, int, int, int] | None
    tally: Tally | None
    jobs_open: int
    jobs_running: int
    batches_left: int
    training_is_over: bool

    @staticmethod
    def of(training: TrainingCoordinator) -> "Snapshot":
        """Return the state of training now; no other thread may change it during the call."""
        return Snapshot(
            training.state_without_epoch,
            training.progress,
            training.tally,
            training.pending,
            training.running,
            training.batches_left,
            training.training_is_over,
        )


class Publish(Protocol):
    """A function that is called with the state of training after each change; it must not raise or block."""

    def __call__(self, snapshot: Snapshot, utterances_per_second: float, checkpoint_at: float | None = None, /) -> None:
        """Publish; `checkpoint_at` is the `time.monotonic` at which the newest checkpoint was saved."""
