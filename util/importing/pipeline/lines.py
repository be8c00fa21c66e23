"""Text files of a corpus, line by line: UTF-8, or UTF-16 with a byte order mark; lines may end in LF or CRLF."""

from __future__ import annotations

import codecs
from collections.abc import Iterator, Mapping
from pathlib import Path

from ...errors import ImportingError

_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def read_lines(path: Path) -> Iterator[tuple[str, str]]:
    """Yield each line that is not blank, after where it stands, as in "validated.tsv:12". Raise ImportingError."""
    number = 0
    try:
        for number, line in enumerate(_decoded_lines(path), start=1):
            text = line.rstrip("\r\n")
            if text.strip():
                yield f"{path.name}:{number}", text
    except FileNotFoundError as error:
        raise ImportingError(f"there is no file {path}") from error
    except UnicodeDecodeError as error:
        raise ImportingError(f"{path}:{number + 1}: not UTF-8; save it as UTF-8") from error


def read_text(path: Path) -> str:
    """Return what a small text file says; raise UnicodeDecodeError if it is not UTF-8, or OSError."""
    data = path.read_bytes()
    return data.decode("utf-16" if data.startswith(_UTF_16) else "utf-8-sig").replace("\r\n", "\n")


def read_table(path: Path, required: tuple[str, ...]) -> Iterator[tuple[str, Mapping[str, str]]]:
    """Yield the rows of a table whose columns are separated by tabs, by the names in its first line.

    Quotes stand for themselves. Fields that a row lacks are empty. Raise ImportingError.
    """
    lines = read_lines(path)
    header = next(lines, ("", ""))[1].split("\t")
    for name in required:
        if name not in header:
            raise ImportingError(f"{path}:1: no column {name}; found: {', '.join(filter(None, header)) or 'none'}")
    for source, line in lines:
        fields = line.split("\t")
        yield source, dict(zip(header, fields + [""] * (len(header) - len(fields)), strict=False))


def _decoded_lines(path: Path) -> Iterator[str]:
    with path.open("rb") as file:
        if file.read(2) in _UTF_16:
            yield from read_text(path).split("\n")
            return
        file.seek(0)
        encoding = "utf-8-sig"
        for line in file:
            yield line.decode(encoding)
            encoding = "utf-8"
