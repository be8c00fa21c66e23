"""The state of a training run, as `/v1/status` reports it."""

from collections.abc import Collection, Sequence
from typing import Any

from ...schedule.jobs import SetName
from ...schedule.snapshot import Snapshot
from ...schedule.state import Figures
from .coordinator import ClusterCoordinator
from .membership import Member, Role
from .time_shares import MemberTimes, stragglers

HISTORY_SHOWN = 2000
"""Number of epochs of each set whose losses are reported, the newest ones."""

REPORTS_SHOWN = 100
"""Number of word error rates that are reported, the newest ones."""


def status_of(coordinator: ClusterCoordinator, now: float) -> dict[str, Any]:
    """Return a cluster's state as a value for JSON; docs/cluster.md explains each field. Times are in seconds."""
    snapshot = Snapshot.of(coordinator.training) if coordinator.training else None
    slow = stragglers({member.applicant.name: member.times for member in coordinator.members})
    return {
        "phase": _phase(coordinator, snapshot),
        "reason": coordinator.failure or coordinator.trouble,
        **status_of_training(snapshot, coordinator.history),
        "seconds_left": seconds_left(coordinator.opened, snapshot, now),
        "members": [_member(member, now, slow) for member in sorted(coordinator.members, key=_place)],
        "missing": [f"{role.value} {task}" for role in Role for task in coordinator.members.missing(role)],
        "utterances_per_second": round(sum(member.throughput(now) for member in coordinator.members), 2),
        "stalled_for": round(coordinator.members.stalled_for(now), 2),
        "checkpoint_age": coordinator.chronicle.checkpoint_age(now),
        "restarts": coordinator.chronicle.restarts,
        "events": coordinator.chronicle.told(now),
        "counts": vars(coordinator.counts),
    }


def status_of_training(snapshot: Snapshot | None, history: Sequence[Figures]) -> dict[str, Any]:
    """Return the fields that a cluster and a single machine share: epochs, the open epoch, and figures by epoch."""
    state = snapshot.state if snapshot else None
    return {
        "epochs_done": state.epoch if state else None,
        "epochs": state.target_epoch if state else None,
        "stopped_early": bool(state and state.stopped_early),
        "open_epoch": _open_epoch(snapshot) if snapshot else None,
        "losses": {
            name.value: [[each.epoch + 1, each.loss] for each in history if each.set_name is name][-HISTORY_SHOWN:]
            for name in SetName
        },
        "wer": [[e.set_name.value, e.epoch + 1, e.wer] for e in history if e.wer is not None][-REPORTS_SHOWN:],
    }


def seconds_left(opened: tuple[float, int] | None, snapshot: Snapshot | None, now: float) -> float | None:
    """Return the seconds that the rest of training takes at the pace since it was opened; None before the first batch.

    `opened` is the time of opening, and the number of batches left then.
    """
    if snapshot is None or opened is None:
        return None
    (since, left_then), left = opened, snapshot.batches_left
    return (now - since) * left / (left_then - left) if left < left_then else None


def unready(coordinator: ClusterCoordinator) -> str | None:
    """Return the phase of a run that makes no progress now: it waits, has failed or was stopped; else None."""
    if ended := _ended(coordinator):
        return None if ended == "over" else ended
    return "waiting" if _waits(coordinator) else None


def phase_of_training(snapshot: Snapshot) -> str:
    """Return the phase of a run that has begun and is not over."""
    return "testing" if snapshot.training_is_over else "training"


def _phase(coordinator: ClusterCoordinator, snapshot: Snapshot | None) -> str:
    if ended := _ended(coordinator):
        return ended
    return "waiting" if snapshot is None or _waits(coordinator) else phase_of_training(snapshot)


def _waits(coordinator: ClusterCoordinator) -> bool:
    return coordinator.training is None or coordinator.members.are_too_few


def _ended(coordinator: ClusterCoordinator) -> str | None:
    if coordinator.failure is not None:
        return "stopped" if coordinator.stopped else "failed"
    return "over" if coordinator.over else None


def _open_epoch(snapshot: Snapshot) -> dict[str, Any] | None:
    if snapshot.progress is None or snapshot.tally is None:
        return None
    set_name, epoch, done, of = snapshot.progress
    tally = snapshot.tally
    return {
        "set": set_name.value,
        "epoch": epoch + 1,
        "batches": of,
        "batches_done": done,
        "utterances_done": tally.utterances,
        "loss": tally.mean_loss if tally.utterances else None,
        "jobs_open": snapshot.jobs_open,
        "jobs_running": snapshot.jobs_running,
    }


def told_times(times: MemberTimes | None) -> dict[str, Any]:
    """Return the fields of a process's time use, null where it is not known."""
    whole = times.whole if times is not None else 0.0
    if times is None or not whole:
        return dict.fromkeys(("time", "own_step_seconds", "sent_bytes_per_second", "received_bytes_per_second"))
    own = times.own_step_seconds
    return {
        "time": times.shares,
        "own_step_seconds": None if own is None else round(own, 4),
        "sent_bytes_per_second": round(times.sent_bytes / whole),
        "received_bytes_per_second": round(times.received_bytes / whole),
    }


def _place(member: Member) -> tuple[str, int]:
    return member.applicant.role.value, member.applicant.task


def _member(member: Member, now: float, slow: Collection[str]) -> dict[str, Any]:
    return {
        "name": member.applicant.name,
        "silent_for": round(max(now - member.seen, 0.0), 2),
        "jobs": len(member.jobs),
        "utterances_per_second": round(member.throughput(now), 2),
        "straggles": member.applicant.name in slow,
        **told_times(member.times),
        **({} if member.works else {"time": None}),
    }
