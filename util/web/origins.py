"""The requests that a server without a secret accepts: from programs on this machine, and from its own pages.

A browser sends requests to this machine for any page that it shows. The header Origin reveals requests of other pages;
the header Host reveals a page whose name was made to point here (DNS rebinding).
"""

import ipaddress
from collections.abc import Collection
from urllib.parse import urlsplit


def is_of_this_machine(host: str | None, names: Collection[str] = ()) -> bool:
    """Return whether a request's header Host names this machine, by a loopback address, localhost or one of `names`."""
    name = host_name(host or "")
    if name is None:
        return False
    if name == "localhost" or name.endswith(".localhost") or name in {each.lower() for each in names}:
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def is_same_origin(origin: str | None, host: str | None) -> bool:
    """Return whether a request comes from no page (it has no header Origin), or from a page of the requested host."""
    if origin is None:
        return True
    try:
        parts = urlsplit(origin)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(host) and parts.netloc.lower() == (host or "").lower()


def host_name(host: str) -> str | None:
    """Return the name in a header Host, in small letters, without its port and brackets; None if it has none."""
    try:
        return urlsplit(f"//{host}").hostname
    except ValueError:
        return None
