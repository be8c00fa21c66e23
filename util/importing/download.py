"""Downloads one file over HTTP: with a progress bar, continuing after interruptions, and verified at the end.

The proxies of the environment are used: `http_proxy`, `https_proxy`, `no_proxy`.
"""

import hashlib
import http.client
import shutil
import urllib.error
import urllib.request
from dataclasses import dataclass
from io import RawIOBase
from pathlib import Path
from urllib.parse import urlsplit

from ..errors import ImportingError
from ..progress import Progress, Report

BLOCK = 1 << 16  # bytes read at a time
TIMEOUT = 60  # seconds without a byte
ATTEMPTS = 5  # connections in a row without any data before we give up

_FAILURES = (OSError, http.client.HTTPException)


@dataclass(frozen=True)
class RemoteFile:
    """A file on the web, and the known checksums and size of its content."""

    url: str
    sha256: str = ""
    """In hexadecimal digits, like `md5`; empty if unknown."""
    md5: str = ""
    """Used only if there is no `sha256`: it detects accidental damage, but not a forged file."""
    size: int | None = None
    """In bytes; None if unknown."""


def download(file: RemoteFile, path: Path, report: Report) -> None:
    """Download a file to `path`. Received data is kept in `path`.part, so that a later call can continue.

    If no checksum is known, the size is compared, and the SHA-256 is reported. Raise ImportingError if the file cannot
    be downloaded, does not fit on the disk, or is not the expected one.
    """
    url = file.url
    if urlsplit(url).scheme not in ("http", "https"):
        raise ImportingError(f"cannot download {url}: only http and https addresses can be downloaded")
    part = path.with_name(f"{path.name}.part")
    path.parent.mkdir(parents=True, exist_ok=True)
    report(f"downloading {url}" + (f" ({in_words(file.size)})" if file.size else ""))
    failures = 0
    while failures < ATTEMPTS:
        have = _size(part)
        try:
            _fetch(file, part)
            break
        except urllib.error.HTTPError as error:
            raise ImportingError(
                f"cannot download {url}: {error}; use --from, or name another address with --url"
            ) from error
        except _FAILURES as error:
            failures = failures + 1 if _size(part) <= have else 1
            if failures == ATTEMPTS:
                reason = str(error).strip("<>")
                raise ImportingError(
                    f"cannot download {url}: {reason}; run again to continue, or use --from"
                ) from error
    _verify(file, part, report)
    part.replace(path)


def in_words(size: int) -> str:
    """Return a size in bytes as "6.4 GB" or "333 MB"."""
    return f"{size / 1e9:.1f} GB" if size >= 1e9 else f"{max(size / 1e6, 0.1):.{0 if size >= 1e7 else 1}f} MB"


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _fetch(file: RemoteFile, part: Path) -> None:
    """Fetch the rest of a file into `part`. Raise ConnectionError if the connection ends before the file does."""
    have = _size(part)
    request = urllib.request.Request(file.url, headers={"Range": f"bytes={have}-"} if have else {})  # noqa: S310 (checked)
    opener = urllib.request.build_opener()  # it reads the environment's proxies
    try:
        response = opener.open(request, timeout=TIMEOUT)
    except urllib.error.HTTPError as error:
        if error.code != http.HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE:
            raise
        return  # there is nothing after the received data; the checksum decides whether it is right
    with response:
        if response.status != http.HTTPStatus.PARTIAL_CONTENT:
            have = 0  # the server ignores the range, and sends the whole file
        length = response.headers.get("Content-Length")
        total = have + int(length) if length and length.isdigit() else None
        _check_space(part, (total or file.size or 0) - have)
        with (
            part.open("ab" if have else "wb", buffering=0) as written,
            Progress(part.stem, total or file.size, unit="byte", before=have) as progress,
        ):
            while block := response.read(BLOCK):
                _write(written, block, part)
                progress.advance(len(block))
    arrived = _size(part)
    if total is not None and arrived < total:
        raise ConnectionError(f"the connection broke after {arrived} of {total} bytes")


def _check_space(part: Path, needed: int) -> None:
    free = shutil.disk_usage(part.parent).free
    if needed > free:
        raise ImportingError(
            f"{part.parent} has {in_words(free)} free, and {in_words(needed)} are still to be downloaded; "
            "make room, or name a folder on another disk"
        )


def _write(written: RawIOBase, block: bytes, part: Path) -> None:
    rest = memoryview(block)
    try:
        while rest:
            rest = rest[written.write(rest) :]
    except OSError as error:
        raise ImportingError(
            f"{part} cannot be written: {error.strerror}; what has arrived is kept: make room and run again"
        ) from error


def _verify(file: RemoteFile, part: Path, report: Report) -> None:
    name, known = ("MD5", file.md5) if file.md5 and not file.sha256 else ("SHA-256", file.sha256)
    digest = hashlib.md5(usedforsecurity=False) if name == "MD5" else hashlib.sha256()
    with part.open("rb") as content:
        while block := content.read(BLOCK):
            digest.update(block)
    found = digest.hexdigest()
    size = _size(part)
    if known and found != known.lower():
        wrong = f"its {name} is {found}, not {known}"
    elif not known and file.size not in (None, size):
        wrong = f"it has {size} bytes, not {file.size}"
    else:
        if not known:
            report(f"{part.stem}: no checksum is published; its SHA-256 is {found}, its size {size} bytes")
        return
    part.unlink()
    raise ImportingError(
        f"{file.url} is not the expected file: {wrong}; it was deleted: "
        "run again, or name what you trust with --url and --sha256"
    )
