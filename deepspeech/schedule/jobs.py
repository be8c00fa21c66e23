"""The messages between the coordinator and its workers: jobs, their results, and the reports of epochs."""

from dataclasses import dataclass
from enum import Enum

from ..util.figures.metrics import EditCounts
from ..util.figures.tally import Sample, Tally

__all__ = ["EpochReport", "Job", "JobResult", "Sample", "SetName", "Tally"]

MOST_BATCHES = 100_000
"""Most batches of a job: a coordinator lists them in one message."""


class SetName(str, Enum):
    """The set that an epoch runs over; its value is its name in JSON and in logs."""

    TRAIN = "train"
    DEV = "dev"
    TEST = "test"


@dataclass(frozen=True)
class Job:
    """Some batches of one epoch, which one worker does in order.

    `number` is unique for a coordinator, `epoch` counts from 0, and `batches` are indices of the set's batches. With
    `report`, transcripts are decoded and compared with the corpus.
    """

    number: int
    epoch: int
    set_name: SetName
    batches: tuple[int, ...]
    report: bool


@dataclass(frozen=True)
class JobResult:
    """The figures of a part of a job: `batches` are the job's next ones, after the batches of earlier results.

    With `last`, the worker is done with the job; batches of the job that are still undone are handed out again.
    """

    job: Job
    batches: tuple[int, ...]
    tally: Tally
    last: bool = True


@dataclass(frozen=True)
class EpochReport:
    """A finished epoch over one set. `epoch` counts from 0; `decoded` says whether `tally.edits` were counted."""

    epoch: int
    set_name: SetName
    decoded: bool
    tally: Tally

    @property
    def edits(self) -> EditCounts | None:
        """The errors of a validation without a language model, if they were counted, else those of decoding, or None.

        So the error rates of all validations can be compared, also if only some were decoded with a language model.
        """
        if self.tally.validation_edits.utterances:
            return self.tally.validation_edits
        return self.tally.edits if self.decoded else None
