"""Addresses of files and folders: what `--train_files s3://bucket/train.csv` names in place of a path.

A `Path` keeps one of two slashes in a row, so that `Path("s3://bucket/x")` is `s3:/bucket/x`, of which `address_of`
makes the address again.
"""

from __future__ import annotations

import re
from os import PathLike, fspath
from urllib.parse import unquote, urlsplit

SCHEMES = ("s3", "gs", "hf", "http", "https")
READ_ONLY = ("http", "https")

_ADDRESS = re.compile(r"([a-z][a-z0-9+.-]*):/+(.+)", re.DOTALL | re.IGNORECASE)
_FILE = "file"


def address_of(path: str | PathLike[str]) -> str | None:
    """Return the address that a path or a text is, of any scheme but `file`; None if it is a path of this machine.

    A scheme may be written in capital letters. One of SCHEMES with nothing behind it, as `s3://$BUCKET` is where the
    variable is not set, is an address, too, and one that names nothing.
    """
    if fspath(path).rstrip("/").lower() in {f"{scheme}:" for scheme in SCHEMES}:
        return f"{scheme_of(fspath(path).lower())}://"
    match = _ADDRESS.fullmatch(fspath(path))
    scheme = "" if match is None else match[1].lower()
    if match is None or len(scheme) == 1 or scheme == _FILE:
        return None
    return f"{scheme}://{match[2]}"


def scheme_of(address: str) -> str:
    """Return the scheme of an address, such as "s3"."""
    return address.partition(":")[0]


def without_file_scheme(text: str) -> str:
    """Return the path that a `file:` address names, and any other text as it is."""
    return unquote(urlsplit(text).path) if text.lower().startswith(f"{_FILE}:/") else text
