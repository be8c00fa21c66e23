"""The jobs of an epoch that wait to be handed out, and which of them a worker gets."""

from bisect import bisect_right
from collections import deque
from collections.abc import Iterable, Sequence


class PendingJobs:
    """Runs of batches of one window of the corpus each; windows are what is read together, such as a few tar shards.

    A worker gets batches of the window that it had last, so that it reads no other meanwhile; then those of a window
    that nobody is at; and then those of the window that has most left. With one window, they are handed out in order.
    """

    def __init__(self, batches: Sequence[int] = (), size: int = 1, starts: Sequence[int] = (0,)) -> None:
        """Take the batches that are left, in order, as jobs of `size`; a window begins at each batch of `starts`."""
        self._starts = starts
        self._jobs: dict[int, deque[tuple[int, ...]]] = {}
        of_window: dict[int, list[int]] = {}
        for batch in batches:
            of_window.setdefault(self._window(batch), []).append(batch)
        for window, left in of_window.items():
            self._jobs[window] = deque(tuple(left[start : start + size]) for start in range(0, len(left), size))

    def __len__(self) -> int:
        return sum(map(len, self._jobs.values()))

    def take(self, last: int | None = None, others: Iterable[int] = ()) -> tuple[int, ...]:
        """Return the batches of a job for a worker that had the batch `last`, where others had those of `others`.

        There may be thousands of others, who are looked at only when the worker goes on to another window. Raise
        IndexError if there is none.
        """
        waiting = [window for window in sorted(self._jobs) if self._jobs[window]]
        if not waiting:
            raise IndexError("no job waits")
        if len(waiting) == 1:
            return self._jobs[waiting[0]].popleft()
        own = None if last is None else self._window(last)
        if own is not None and own in waiting:
            return self._jobs[own].popleft()
        taken = {self._window(batch) for batch in others}
        chosen = next((window for window in waiting if window not in taken), None)
        if chosen is None:
            chosen = max(waiting, key=lambda window: len(self._jobs[window]))
        return self._jobs[chosen].popleft()

    def put_back(self, batches: tuple[int, ...]) -> None:
        """Let batches of a job that was taken be the first of their window again."""
        if batches:
            self._jobs.setdefault(self._window(batches[0]), deque()).appendleft(batches)

    def _window(self, batch: int) -> int:
        return bisect_right(self._starts, batch) - 1
