"""Addresses of files and folders: what `--train_files s3://bucket/train.csv` names in place of a path.

A `Path` keeps one of two slashes in a row, so that `Path("s3://bucket/x")` is `s3:/bucket/x`, of which `address_of`
makes the address again.
"""

from __future__ import annotations

import hashlib
import re
from os import PathLike, fspath
from urllib.parse import unquote, urlsplit

SCHEMES = ("s3", "gs", "hf", "http", "https")
READ_ONLY = ("http", "https")

_ADDRESS = re.compile(r"([a-z][a-z0-9+.-]*):/+(.+)", re.DOTALL | re.IGNORECASE)
_FILE = "file"

_QUERY = re.compile(r"(https?://[^?]+/[^?/]+)(\.[^?/.]+)\?(.+)", re.DOTALL)
_SHORT = re.compile(r"(https?://[^?]+)\?([0-9a-f]{32})(\.[^?/.]+)", re.DOTALL)
_queries: dict[str, str] = {}
"""The queries that this process has shortened, by what stands for each."""


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


def with_short_query(address: str) -> str:
    """Return an address as the path of a copy has it: a query, as a signature, is short, and before the name's ending.

    So it fits into a name, which tells by its ending what the file is.
    """
    if (match := _QUERY.fullmatch(address)) is None:
        return address
    short = hashlib.sha256(match[3].encode("utf-8", "surrogateescape")).hexdigest()[:32]
    _queries[short] = match[3]
    return f"{match[1]}?{short}{match[2]}"


def with_own_query(address: str) -> str:
    """Return the address that `with_short_query` was given in this process."""
    match = _SHORT.fullmatch(address)
    return f"{match[1]}{match[3]}?{_queries[match[2]]}" if match and match[2] in _queries else address
