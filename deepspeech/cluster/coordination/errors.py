"""What the coordinator refuses. Each error says the kind and the HTTP status that a node is told.

CoordinatorError
├── JoinRefusedError         403 refused
├── JobLostError             409 job_lost
│   └── ResultMismatchError  (the same), and a ResultRefusedError of the schedule
├── TracingOffError          409 tracing_off
├── NotMemberError           410 not_member
├── ReplacedError            410 replaced
├── TrainingFailedError      410 failed
└── TrainingStoppedError     410 stopped
"""

from typing import ClassVar

from ...schedule.coordinator import ResultRefusedError

REPLACED = "another process has joined with the same --job_name and --task_index"


class CoordinatorError(Exception):
    """The coordinator refuses what it was asked; nothing has changed."""

    status: ClassVar[int]
    kind: ClassVar[str]


class JoinRefusedError(CoordinatorError):
    """A process does not fit this training, for the reason that the message gives, however often it asks."""

    status = 403
    kind = "refused"


class JobLostError(CoordinatorError):
    """The job isn't the member's (any more), or its step came too late; others will do it."""

    status = 409
    kind = "job_lost"


class ResultMismatchError(JobLostError, ResultRefusedError):
    """A result does not cover the next batches of the member's job."""


class TracingOffError(CoordinatorError):
    """No step can be traced, as the chief was not told where traces go."""

    status = 409
    kind = "tracing_off"


class NotMemberError(CoordinatorError):
    """The member is unknown or was given up for lost; the process may join again."""

    status = 410
    kind = "not_member"


class ReplacedError(CoordinatorError):
    """Another process has joined under the same role and task; this one no longer belongs to the cluster."""

    status = 410
    kind = "replaced"


class TrainingFailedError(CoordinatorError):
    """Training has ended for good, for the reason that the message gives."""

    status = 410
    kind = "failed"


class TrainingStoppedError(CoordinatorError):
    """The chief was told to stop, and has saved; the same commands go on from there."""

    status = 410
    kind = "stopped"


def error_of_kind(kind: str, message: str) -> CoordinatorError | None:
    """Return the error that a coordinator told of, or None for a kind that is not the coordinator's."""
    for error in CoordinatorError.__subclasses__():
        if error.kind == kind:
            return error(message)
    return None
