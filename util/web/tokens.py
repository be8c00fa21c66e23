"""Secrets that clients show a server, and the addresses that need none."""

import hmac
import ipaddress
import os
import socket
from pathlib import Path

from ..errors import DeepSpeechError

SHORTEST_TOKEN = 16
"""Characters that a secret must have at least."""


def read_token(variable: str, flag: str, file: Path | None, error: type[DeepSpeechError]) -> str | None:
    """Return the secret of a file, or else of an environment variable; None without either.

    Space around it, as the end of a line, is not a part of it: no header could carry that.

    Raise `error`, naming the `flag` that names the file, or the variable, if it cannot be read or used.
    """
    token = os.environ.get(variable)
    where = variable
    if file is not None:
        where = f"--{flag}={file}"
        try:
            token = file.read_text(encoding="utf-8")
        except OSError as failure:
            raise error(f"{where}: cannot be read ({failure.strerror})") from failure
        except UnicodeDecodeError as failure:
            raise error(f"{where}: the secret must be one line of ASCII characters") from failure
    token = None if token is None else token.strip()
    if token is not None and not (len(token) >= SHORTEST_TOKEN and token.isascii() and token.isprintable()):
        raise error(f"{where}: the secret must be one line of {SHORTEST_TOKEN} or more ASCII characters")
    return token


def is_token(given: str, token: str) -> bool:
    """Return whether a client gave the secret, in a time that tells nothing about it."""
    return hmac.compare_digest(given.encode("utf-8", "surrogateescape"), token.encode())


def bearer_token(authorization: str) -> str:
    """Return the secret of a header `Authorization: Bearer SECRET`, whose scheme has no case; else an empty text."""
    scheme, _, given = authorization.partition(" ")
    return given if scheme.lower() == "bearer" else ""


def is_reached_from_beyond(flag: str, host: str, error: type[DeepSpeechError]) -> bool:
    """Return whether other machines reach a server that listens at a host, which a flag gives.

    Raise `error`, naming the `flag`, for a name that is unknown.
    """
    try:
        return not is_loopback(host)
    except OSError as failure:
        raise error(f"--{flag}={host}: no such host ({failure.strerror})") from failure


def is_loopback(host: str) -> bool:
    """Return whether an address, or all addresses of a name, are reached from this machine alone.

    Raise OSError for a name that is unknown, or cannot be one.
    """
    try:
        found = {str(entry[4][0]) for entry in socket.getaddrinfo(host, None)}
    except UnicodeError as error:  # a part of the name is empty or too long
        raise socket.gaierror(socket.EAI_NONAME, "no name is like this") from error
    return all(ipaddress.ip_address(address.partition("%")[0]).is_loopback for address in found)
