"""Runs the scripts of `bin/` as their users do, in a process of their own; terminals to read, and full disks."""

import os
import resource
import subprocess
import sys
import wave
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
LM_TOOLS = Path(os.environ.get("LM_TOOLS", ROOT / "build/lm-tools")) / "bin"

needs_lm_tools = pytest.mark.skipif(
    not (LM_TOOLS / "lmplz").exists(), reason=f"{LM_TOOLS / 'lmplz'} is not built; `make lm-tools` does that"
)


def run_script(name: str, *arguments: object) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, str(ROOT / "bin" / name), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=600)


def assert_fails_with(done: "subprocess.CompletedProcess[str]", *fragments: str) -> None:
    """Assert exit code 1 and that the last line on stderr is an error with all the fragments, and no traceback."""
    assert done.returncode == 1, done.stderr
    assert "Traceback" not in done.stderr
    last = done.stderr.strip().splitlines()[-1]
    assert ": error: " in last
    for fragment in fragments:
        assert fragment in last


def all_shown(terminal: int) -> str:
    """Return what was written on a terminal that nobody else has open any more, and close it.

    One read may end before what was written last: the kernel passes it on piece by piece, when it has the time.
    """
    shown = b""
    with suppress(OSError):  # EIO, once all of it was read
        while piece := os.read(terminal, 1 << 16):
            shown += piece
    os.close(terminal)
    return shown.decode()


@contextmanager
def files_no_larger_than(size: int) -> Iterator[None]:
    """Have the kernel refuse, within the block, to write more into a file, as it does when a disk is full."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


def write_wav(path: Path, samples: int = 800, rate: int = 8000) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with wave.open(str(path), "wb") as file:
        file.setparams((1, 2, rate, 0, "NONE", ""))
        file.writeframes(bytes(range(100)) * (samples * 2 // 100))
    return path
