"""Addresses of files and folders in place of paths, as in `--train_files s3://bucket/train.csv`.

A `Path` merges two slashes in a row: `Path("s3://bucket/x")` is `s3:/bucket/x`. `address_of` restores the address.
"""

from __future__ import annotations

import hashlib
import re
from os import PathLike, fspath
from urllib.parse import unquote, urlsplit

SCHEMES = ("s3", "gs", "hf", "http", "https")
READ_ONLY = ("http", "https")

_ADDRESS = re.compile(r"([a-z][a-z0-9+.-]*):/+(.+)", re.DOTALL | re.IGNORECASE)
_EMPTY = frozenset(f"{scheme}:" for scheme in SCHEMES)
_FILE = "file"

_USER = re.compile(r"(https?://)([^/?#]*)@")
_users: dict[str, str] = {}
"""The names and passwords that this process has left out, by their servers."""

_QUERY = re.compile(r"(https?://[^?]+/[^?/]+)(\.[^?/.]+)\?(.+)", re.DOTALL)
_SHORT = re.compile(r"(https?://[^?]+)\?([0-9a-f]{32})(\.[^?/.]+)", re.DOTALL)
_queries: dict[str, str] = {}
"""The queries that this process has shortened, by their short forms."""


def address_of(path: str | PathLike[str]) -> str | None:
    """Return the address that a path or text is, with any scheme except `file`; None for a path on this machine.

    The scheme may be in upper case. One of SCHEMES with nothing after it, such as `s3://$BUCKET` with an unset
    variable, is also an address, but it names nothing.
    """
    if fspath(path).rstrip("/").lower() in _EMPTY:
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
    """Return the path that a `file:` address names, and any other text unchanged."""
    return unquote(urlsplit(text).path) if text.lower().startswith(f"{_FILE}:/") else text


def without_user(address: str) -> str:
    """Return an address without the name and the password that it may give to a web server, for people to read."""
    return _USER.sub(r"\1", address)


def without_access(address: str) -> str:
    """Return the form of an address for the path of a copy: without what gives access, which can be secret.

    The name and the password for a web server are left out. A query, such as a signature, is shortened, and put before
    the ending, so that it fits into a name, and the ending still shows the kind of file.
    """
    if (user := _USER.match(address)) is not None:
        address = without_user(address)
        _users[_server_of(address)] = user[2]
    if (match := _QUERY.fullmatch(address)) is None:
        return address
    short = hashlib.sha256(match[3].encode("utf-8", "surrogateescape")).hexdigest()[:32]
    _queries[short] = match[3]
    return f"{match[1]}?{short}{match[2]}"


def with_access(address: str) -> str:
    """Return the address that `without_access` was given in this process; a server's newest name and password count."""
    match = _SHORT.fullmatch(address)
    if match and match[2] in _queries:
        address = f"{match[1]}{match[3]}?{_queries[match[2]]}"
    if (user := _users.get(_server_of(address))) is not None:
        address = address.replace("://", f"://{user}@", 1)
    return address


def _server_of(address: str) -> str:
    """Return the beginning of an address up to its path."""
    return "/".join(address.split("/", 3)[:3])
