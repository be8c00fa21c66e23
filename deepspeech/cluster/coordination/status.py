"""The state of a training run, as `/v1/status` tells it."""

from typing import Any

from ...schedule.jobs import SetName
from ...schedule.state import Figures
from .coordinator import ClusterCoordinator
from .membership import Member, Role

HISTORY_SHOWN = 2000
"""The newest epochs of each set whose losses are told."""


def status_of(coordinator: ClusterCoordinator, now: float) -> dict[str, Any]:
    """Return the state as a value for JSON; docs/cluster.md explains each field. Times are in seconds."""
    training = coordinator.training
    state = training.state_without_epoch if training else None
    progress = training.progress if training else None
    opened = None
    if training is not None and progress is not None:
        set_name, epoch, done, of = progress
        opened = {
            "set": set_name.value,
            "epoch": epoch + 1,
            "batches": of,
            "batches_done": done,
            "jobs_open": training.pending,
            "jobs_running": training.running,
        }
    return {
        "phase": _phase(coordinator),
        "reason": coordinator.failure or coordinator.trouble,
        "epochs_done": state.epoch if state else None,
        "epochs": state.target_epoch if state else None,
        "stopped_early": bool(state and state.stopped_early),
        "open_epoch": opened,
        "seconds_left": _seconds_left(coordinator, now),
        "members": [_member(member, now) for member in coordinator.members],
        "missing": [f"{role.value} {task}" for role in Role for task in coordinator.members.missing(role)],
        "utterances_per_second": round(sum(member.throughput(now) for member in coordinator.members), 2),
        "losses": {
            name.value: [[each.epoch + 1, each.loss] for each in _of(coordinator, name)]
            for name in (SetName.TRAIN, SetName.DEV, SetName.TEST)
        },
        "wer": [[e.set_name.value, e.epoch + 1, e.wer] for e in coordinator.history if e.wer is not None][-100:],
        "counts": vars(coordinator.counts),
    }


def _seconds_left(coordinator: ClusterCoordinator, now: float) -> float | None:
    """Return how long training will still take at the pace since it was opened; None before there is one."""
    if coordinator.training is None or coordinator.opened is None:
        return None
    since, left_then = coordinator.opened
    left = coordinator.training.batches_left
    return (now - since) * left / (left_then - left) if left < left_then else None


def _phase(coordinator: ClusterCoordinator) -> str:
    if coordinator.failure is not None:
        return "failed"
    if coordinator.over:
        return "over"
    if coordinator.training is None:
        return "waiting"
    return "testing" if coordinator.training.training_is_over else "training"


def _of(coordinator: ClusterCoordinator, name: SetName) -> list[Figures]:
    return [figures for figures in coordinator.history if figures.set_name is name][-HISTORY_SHOWN:]


def _member(member: Member, now: float) -> dict[str, Any]:
    return {
        "name": member.applicant.name,
        "silent_for": round(max(now - member.seen, 0.0), 2),
        "jobs": len(member.jobs),
        "utterances_per_second": round(member.throughput(now), 2),
    }
