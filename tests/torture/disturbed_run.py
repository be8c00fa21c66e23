"""One start of the program that a signal ends in a chosen phase."""

from __future__ import annotations

import os
import select
import signal
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fork_server import ForkedProcess, StartRequest, fork_server
from phases import PHASES_PIPE

SECONDS_TO_END = 120.0
"""Seconds within which a start ends, on a busy machine."""


@dataclass(frozen=True)
class Moment:
    """When to send which signal: seconds after a phase was entered for the n-th time, n counted from 0."""

    signal: signal.Signals
    phase: str
    occurrence: int
    delay: float

    def __str__(self) -> str:
        return f"{self.signal.name} {self.delay * 1000:.0f} ms after the beginning of {self.phase} {self.occurrence}"


@dataclass(frozen=True)
class Ended:
    """What a start left: its exit code, its log, the phase that the signal hit (empty if none was sent), all phases."""

    code: int
    log: str
    hit: str
    phases: Sequence[tuple[float, str]]


def run_until(moment: Moment | None, arguments: Sequence[str], folder: Path, name: str) -> Ended:
    """Run the program until it ends by itself or `moment` comes; its log and pipe in `folder` are called `name`."""
    log, pipe = folder / f"{name}.log", folder / f"{name}.pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    request = StartRequest(
        arguments, str(folder), {PHASES_PIPE: str(pipe)}, str(log), before="torture.phases:announce_phases"
    )
    process = fork_server().start(request)
    try:
        watch = _Watch(process, reader)
        sent = None
        if moment is not None and watch.wait_for(moment.phase, moment.occurrence):
            time.sleep(moment.delay)
            sent = time.monotonic()
            process.send_signal(moment.signal)
        watch.read_to_the_end()
        code = process.wait(SECONDS_TO_END)
        hit = [phase for seconds, phase in watch.phases if sent is not None and seconds <= sent]
        return Ended(code, log.read_text(errors="replace"), hit[-1] if hit else "", tuple(watch.phases))
    finally:
        process.kill()
        os.close(reader)
        pipe.unlink()


class _Watch:
    """Reads the phases that a process announces."""

    def __init__(self, process: ForkedProcess, reader: int) -> None:
        self.phases: list[tuple[float, str]] = []
        self._process = process
        self._reader = reader
        self._rest = b""
        self._deadline = time.monotonic() + SECONDS_TO_END

    def wait_for(self, phase: str, occurrence: int) -> bool:
        """Return whether the process has entered a phase for the n-th time, n counted from 0, before it ended."""
        while sum(name == phase for _, name in self.phases) <= occurrence:
            if not self._read():
                return False
        return True

    def read_to_the_end(self) -> None:
        while self._read():
            pass

    def _read(self) -> bool:
        """Wait for announcements; return whether there may be more."""
        assert time.monotonic() < self._deadline, "the program does not end"
        select.select([self._reader], [], [], 1)
        try:
            read = os.read(self._reader, 1 << 16)
        except BlockingIOError:
            return True
        if not read:  # no process has the pipe open: not yet, or no more
            if self.phases or self._process.poll() is not None:
                return False
            time.sleep(0.001)
        *lines, self._rest = (self._rest + read).split(b"\n")
        for line in lines:
            seconds, _, phase = line.decode().partition(" ")
            self.phases.append((float(seconds), phase))
        return True
