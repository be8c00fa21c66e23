"""The addresses of files that flags name, such as s3://bucket/corpus/train.csv."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ...errors import FlagError
from ...options import items_of
from ...util.storage.addresses import address_of, without_user

SET_FLAGS = ("train_files", "dev_files", "test_files")
"""Flags of lists, which are fetched when they are read."""


def addresses_in(options: Any) -> Iterator[tuple[str, str]]:
    """Yield the name of each flag that names an address, and the address; `options` are any dataclass of flags."""
    for row, value in items_of(options):
        for each in value if isinstance(value, tuple) else (value,):
            if isinstance(each, Path) and (address := address_of(each)) is not None:
                yield row.name, address


def check_on_this_machine(flag: str, path: Path | None, remark: str = "") -> None:
    """Raise FlagError, which ends with the remark, for an address where a flag needs a path of this machine."""
    if path is not None and (address := address_of(path)) is not None:
        raise FlagError(f"--{flag}={without_user(address)}: must be on this machine{remark}")
