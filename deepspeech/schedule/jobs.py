"""What passes between the coordinator and its workers: jobs, their results, and what an epoch amounted to."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from enum import Enum
from typing import Any

from ..util.metrics import EditCounts


class SetName(str, Enum):
    """The set that an epoch runs over; its value is its name in JSON and in logs."""

    TRAIN = "train"
    DEV = "dev"
    TEST = "test"


@dataclass(frozen=True)
class Job:
    """Some batches of one epoch, to be done in order by one worker.

    `number` is unique within a coordinator's life. With `report`, transcripts are decoded and compared.
    """

    number: int
    epoch: int
    set_name: SetName
    batches: tuple[int, ...]
    report: bool


@dataclass(frozen=True)
class Sample:
    """An utterance that was transcribed wrongly; `loss` is its CTC loss in nats."""

    wav: str
    transcript: str
    hypothesis: str
    loss: float
    edits: EditCounts


@dataclass(frozen=True)
class Tally:
    """Summed figures of some batches; `edits` and `samples` stay empty where nothing was decoded.

    `samples` are the wrongly transcribed utterances of lowest loss, lowest first.
    """

    utterances: int = 0
    loss_sum: float = 0.0
    edits: EditCounts = field(default_factory=EditCounts)
    samples: tuple[Sample, ...] = ()

    @property
    def mean_loss(self) -> float:
        """Mean CTC loss of an utterance in nats; not a number if there was none."""
        return self.loss_sum / self.utterances if self.utterances else float("nan")

    def merged(self, other: "Tally", sample_count: int) -> "Tally":
        """Both tallies together, keeping `sample_count` samples."""
        return Tally(
            utterances=self.utterances + other.utterances,
            loss_sum=self.loss_sum + other.loss_sum,
            edits=self.edits + other.edits,
            samples=lowest_loss(self.samples + other.samples, sample_count),
        )

    def to_json(self) -> dict[str, Any]:
        """A value for `json.dumps`."""
        return asdict(self)

    @staticmethod
    def from_json(value: Mapping[str, Any]) -> "Tally":
        """The tally that `to_json` wrote; raises KeyError or TypeError for anything else."""
        samples = tuple(Sample(**{**sample, "edits": EditCounts(**sample["edits"])}) for sample in value["samples"])
        edits = EditCounts(**value["edits"])
        return Tally(value["utterances"], value["loss_sum"], edits, samples)


@dataclass(frozen=True)
class JobResult:
    """What a worker did of a job: `batches` are the job's next ones, those after the batches of earlier results.

    With `last`, the worker is done with the job; batches of it that are still undone are handed out again.
    """

    job: Job
    batches: tuple[int, ...]
    tally: Tally
    last: bool = True


@dataclass(frozen=True)
class EpochReport:
    """A finished epoch over one set. `epoch` counts from 0; `decoded` tells whether `tally.edits` say anything."""

    epoch: int
    set_name: SetName
    decoded: bool
    tally: Tally


def lowest_loss(samples: Iterable[Sample], count: int) -> tuple[Sample, ...]:
    """The `count` samples of lowest loss, lowest first."""
    return tuple(sorted(samples, key=lambda sample: (sample.loss, sample.wav))[:count])
