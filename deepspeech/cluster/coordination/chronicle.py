"""The events of a run for those who monitor it: losses, restarts, and when it was last saved."""

from collections import deque
from typing import Any

from ...schedule.state import TrainingState
from ...util.figures.counted import counted

EVENTS_KEPT = 100
"""Number of events that are kept, the newest ones."""


class Chronicle:
    """The events of a run since its coordinator was started; times are those of its clock, in seconds."""

    def __init__(self) -> None:
        self.checkpoint_at: float | None = None
        """When the newest checkpoint was saved."""
        self.restarts = 0
        """How often training went back to its last checkpoint."""
        self._events: deque[tuple[float, str]] = deque(maxlen=EVENTS_KEPT)

    def note(self, now: float, what: str) -> None:
        """Record an event, in words."""
        self._events.append((now, what))

    def note_start(self, now: float, state: TrainingState) -> None:
        """Record that the weights of a state are loaded, and that jobs are handed out."""
        begun = (
            f"training goes on after {counted(state.epoch, 'epoch')}" if state != TrainingState() else "training begins"
        )
        self.note(now, begun)

    def note_restart(self, now: float, reason: str) -> None:
        """Record that training goes back to its last checkpoint, and why."""
        self.restarts += 1
        self.note(now, f"back to the last checkpoint: {reason}")

    def checkpoint_age(self, now: float) -> float | None:
        """Return how many seconds ago the newest checkpoint was saved; None if there is none."""
        return None if self.checkpoint_at is None else round(max(now - self.checkpoint_at, 0.0), 2)

    def told(self, now: float) -> list[dict[str, Any]]:
        """Return the events, newest first: `seconds_ago`, and `what` in words."""
        return [{"seconds_ago": round(max(now - at, 0.0), 2), "what": what} for at, what in reversed(self._events)]
