"""Writing files so that under their names there is all of them or what was there before."""

import os
from pathlib import Path


def write_whole(path: Path, data: bytes) -> None:
    """Write a file beside its place and rename it there; nothing is left of it if that fails. Raises OSError."""
    beside = path.with_name(f".{path.name}.part-{os.getpid()}")
    try:
        with beside.open("wb") as out:
            out.write(data)
            out.flush()
            os.fsync(out.fileno())
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)
