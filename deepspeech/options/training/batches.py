"""The batches of the training set."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from ...util.shards.windows import SHARD_WINDOW
from ..rows.checks import at_least
from ..rows.flag import flag
from .optimizer import TRAINING


@dataclass(frozen=True)
class BatchOptions:
    """The size and the order of the batches of the training set, which `deepspeech.util.batching` makes."""

    title: ClassVar[str] = TRAINING
    frames: int = flag(
        0,
        "frames of a training batch, padding included, instead of train_batch_size utterances; 0: no such limit",
        name="batch_frames",
        check=at_least(0),
    )
    shuffled: bool = flag(
        False,
        "shuffle the training set in each epoch: first utterances of similar length, then all batches",
        name="shuffle_batches",
    )
    ordered_epochs: int = flag(
        1, "first epochs that are in order of length, not shuffled", name="shuffle_start", check=at_least(0)
    )
    shard_window: int = flag(
        SHARD_WINDOW,
        "tar shards that are read at once; their utterances are ordered by length or shuffled together; 0: all",
        check=at_least(0),
    )

    @property
    def notices(self) -> Iterator[str]:
        """A line for each given flag that has no effect."""
        if self.ordered_epochs != BatchOptions.ordered_epochs and not self.shuffled:
            yield "--shuffle_start: not used without --shuffle_batches, which turns on shuffling"
