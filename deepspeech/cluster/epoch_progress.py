"""How far the open epoch has come, as a progress bar or a line in the log for each epoch."""

from ..schedule.jobs import SetName
from ..training.reports import epoch_title
from ..util.progress import Progress


class EpochProgress:
    """Shows the progress of one epoch after the other."""

    def __init__(self, where: str = "", *, bar: bool) -> None:
        """`where` is added to each epoch's title. Without `bar`, there is only the line at the end of an epoch."""
        self._where = where
        self._bar = bar
        self._epoch: tuple[SetName, int] | None = None
        self._shown: Progress | None = None
        self._done = 0

    def show(self, set_name: SetName, epoch: int, total: int) -> None:
        """Show this epoch of `total` batches from now on, and end the one that was shown before."""
        if self._epoch == (set_name, epoch):
            return
        self.finish()
        self._epoch, self._done = (set_name, epoch), 0
        self._shown = Progress(epoch_title(set_name, epoch) + self._where, total, self._bar)
        self._shown.__enter__()

    def advance(self, batches: int) -> None:
        """Show that this many more batches are done."""
        self.reach(self._done + batches)

    def reach(self, done: int) -> None:
        """Show that this many batches are done in all."""
        if self._shown is not None:
            self._shown.advance(done - self._done)
            self._done = done

    def finish(self, error: BaseException | None = None) -> None:
        """End the epoch's line; with an error, the epoch was broken off."""
        if self._shown is not None:
            self._shown.__exit__(type(error) if error else None, error, None)
        self._shown = self._epoch = None
