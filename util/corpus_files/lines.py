"""Reads lists of a corpus line by line: UTF-8, or UTF-16 with a byte order mark; lines may end in LF or CRLF.

A file whose name ends in .gz is decompressed.
"""

from __future__ import annotations

import codecs
import gzip
import re
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from ..errors import CorpusError
from ..files.opening import opened
from ..storage.copies import named_for_all

_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_SPREADSHEETS = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0")
"""The first bytes of files of Excel and LibreOffice."""
_RECORDINGS = (b"RIFF", b"fLaC", b"OggS", b"ID3")
"""The first bytes of WAV, FLAC, Ogg and MP3 files."""
_COMPRESSED = re.compile(rb"\x1f\x8b|\xfd7zXZ\0|\x28\xb5\x2f\xfd|BZh[1-9]1AY&SY")
"""The first bytes of files of gzip, xz, zstd and bzip2."""


def numbered_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the number, from 1, and the text of each line that is not blank. Raise CorpusError."""
    number = 0
    with _told_by_path(path):
        try:
            for number, line in enumerate(_decoded_lines(path), start=1):
                text = line.rstrip("\r\n")
                if text.strip():
                    yield number, text
        except UnicodeDecodeError as error:
            raise CorpusError(f"{path}:{number + 1}: not UTF-8; save it as UTF-8") from error


@contextmanager
def readable_text(path: Path) -> Iterator[TextIO]:
    """Yield the text of a list, open for reading with its line ends unchanged. Raise CorpusError, also in the block."""
    with _told_by_path(path):
        try:
            with path.open(encoding=encoding_of(path), newline="") as file:
                yield file
        except UnicodeDecodeError as error:
            raise CorpusError(f"{path}: not UTF-8; save it as UTF-8") from error


@contextmanager
def _told_by_path(path: Path) -> Iterator[None]:
    """Let the block raise CorpusError for a file that cannot be read."""
    try:
        yield
    except FileNotFoundError as error:
        raise CorpusError(f"there is no file {path}") from error
    except (OSError, EOFError, zlib.error) as error:
        raise CorpusError(f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}") from error


def numbered_fields(
    path: Path, *required: tuple[str, ...], if_missing: str = ""
) -> Iterator[tuple[int, Mapping[str, str], int]]:
    """Yield the rows of a tab-separated table: line, fields by column, and the number of surplus fields.

    The first line names the columns. Quotes are plain characters. Missing fields of a row are empty. The table must
    have all columns of one of the sets `required`, each of them once. Raise CorpusError, with the advice `if_missing`
    if a column is missing.
    """
    lines = numbered_lines(path)
    header = [name.strip() for name in next(lines, (0, ""))[1].split("\t")]
    found = f"found: {', '.join(filter(None, header)) or 'none'}"
    columns = next((columns for columns in required if set(columns) <= set(header)), None)
    if columns is None:
        missing = next(name for name in required[0] if name not in header)
        raise CorpusError(f"{path}:1: no column {missing}; {found}{if_missing}")
    if twice := next((name for name in columns if header.count(name) > 1), None):
        raise CorpusError(f"{path}:1: more than one column {twice}; {found}")
    for number, line in lines:
        fields = line.split("\t")
        lacking = len(header) - len(fields)
        yield number, dict(zip(header, fields + [""] * lacking, strict=False)), max(0, -lacking)


def encoding_of(path: Path) -> str:
    """Return the encoding of a list; raise CorpusError for a file that is no text, or OSError."""
    with opened(path) as file:
        start = file.read(10)
    named = named_for_all(path)
    if start.startswith(_SPREADSHEETS):
        raise CorpusError(f"{named}: a spreadsheet or an archive; save the spreadsheet as CSV, in UTF-8")
    if _COMPRESSED.match(start):
        raise CorpusError(
            f"{named}: compressed; decompress it, or, if it is a manifest of Lhotse, import its folder: "
            "python -m deepspeech.import_corpus lhotse --from FOLDER --to CORPUS"
        )
    if start.startswith(_RECORDINGS):
        raise CorpusError(f"{named}: a recording, not a list; give a CSV file with a line for each recording")
    return "utf-16" if start[:2] in _UTF_16 else "utf-8-sig"


def read_text(path: Path) -> str:
    """Return the text of a small file; raise UnicodeDecodeError if it is not UTF-8, or OSError."""
    with opened(path) as file:
        data = file.read()
    return data.decode("utf-16" if data.startswith(_UTF_16) else "utf-8-sig").replace("\r\n", "\n")


def _decoded_lines(path: Path) -> Iterator[str]:
    if path.suffix == ".gz":
        with opened(path) as file, gzip.open(file, "rt", encoding="utf-8-sig", newline="\n") as lines_of_text:
            yield from lines_of_text
        return
    encoding = encoding_of(path)
    if encoding == "utf-16":
        yield from read_text(path).split("\n")
        return
    with path.open("rb") as lines:
        for line in lines:
            yield line.decode(encoding)
            encoding = "utf-8"
