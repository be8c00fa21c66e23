"""The errors with which the coordinator refuses requests. Each has the kind and the HTTP status of the answer.

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
    """The coordinator refuses a request; nothing has changed."""

    status: ClassVar[int]
    kind: ClassVar[str]


class JoinRefusedError(CoordinatorError):
    """A process does not fit this training, for the reason in the message; asking again does not help."""

    status = 403
    kind = "refused"


class JobLostError(CoordinatorError):
    """The job isn't the member's (any more), or its step came too late; another worker does it."""

    status = 409
    kind = "job_lost"


class ResultMismatchError(JobLostError, ResultRefusedError):
    """A result does not cover the next batches of the member's job."""


class TracingOffError(CoordinatorError):
    """No step can be traced, because the chief has no address for traces."""

    status = 409
    kind = "tracing_off"


class NotMemberError(CoordinatorError):
    """The member is unknown or was declared lost; the process may join again."""

    status = 410
    kind = "not_member"


class ReplacedError(CoordinatorError):
    """Another process has joined under the same role and task; this one no longer belongs to the cluster."""

    status = 410
    kind = "replaced"


class TrainingFailedError(CoordinatorError):
    """Training has ended for good, for the reason in the message."""

    status = 410
    kind = "failed"


class TrainingStoppedError(CoordinatorError):
    """The chief was told to stop, and has saved; the same commands continue from there."""

    status = 410
    kind = "stopped"


def error_of_kind(kind: str, message: str) -> CoordinatorError | None:
    """Return the error of a kind in a coordinator's answer; None for a kind that the coordinator does not have."""
    for error in CoordinatorError.__subclasses__():
        if error.kind == kind:
            return error(message)
    return None
