"""The file systems of the object stores, by the scheme of an address, with their options and packages."""

from __future__ import annotations

import logging
from functools import cache
from importlib import import_module
from typing import Any

from ..errors import StorageError
from ..web.libraries import needs
from .addresses import READ_ONLY, SCHEMES, scheme_of

PACKAGES = {"s3": "s3fs", "gs": "gcsfs", "hf": "huggingface_hub", "http": "aiohttp", "https": "aiohttp"}
"""The packages of the extra `remote` that fsspec needs for each scheme."""

_NETWORK_SECONDS = 30
_S3_OPTIONS = {
    "connect_timeout": 10,
    "read_timeout": _NETWORK_SECONDS,
    "retries": {"total_max_attempts": 1},  # `retried` does that
}


def check_available(address: str) -> None:
    """Raise StorageError, in one line, for a scheme that is not known or needs a package that is missing."""
    _kind(scheme_of(address))


@cache
def file_system(scheme: str) -> Any:
    """Return fsspec's file system of a scheme, or one with those of its methods that are used here.

    Raise StorageError as `check_available` does.
    """
    files = _kind(scheme)
    if scheme == "hf":
        from .hub import HubFiles

        return HubFiles()
    options: dict[str, Any] = {"use_listings_cache": False}
    if scheme in READ_ONLY:
        from aiohttp import ClientTimeout

        logging.getLogger("aiohttp.client").setLevel(logging.ERROR)  # it warns at each request of a wrong ~/.netrc
        options["client_kwargs"] = {
            # Limits for silence only: a large file may take any time.
            "timeout": ClientTimeout(total=None, sock_connect=_NETWORK_SECONDS, sock_read=_NETWORK_SECONDS),
            "trust_env": True,  # for proxies, and for the passwords in ~/.netrc
        }
    if scheme == "s3":
        options["config_kwargs"] = _S3_OPTIONS
    if scheme == "gs":
        logging.getLogger("gcsfs").setLevel(logging.CRITICAL)  # it logs tracebacks of errors that `retried` reports
    return files(**options)


def forget(scheme: str) -> None:
    """Discard the file system of a scheme, so that the next use reads the credentials again."""
    _kind(scheme).clear_instance_cache()
    file_system.cache_clear()


def _kind(scheme: str) -> Any:
    """Return the class of fsspec's file systems for a scheme."""
    if scheme not in SCHEMES:
        raise StorageError(f"{scheme}: an address begins with {', '.join(f'{each}://' for each in SCHEMES)} or file:")
    try:
        if scheme == "gs":
            # fsspec's choice asks for the type of the bucket over gRPC before each transfer, and waits for a minute
            # where a network, or a store other than Google's, lets only HTTP through.
            return import_module("gcsfs.core").GCSFileSystem
        return import_module("fsspec").get_filesystem_class(scheme)
    except ImportError as error:
        raise StorageError(needs(f"{scheme}://", [PACKAGES[scheme]], "remote")) from error
