"""How training stands at a moment, for those who watch it."""

from dataclasses import dataclass
from typing import Protocol

from .coordinator import TrainingCoordinator
from .jobs import SetName, Tally
from .state import TrainingState


@dataclass(frozen=True)
class Snapshot:
    """How training stood when this was made; it does not change, so that any thread may read it.

    `state` is without the open epoch; `progress` and `tally` tell of it as `TrainingCoordinator` does.
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
        """Return how training stands now; nobody may change it meanwhile."""
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
    """Is told how training stands whenever that changes; it must not raise, nor wait."""

    def __call__(self, snapshot: Snapshot, utterances_per_second: float, checkpoint_at: float | None = None, /) -> None:
        """Take note; `checkpoint_at` is when the newest checkpoint was saved, as `time.monotonic` gives it."""
