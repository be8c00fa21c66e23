"""The jobs of an epoch that are not handed out yet, and the choice of a job for a worker."""

from bisect import bisect_right
from collections import deque
from collections.abc import Iterable, Sequence


class PendingJobs:
    """Jobs, each of consecutive batches of one window of the corpus, which is read together, such as a few tar shards.

    A worker gets batches of its last window, so that it does not read another one meanwhile. If none are left there, it
    gets batches of a window that no other worker reads, or else of the window with most jobs left. With one window,
    batches are handed out in order.
    """

    def __init__(self, batches: Sequence[int] = (), size: int = 1, starts: Sequence[int] = (0,)) -> None:
        """Cut the remaining batches, in order, into jobs of `size`; a window begins at each batch of `starts`."""
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
        """Return the batches of a job for a worker; `last` is a batch of its last job, `others` of other workers' jobs.

        There may be thousands of `others`; they are read only when the worker gets another window. Raise IndexError if
        no job is left.
        """
        waiting = [window for window, jobs in self._jobs.items() if jobs]
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
        """Put batches of a job that was taken back, at the front of their window."""
        if batches:
            self._jobs[self._window(batches[0])].appendleft(batches)

    def _window(self, batch: int) -> int:
        return bisect_right(self._starts, batch) - 1
