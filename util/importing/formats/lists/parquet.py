"""Parquet files with recordings and transcripts, as on the Hugging Face hub, or Arrow files, as of save_to_disk.

A column `audio`, or another of that kind, holds each recording as a file, and one of the columns of tables the
transcript. If there is none, the names of a column `label` are the transcripts. Names of files and folders are those of
the sets. The recordings are written into files in the folder of the imported corpus, once for each version of a
Parquet file. Files that begin with cache- are not read: `datasets` keeps results of computations there.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from hashlib import blake2b
from pathlib import Path, PurePath, PurePosixPath
from typing import NamedTuple

from ....containers.endings import is_recording
from ....corpus_files.json_lines import columns_of
from ....corpus_files.lookup import Lookup
from ....corpus_files.speakers import speaker_of
from ....errors import CorpusError, ImportingError
from ....files.folders import files_below
from ....files.whole_files import folder_written_whole, remove_unfinished_folders
from ....progress import Progress
from ....web.libraries import check_libraries
from ...pipeline.folders import named_as_sets, set_of_name, tests_first
from ...pipeline.records import Choices, Item, LeftOut, Record, once
from .parquet_rows import ARROW, Row, read_rows

RECORDINGS_FOLDER = "recordings"
"""The folder for the recordings in the folder of the imported corpus."""

_PARQUET = ".parquet"
_ENDINGS = (_PARQUET, ARROW)
_CACHE = "cache-"
_INDEX = ".rows.jsonl"
"""A line on the Parquet file, and a line for each of its rows."""
_LONGEST_NAME = 150
_BEGINNINGS = {b"RIFF": "wav", b"fLaC": "flac", b"OggS": "ogg", b"ID3": "mp3", b"\xff\xfb": "mp3", b"\xff\xf3": "mp3"}


_DIGEST_BYTES = 16
_OF_ANOTHER = "an utterance of another file, too, as where all rows are beside those of some"


class _Unpacked(NamedTuple):
    """A row whose recording is in a file."""

    path: str
    """The path of the recording, in an index its name; empty if there is none."""
    text: str
    columns: dict[str, str]
    digest: str
    """That of the recording."""


def read_records(source: Path, choices: Choices) -> Iterator[Item]:
    """Yield the rows of all Parquet files in a folder; write their recordings into files if `choices` say where to.

    Otherwise, a row's recording is its Parquet file. Raise ImportingError if there is none, CorpusError if one has no
    recordings or transcripts, or cannot be read, or if pyarrow is missing, or OSError if a recording cannot be written.
    """
    shards = [path for path in files_below(source) if path.suffix in _ENDINGS and not path.name.startswith(_CACHE)]
    if not shards:
        raise ImportingError(f"{source} has no {' or '.join(_ENDINGS)} file, nor has a folder in it")
    sets = {shard: next(filter(None, map(set_of_name, shard.relative_to(source).parts)), "") for shard in shards}
    shards = tests_first(named_as_sets(shards, sets), sets)
    check_libraries(f"reading {shards[0].suffix} files", ["pyarrow"], "parquet", CorpusError)
    if choices.out is None or not choices.writes:
        for shard in shards:
            rows = (_Unpacked(str(shard), row.text, row.columns, "") for row in read_rows(shard, with_audio=False))
            yield from (_item(*named, sets[shard]) for named in _with_places(shard.relative_to(source), rows))
        return
    folders = {shard: choices.out.resolve() / RECORDINGS_FOLDER / _inside(shard, source) for shard in shards}
    if packed := [shard for shard, folder in folders.items() if _indexed_version(folder) != _version(shard)]:
        with Progress(f"Unpacking {source}", None, unit="recording") as progress:
            for shard in packed:
                _unpack(shard, folders[shard], progress)
    with Lookup() as shard_of:
        for shard, folder in folders.items():
            place = shard.relative_to(source)
            for where, row in _with_places(place, _unpacked(folder)):
                item = _item(where, row, sets[shard])
                utterance = f"{row.digest} {row.text}"
                yield once(item, f"{place}", shard_of, _OF_ANOTHER, utterance) if isinstance(item, Record) else item


def _unpack(shard: Path, folder: Path, progress: Progress) -> None:
    """Write the recordings of a Parquet file into a folder, with an index."""
    version = _version(shard)
    remove_unfinished_folders(folder)
    with folder_written_whole(folder) as beside, (beside / _INDEX).open("w", encoding="utf-8") as index:
        index.write(f"{json.dumps(version)}\n")
        taken = {_INDEX: ""}
        for number, row in enumerate(read_rows(shard), 1):
            digest = blake2b(row.audio, digest_size=_DIGEST_BYTES).hexdigest()
            name = _file_name(row, number, digest, taken) if row.audio else ""
            if name and name not in taken:
                taken[name] = digest
                (beside / name).write_bytes(row.audio)
            index.write(f"{json.dumps(_Unpacked(name, row.text, row.columns, digest))}\n")
            progress.advance()


def _unpacked(folder: Path) -> Iterator[_Unpacked]:
    with (folder / _INDEX).open(encoding="utf-8") as index:
        next(index)
        for line in index:
            row = _Unpacked(*json.loads(line))
            yield row._replace(path=str(folder / row.path) if row.path else "")


def _version(shard: Path) -> dict[str, int]:
    status = shard.stat()
    return {"size": status.st_size, "modified_ns": status.st_mtime_ns, "digest_bytes": _DIGEST_BYTES}


def _indexed_version(folder: Path) -> object:
    try:
        with (folder / _INDEX).open(encoding="utf-8") as index:
            return json.loads(index.readline())
    except (OSError, ValueError):
        return None


def _file_name(row: Row, number: int, digest: str, taken: Mapping[str, str]) -> str:
    """Return the recording's own name, if it has one that no other recording has, else a number.

    `taken` has the digests of the recordings by their names; `digest` is that of this one.
    """
    own = PurePosixPath(row.name.replace("\\", "/")).name
    if is_recording(own) and own.isprintable() and own[0] != "." and len(own.encode()) <= _LONGEST_NAME:
        if taken.get(own, digest) == digest:
            return own
        ending = PurePath(own).suffix
    else:
        ending = f".{next((each for start, each in _BEGINNINGS.items() if row.audio.startswith(start)), 'wav')}"
    numbers = (f"{number:08d}{again and f'-{again}'}{ending}" for again in ("", *range(1, len(taken) + 1)))
    return next(name for name in numbers if name not in taken)  # it may be the own name of an earlier recording


def _inside(shard: Path, source: Path) -> Path:
    inside = shard.relative_to(source)
    return inside.with_suffix("") if inside.suffix == _PARQUET else inside


def _with_places(shard: Path, rows: Iterable[_Unpacked]) -> Iterator[tuple[str, _Unpacked]]:
    """Yield the place of each row and the row; `shard` is the place of the Parquet file in the source folder."""
    return ((f"{shard}:{number}", row) for number, row in enumerate(rows, 1))


def _item(where: str, row: _Unpacked, official_set: str) -> Item:
    if not row.path:
        return LeftOut(where, "no recording in the row")
    return Record(row.path, row.text, where, speaker_of(row.columns), official_set, columns=columns_of(row.columns, ()))
