"""What every object store must do with files of some sizes."""

from __future__ import annotations

import os
from pathlib import Path

from deepspeech.util.storage.store import BLOCK, Store

SIZES = (0, 300_000, BLOCK + (1 << 20))
"""Bytes; the last is fetched in two blocks."""


def check_round_trips(address: str, folder: Path) -> None:
    """Send files below an address, fetch, list and remove them, with the files here in a folder."""
    here, there = folder / "here", folder / "there"
    for size in SIZES:
        here.write_bytes(os.urandom(size))
        sent = Store(60).send(here, f"{address}/{size}.bin")
        assert Store(60).fetch(f"{address}/{size}.bin", there) == sent
        assert there.read_bytes() == here.read_bytes() and sent.size == size
    assert set(Store(60).list(address)) == {f"{size}.bin" for size in SIZES}
    for size in SIZES:
        Store(60).remove(f"{address}/{size}.bin")
    assert not Store(60).list(address)
