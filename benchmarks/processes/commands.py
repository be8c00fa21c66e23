"""Commands whose output is shown only if they fail. Needs no package."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from os import PathLike

SHOWN_CHARACTERS = 2000
"""The part that is shown of the output of a command that fails."""


def run_quietly(command: Sequence[str | PathLike[str]]) -> str:
    """Run a command, and return its output; if it fails, end with the last part of that."""
    named = " ".join(map(str, command))
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    except OSError as error:
        raise SystemExit(f"{named}: {error.strerror}") from error
    if done.returncode:
        raise SystemExit(f"{named}:\n{done.stdout[-SHOWN_CHARACTERS:].rstrip()}")
    return done.stdout
