"""How many connections a server may have at once: without files left to open, libraries such as TensorFlow end it."""

import resource
from dataclasses import dataclass

FILES_RESERVED = 128
"""Files that the process may open besides connections: models, corpora, checkpoints, connections of its own."""

FILES_WANTED = 1 << 16
"""Files that the process is allowed to open, where the system lets it."""


@dataclass(frozen=True)
class ConnectionLimits:
    """How many connections there may be at once: in all, and from one address, so that others can still connect."""

    in_all: int
    by_address: int

    @staticmethod
    def of(files: int) -> "ConnectionLimits":
        """Return the limits of a process that may open a number of files."""
        in_all = max(files - FILES_RESERVED, files // 2)
        return ConnectionLimits(in_all, max(in_all * 3 // 4, 1))


def allow_more_files() -> ConnectionLimits:
    """Let this process open as many files as the system allows, FILES_WANTED at most; return what that suffices for."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft not in (hard, resource.RLIM_INFINITY) and soft < FILES_WANTED:
        soft = FILES_WANTED if hard == resource.RLIM_INFINITY else min(hard, FILES_WANTED)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    return ConnectionLimits.of(FILES_WANTED if soft == resource.RLIM_INFINITY else soft)
