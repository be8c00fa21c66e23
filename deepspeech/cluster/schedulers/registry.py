"""The schedulers by the names that `--cluster` gives them."""

from collections.abc import Callable, Mapping

from . import kubernetes, slurm, tf_config
from .environment import Environment
from .place import Place

PLACES: Mapping[str, tuple[Callable[[Environment], Place], str]] = {
    "tf_config": (tf_config.place, tf_config.ADVICE),
    "jobset": (kubernetes.place_in_job_set, kubernetes.ADVICE),
    "indexed_job": (kubernetes.place_in_indexed_job, kubernetes.ADVICE),
    "slurm": (slurm.place, slurm.ADVICE),
}
"""For each scheduler, the function that reads a node's place, and the advice of its errors."""


def place_of(scheduler: str, variables: Mapping[str, str], least_servers: int = 1) -> Place:
    """Return this process's place from a scheduler's variables; raise FlagError, in one line, if any are missing.

    There must be `least_servers` parameter servers, 1 or 0.
    """
    place, advice = PLACES[scheduler]
    return place(Environment(scheduler, variables, advice, least_servers))
