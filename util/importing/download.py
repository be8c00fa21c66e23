"""Download one file over HTTP: with a progress bar, from where it last broke off, and checked when it is whole."""

import hashlib
import http.client
import urllib.error
import urllib.request
from pathlib import Path
from urllib.parse import urlsplit

from ..errors import ImportingError
from ..progress import Progress, Report

BLOCK = 1 << 16  # bytes read at a time
TIMEOUT = 60  # seconds without a byte
ATTEMPTS = 5  # connections that may break off before we give up


def download(url: str, path: Path, sha256: str, report: Report) -> None:
    """Download `url` to `path`. What has arrived is kept in `path`.part, so that a later call can carry on from there.

    Raise ImportingError if the file cannot be had, or is not the one with this SHA-256 (in hexadecimal digits).
    """
    if urlsplit(url).scheme not in ("http", "https"):
        raise ImportingError(f"cannot download {url}: only http and https addresses can be downloaded")
    part = path.with_name(f"{path.name}.part")
    path.parent.mkdir(parents=True, exist_ok=True)
    report(f"downloading {url}")
    for attempt in range(1, ATTEMPTS + 1):
        try:
            _fetch(url, part)
            break
        except (OSError, http.client.HTTPException) as error:
            if attempt == ATTEMPTS or isinstance(error, urllib.error.HTTPError):
                reason = str(error).strip("<>")
                raise ImportingError(
                    f"cannot download {url}: {reason}; run again to carry on, or use --from"
                ) from error
    _verify(url, part, sha256)
    part.replace(path)


def _fetch(url: str, part: Path) -> None:
    """Fetch the rest of `url` into `part`. Raise ConnectionError if the connection ends before the file does."""
    have = part.stat().st_size if part.exists() else 0
    request = urllib.request.Request(url, headers={"Range": f"bytes={have}-"} if have else {})  # noqa: S310 (checked)
    try:
        response = urllib.request.urlopen(request, timeout=TIMEOUT)  # noqa: S310 (checked by the caller)
    except urllib.error.HTTPError as error:
        if error.code != http.HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE:
            raise
        return  # there is nothing after what we have; the checksum says whether it is right
    with response:
        if response.status != http.HTTPStatus.PARTIAL_CONTENT:
            have = 0  # the server sends the whole file, whatever we asked for
        length = response.headers.get("Content-Length")
        total = have + int(length) if length and length.isdigit() else None
        with (
            part.open("ab" if have else "wb") as file,
            Progress(part.stem, total, unit="bytes", before=have) as progress,
        ):
            while block := response.read(BLOCK):
                file.write(block)
                progress.advance(len(block))
    arrived = part.stat().st_size
    if total is not None and arrived < total:
        raise ConnectionError(f"the connection broke after {arrived} of {total} bytes")


def _verify(url: str, part: Path, sha256: str) -> None:
    digest = hashlib.sha256()
    with part.open("rb") as file:
        while block := file.read(BLOCK):
            digest.update(block)
    if digest.hexdigest() != sha256.lower():
        part.unlink()
        raise ImportingError(
            f"{url} is not the expected file: its SHA-256 is {digest.hexdigest()}, not {sha256}; it was deleted: "
            "run again, or give the SHA-256 you trust with --sha256"
        )
