"""The bodies of requests and answers, in JSON, which are validated before use.

A body that does not fit its model exactly is refused. Numbers are bounded; texts and lists are limited in length.
"""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat

from ...schedule.jobs import MOST_BATCHES, Job, Sample, SetName, Tally
from ...util.figures.metrics import EditCounts
from ...util.figures.tally import LABELS_KEPT, MOST_FILES
from ...util.monitoring.time_use import Activity
from ..coordination.membership import Applicant, Role
from ..coordination.time_shares import MemberTimes

LARGEST_NUMBER = 2**53 - 1
"""The largest integer that every JSON library represents exactly."""

LONGEST_POLL = 10.0
"""Most seconds for which an answer may be delayed while there is none."""

LONGEST_DURATION = 1e9
"""Most seconds of an activity that a member may report; it may have been suspended for months."""

MOST_JOBS = 1000
"""Most jobs in a message."""

MOST_TRACED = 1000
"""Most steps that one request can have traced."""

Number = Annotated[int, Field(ge=0, le=LARGEST_NUMBER)]
Text = Annotated[str, Field(max_length=4096)]
LongText = Annotated[str, Field(max_length=65536)]
Name = Annotated[str, Field(min_length=1, max_length=64)]
HostAndPort = Annotated[str, Field(max_length=300, pattern=r"^([^\s/@,]+:[0-9]{1,5})?$")]
Seconds = Annotated[FiniteFloat, Field(ge=0, le=LONGEST_POLL)]
Loss = Annotated[FiniteFloat, Field(ge=-1e60, le=1e60)]  # more than any float32, with sums that are finite
Duration = Annotated[FiniteFloat, Field(ge=0, le=LONGEST_DURATION)]


class Body(BaseModel):
    """The base class of all bodies: they are strict, and may have no other fields."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


def body_named(name: str) -> type[Body]:
    """Return the body class of a name that a route uses; raises KeyError if there is none."""
    return {body.__name__: body for body in Body.__subclasses__()}[name]


class JoinBody(Body):
    """A process asks to join."""

    role: Role
    task: Number
    process: Name
    properties: Annotated[dict[Name, Text], Field(max_length=256)]
    address: HostAndPort = ""

    def applicant(self) -> Applicant:
        """Return the applicant that this describes."""
        return Applicant(self.role, self.task, self.process, dict(self.properties), self.address)


class JoinedBody(Body):
    """The process is a member, and must give signs of life less than `lease_seconds` apart.

    It should give one every `seconds_between_signs`.
    """

    member: Name
    lease_seconds: FiniteFloat
    seconds_between_signs: FiniteFloat


class PlaceBody(Body):
    """A worker without a place asks for one, and waits for up to `wait` seconds until one is free."""

    process: Name
    wait: Seconds = 0.0


class PlaceAnswer(Body):
    """The place at which the worker may join."""

    task: Number


class AddressBody(Body):
    """A parameter server asks for a worker's address."""

    task: Number


class AddressAnswer(Body):
    """The worker's address."""

    address: HostAndPort


class TimesBody(Body):
    """The seconds of each activity of a member in the last minute, and the steps and bytes in that time."""

    computing: Duration
    feeding: Duration
    waiting: Duration
    decoding: Duration
    other: Duration
    own_seconds_of_steps: Duration
    steps: Number
    sent_bytes: Number
    received_bytes: Number

    def times(self) -> MemberTimes:
        """Return the times that this describes."""
        seconds = {activity: float(getattr(self, activity.value)) for activity in Activity}
        return MemberTimes(seconds, self.own_seconds_of_steps, self.steps, self.sent_bytes, self.received_bytes)


class MemberBody(Body):
    """A member gives a sign of life; a parameter server that was told to stop sets `must_go`.

    Every few seconds, the member adds its time use.
    """

    member: Name
    must_go: bool = False
    times: TimesBody | None = None


class AliveBody(Body):
    """The sign of life was recorded. With `over`, a parameter server may end: its weights are no longer needed.

    `order` is the number of the newest order to workers that hold the weights themselves.
    """

    over: bool
    order: Number = 0


class LeaveBody(Body):
    """A member leaves; with a failure, training ends for every node."""

    member: Name
    failure: LongText | None = None


