"""The progress of the current epoch: a bar, or lines in the log, with the loss so far."""

import logging
from collections.abc import Mapping
from itertools import accumulate

import numpy as np
import numpy.typing as npt

from ...schedule.jobs import SetName, Tally
from ...schedule.state import OpenEpoch
from ...util.progress import Progress
from ..data_set import DataSet
from .reports import epoch_title

logger = logging.getLogger(__name__)


class EpochProgress:
    """Shows the progress of successive epochs, in utterances."""

    def __init__(
        self, sets: Mapping[SetName, DataSet], *, bar: bool, share: bool = False, shows_rate: bool = False
    ) -> None:
        """Show only lines without `bar`. With `share`, this process does a part of each epoch, and shows that part.

        With `shows_rate`, training epochs also show the learning rate.
        """
        self._sets = sets
        self._bar = bar and not share
        self._share = share
        self._epoch: tuple[SetName, int] | None = None
        self._shown: Progress | None = None
        self._before = Tally()
        self._done = 0
        self._loss_sum = 0.0
        self._shows_rate = shows_rate
        self._learning_rate = ""

    @property
    def rate(self) -> float:
        """Utterances a second in the current epoch, without those before an interruption; 0 between epochs."""
        return self._shown.rate if self._shown is not None else 0.0

    def resume(self, opened: OpenEpoch | None) -> None:
        """Store the progress of an epoch that is continued from a checkpoint; it is the next one to be shown."""
        self._before = opened.tally if opened is not None else Tally()

    def show(self, set_name: SetName, epoch: int) -> None:
        """Show this epoch from now on, counted from 0; the previous one has ended."""
        if self._epoch == (set_name, epoch):
            return
        self.log_end()
        self._epoch = (set_name, epoch)
        self._done, self._loss_sum = self._before.utterances, self._before.loss_sum
        self._shown = Progress(
            self._title(),
            None if self._share else len(self._sets[set_name].corpus),
            self._bar,
            unit="utterance",
            before=self._done,
            effort=None if self._share else self._effort_of(set_name, epoch),
        )
        self._shown.__enter__()
        self._before = Tally()

    def show_rate(self, learning_rate: float) -> None:
        """Store the learning rate of the next step."""
        self._learning_rate = f", learning rate {learning_rate:.3g}" if self._shows_rate else ""

    def advance(self, losses: npt.NDArray[np.float32]) -> None:
        """Show that more utterances are done; `losses`, float32 [utterances], are their losses in nats."""
        self.reach(self._done + len(losses), self._loss_sum + float(losses.sum(dtype=np.float64)))

    def reach(self, utterances: int, loss_sum: float) -> None:
        """Show that this many utterances are done in all; `loss_sum` is the sum of their losses in nats."""
        if self._shown is None:
            return
        more, self._done, self._loss_sum = utterances - self._done, utterances, loss_sum
        self._shown.advance(more, f"loss {loss_sum / utterances:.2f}{self._learning_rate}" if utterances else "")

    def make_room(self) -> None:
        """Move to a new line for the next message; the bar is drawn again below it."""
        if self._shown is not None:
            self._shown.make_room()

    def end(self) -> str:
        """End the current epoch; return this run's part of it in words: utterances, seconds and pace."""
        assert self._shown is not None
        self._shown.finish()
        pace = self._shown.summary() + self._learning_rate
        self._shown = self._epoch = None
        self._learning_rate = ""
        return pace

    def log_end(self) -> None:
        """End the current epoch, if any, and log its loss and pace."""
        if self._shown is not None:
            title, loss = self._title(), self._loss_sum / max(self._done, 1)
            logger.info("%s: loss %.4f, %s", title, loss, self.end())

    def break_off(self) -> None:
        """End the current epoch, if any, in the middle, without a line in the log."""
        if self._shown is not None:
            self._shown.finish(dirty=True)
        self._shown = self._epoch = None

    def _title(self) -> str:
        assert self._epoch is not None
        return epoch_title(*self._epoch) + (" here" if self._share else "")

    def _effort_of(self, set_name: SetName, epoch: int) -> list[int]:
        """Return the frames of the epoch's first n utterances, by n: shorter utterances take less time."""
        of_set = self._sets[set_name]
        return list(accumulate((of_set.corpus[index].frames for index in of_set.feeder.cut.order(epoch)), initial=0))
