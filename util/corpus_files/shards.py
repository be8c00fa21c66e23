"""Tar shards in WebDataset's layout, named one by one or as `shard-{000..127}.tar`; see `deepspeech.util.shards`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from ..errors import BadRow, CorpusError
from ..shards.index import COLUMNS, TRANSCRIPT, read_index
from ..shards.members import SUFFIX, is_shard
from ..storage.copies import named_for_all
from ..transcripts import Normalizer
from .rows import Row, new_row

__all__ = ["SUFFIX", "expanded", "further_columns", "is_shard", "read_rows"]

_RANGE = re.compile(r"\{(\d+)\.\.(\d+)\}")
_COMPRESSED = re.compile(r"\.(tar\.(gz|bz2|xz|zst)|tgz|tbz2?|txz)$", re.IGNORECASE)
_MOST_SHARDS = 1_000_000
_READ = {TRANSCRIPT, COLUMNS, "text", "transcript"}


def expanded(path: Path) -> list[Path]:
    """Expand the ranges of numbers in a name of shards: `{000..127}` is 000, 001 and so on to 127.

    Any other path is returned unchanged. Raise CorpusError for a range that ends before it begins, or a compressed
    shard.
    """
    named = named_for_all(path)
    if _COMPRESSED.search(path.name):
        raise CorpusError(f"{named}: shards must be tar files without compression; decompress it, and give the .tar")
    match = _RANGE.search(str(path)) if is_shard(path) else None
    if match is None:
        return [path]
    first, last, width = int(match[1]), int(match[2]), len(match[1])
    if not first <= last < first + _MOST_SHARDS:
        raise CorpusError(f"{named}: the range {match[0]} ends before it begins, or has over {_MOST_SHARDS} numbers")
    before, after = str(path)[: match.start()], str(path)[match.end() :]
    return [each for number in range(first, last + 1) for each in expanded(Path(f"{before}{number:0{width}}{after}"))]


def read_rows(path: Path, normalizer: Normalizer | None) -> Iterator[Row | BadRow]:
    """Yield the utterances of a shard, numbered from 1. Raise CorpusError, or StorageError."""
    for line, entry in enumerate(read_index(path), start=1):
        recording = f"{path}/{entry.recording}"
        if entry.problem:
            yield Row(str(path), line, recording, "").bad(f"{recording}: {entry.problem}")
        else:
            row = new_row(str(path), line, recording, entry.transcript, normalizer)
            yield row._replace(audio=entry.audio)


def further_columns(path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield the number of each utterance of a shard, and the values of its JSON other than the transcript."""
    for line, entry in enumerate(read_index(path), start=1):
        yield line, {name: value for name, value in entry.columns.items() if name not in _READ}