class JobBody(Body):
    """A member asks for a job, and waits for one for up to `wait` seconds.

    `jobs` are those that the member knows it holds; it gets a job again whose answer was lost on the way.
    """

    member: Name
    wait: Seconds = 0.0
    jobs: Annotated[list[Number], Field(max_length=MOST_JOBS)] | None = None


class JobAnswer(Body):
    """A job for the member; if it holds the weights itself, it needs those of the number `weights`, or later ones."""

    number: Number
    epoch: Number
    set: SetName
    batches: Annotated[list[Number], Field(min_length=1, max_length=MOST_BATCHES)]
    report: bool
    weights: Number = 0

    @staticmethod
    def of(job: Job, weights: int = 0) -> "JobAnswer":
        """Return the description of a job."""
        epoch, batches = job.epoch, list(job.batches)
        return JobAnswer(
            number=job.number, epoch=epoch, set=job.set_name, batches=batches, report=job.report, weights=weights
        )


class StepBody(Body):
    """A member asks to begin a training step of its job, and waits up to `wait` seconds for permission."""

    member: Name
    job: Number
    wait: Seconds = 0.0


class StepAnswer(Body):
    """The member may compute a gradient for this round; for `weights`, see `JobAnswer`.

    If the step is traced, `trace` is the parent of the member's spans, as a W3C `traceparent`.
    """

    round: Number
    trace: Name | None = None
    weights: Number = 0


class TraceBody(Body):
    """An operator asks for traces of the next steps."""

    steps: Annotated[int, Field(ge=1, le=MOST_TRACED)] = 1


class OfferBody(Body):
    """A member asks to send the gradient that it has computed for a round."""

    member: Name
    job: Number
    round: Number


class EditsBody(Body):
    """The fields of `EditCounts`."""

    utterances: Number = 0
    word_edits: Number = 0
    words: Number = 0
    character_edits: Number = 0
    characters: Number = 0
    substitutions: Number = 0
    insertions: Number = 0
    deletions: Number = 0
    syllable_edits: Number = 0
    toneless_syllable_edits: Number = 0
    syllables: Number = 0


class SampleBody(Body):
    """The fields of `Sample`."""

    wav: Text
    transcript: LongText
    hypothesis: LongText
    loss: Loss
    edits: EditsBody


class FileTallyBody(Body):
    """The figures of one CSV file's utterances."""

    utterances: Number
    loss_sum: Loss
    edits: EditsBody = EditsBody()

    def tally(self) -> Tally:
        """Return the tally that this describes."""
        return Tally(self.utterances, self.loss_sum, EditCounts(**self.edits.model_dump()))


class TallyBody(Body):
    """The fields of `Tally`."""

    utterances: Number
    loss_sum: Loss
    edits: EditsBody = EditsBody()
    samples: Annotated[list[SampleBody], Field(max_length=1000)] = []
    labels_emitted: Annotated[list[Number], Field(max_length=LABELS_KEPT)] = []
    files: Annotated[list[FileTallyBody], Field(max_length=MOST_FILES)] = []
    validation_edits: EditsBody = EditsBody()

    def tally(self) -> Tally:
        """Return the tally that this describes."""
        samples = tuple(
            Sample(s.wav, s.transcript, s.hypothesis, s.loss, EditCounts(**s.edits.model_dump())) for s in self.samples
        )
        edits = EditCounts(**self.edits.model_dump())
        files = tuple(file.tally() for file in self.files)
        validation = EditCounts(**self.validation_edits.model_dump())
        return Tally(self.utterances, self.loss_sum, edits, samples, tuple(self.labels_emitted), files, validation)


class ResultBody(Body):
    """A member submits the figures of its job's next batches and, in training, the round of their gradient."""

    member: Name
    job: Number
    batches: Annotated[list[Number], Field(max_length=MOST_BATCHES)]
    tally: TallyBody
    last: bool = True
    round: Number | None = None


class ReturnBody(Body):
    """A member returns jobs that it won't finish."""

    member: Name
    jobs: Annotated[list[Number], Field(max_length=MOST_JOBS)]


class DoneBody(Body):
    """The request was carried out."""


class ErrorBody(Body):
    """Why a request was refused: `kind` is for programs, `error` for people."""

    kind: Name
    error: str
