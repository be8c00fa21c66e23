"""Secrets that clients send to a server, and the addresses that need none."""

import hmac
import ipaddress
import os
import socket
from pathlib import Path

from ..errors import DeepSpeechError

SHORTEST_TOKEN = 16
"""The least characters of a secret."""


def read_token(variable: str, flag: str, file: Path | None, error: type[DeepSpeechError]) -> str | None:
    """Return the secret in a file, or else in an environment variable; None if neither is given.

    White space around it, such as a line end, is removed: no header could carry it.

    Raise `error`, naming the `flag` of the file, or the variable, if the secret cannot be read or used.
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
    """Return whether a client sent the secret; the comparison takes constant time."""
    return hmac.compare_digest(given.encode("utf-8", "surrogateescape"), token.encode())


def bearer_token(authorization: str) -> str:
    """Return the secret of a header `Authorization: Bearer SECRET`, in any case of the scheme; else an empty text."""
    scheme, _, given = authorization.partition(" ")
    return given if scheme.lower() == "bearer" else ""


def is_reached_from_beyond(flag: str, host: str, error: type[DeepSpeechError]) -> bool:
    """Return whether other machines can reach a server that listens at the host of a flag.

    Raise `error`, naming the `flag`, for an unknown name.
    """
    try:
        return not is_loopback(host)
    except OSError as failure:
        raise error(f"--{flag}={host}: no such host ({failure.strerror})") from failure


def is_loopback(host: str) -> bool:
    """Return whether an address, or all addresses of a name, can be reached only from this machine.

    Raise OSError for an unknown or invalid name.
    """
    try:
        found = {str(entry[4][0]) for entry in socket.getaddrinfo(host, None)}
    except UnicodeError as error:  # a part of the name is empty or too long
        raise socket.gaierror(socket.EAI_NONAME, "no name is like this") from error
    return all(ipaddress.ip_address(address.partition("%")[0]).is_loopback for address in found)
