"""Has the program say which phase of a run it enters and leaves, so that a test can choose when to end it."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

PHASES_PIPE = "TORTURE_PHASES"
"""The environment variable that names the pipe for the lines `SECONDS PHASE`, by the machine's monotonic clock."""

BETWEEN = "between"

PHASES = {
    "corpus check": "training.inputs:read_inputs",
    "feature extraction": "util.feature_cache:_build",
    "graph": "training.run:build_training_graph",
    "restore": "checkpoints.store:Checkpoints.restore",
    "save": "checkpoints.store:Checkpoints.save",
}
"""The functions that phases are spent in; those of work on a set are of JobRunner.work."""

WORK = {"train": "epoch", "dev": "validation", "test": "test"}
"""The phases of work on a set, by the set's name."""


def announce_phases() -> None:
    """Have this process announce its phases; signals end it even if this test run's shell ignores them."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    announcer = _Announcer(os.open(os.environ[PHASES_PIPE], os.O_WRONLY))
    for name, function in PHASES.items():
        owner, attribute = _owner(function)
        setattr(owner, attribute, announcer.around(name, getattr(owner, attribute)))
    owner, attribute = _owner("training.job_runner:JobRunner.work")
    setattr(owner, attribute, announcer.around_work(getattr(owner, attribute)))


class _Announcer:
    def __init__(self, pipe: int) -> None:
        self._pipe = pipe
        self._say(BETWEEN)

    def around(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def announced(*arguments: Any, **named: Any) -> Any:
            with self._phase(name):
                return function(*arguments, **named)

        return announced

    def around_work(self, work: Callable[..., Iterator[Any]]) -> Callable[..., Iterator[Any]]:
        def announced(runner: Any, job: Any, *arguments: Any) -> Iterator[Any]:
            with self._phase(WORK[job.set_name.value]):
                yield from work(runner, job, *arguments)

        return announced

    @contextmanager
    def _phase(self, name: str) -> Iterator[None]:
        self._say(name)
        try:
            yield
        finally:
            self._say(BETWEEN)

    def _say(self, phase: str) -> None:
        os.write(self._pipe, f"{time.monotonic():.6f} {phase}\n".encode())


def _owner(name: str) -> tuple[Any, str]:
    """Return the module or class that has a function, and the function's name there."""
    module, _, path = name.partition(":")
    *classes, attribute = path.split(".")
    owner: Any = import_module(f"deepspeech.{module}")
    for each in classes:
        owner = getattr(owner, each)
    return owner, attribute
