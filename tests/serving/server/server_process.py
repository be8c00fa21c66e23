"""The command `deepspeech-server` as a process of its own."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from serving_in_thread import PATIENCE

ROOT = Path(__file__).parents[3]


@contextmanager
def running(*flags: object, log: Path, before: str = "") -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    """Run the command within the context; yield its process, and the address that it prints."""
    with started(*flags, log=log, before=before) as process:
        yield process, waited_for(log, r"at (https?://\S+)/")


@contextmanager
def started(*flags: object, log: Path, before: str = "") -> Iterator[subprocess.Popen[bytes]]:
    """Start the command, after other statements if they are given; stop it at the end of the context."""
    program = f"{before}\nimport sys; from deepspeech.commands import server; sys.exit(server())"
    command = [sys.executable, "-c", program]
    with log.open("wb") as file:
        process = subprocess.Popen([*command, "--port=0", *map(str, flags)], stderr=file, cwd=ROOT)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def waited_for(log: Path, pattern: str) -> str:
    """Wait for a line of the log, and return its content."""
    deadline = time.monotonic() + PATIENCE
    while (found := re.search(pattern, log.read_text())) is None:
        assert time.monotonic() < deadline, log.read_text()
        time.sleep(0.02)
    return found.group(1)
