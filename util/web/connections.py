"""The limits of a server's connections: without free file descriptors, libraries such as TensorFlow end the process."""

import resource
from dataclasses import dataclass

FILES_RESERVED = 128
"""Files that the process may open besides clients' connections: models, corpora, checkpoints, its own connections."""

FILES_WANTED = 1 << 16
"""The limit of open files for the process, if the system allows it."""


@dataclass(frozen=True)
class ConnectionLimits:
    """The most simultaneous connections: in total, and from one address, so that others can still connect."""

    in_all: int
    by_address: int

    @staticmethod
    def of(files: int) -> "ConnectionLimits":
        """Return the limits for a process that may open this number of files."""
        in_all = max(files - FILES_RESERVED, files // 2)
        return ConnectionLimits(in_all, max(in_all * 3 // 4, 1))


def allow_more_files() -> ConnectionLimits:
    """Raise the limit of open files as far as the system allows, to at most FILES_WANTED; return the new limits."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft not in (hard, resource.RLIM_INFINITY) and soft < FILES_WANTED:
        soft = FILES_WANTED if hard == resource.RLIM_INFINITY else min(hard, FILES_WANTED)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    return ConnectionLimits.of(FILES_WANTED if soft == resource.RLIM_INFINITY else soft)
