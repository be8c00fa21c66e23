"""The index of a shard: its utterances, and what their recordings hold, read once and remembered.

A shard at an address need not be fetched again to be listed, as long as it does not change there.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, replace
from pathlib import Path
from typing import Any

from ..audio import AudioInfo, inspect_audio, reader_version
from ..containers.endings import ENDINGS, LISTED
from ..errors import AudioError, CorpusError
from ..files.whole_files import write_whole
from ..parallel import ordered_map, usable_cores
from ..storage.copies import named_for_all, refresh, root
from .members import Place, contents, open_shard

TRANSCRIPT, COLUMNS = "txt", "json"
"""Endings of the members with the transcript, and with further values as a JSON object.

Without a member with the transcript, it is the object's `text` or `transcript`.
"""
_TEXTS = ("text", "transcript")

_FORMAT = 6
_LARGEST_TEXT = 1 << 20


@dataclass(frozen=True)
class ShardEntry:
    """An utterance of a shard, or what is wrong with it."""

    recording: str
    """The name of the member."""
    transcript: str
    columns: Mapping[str, str]
    audio: AudioInfo | None
    problem: str = ""
    passing: bool = False
    """Whether the problem is one of this machine or its way to the shard, and may be gone the next time."""


def read_index(shard: Path) -> list[ShardEntry]:
    """Return the utterances of a shard in their order. Raise CorpusError, or StorageError."""
    try:
        remote = refresh(shard)
        if remote is not None:
            size, modified_ns = remote.size, remote.modified_ns
        else:
            status = shard.stat()
            size, modified_ns = status.st_size, status.st_mtime_ns
        remembered = _remembered_as(shard, size, modified_ns)
        entries = _read(remembered)
        if entries is None:
            entries = list(_inspected(shard))
            if not any(entry.passing for entry in entries):
                _write(remembered, entries)
    except OSError as error:
        raise CorpusError(f"{shard}: cannot read the shard: {error.strerror or error}") from error
    return entries


def _inspected(shard: Path) -> Iterator[ShardEntry]:
    with open_shard(shard) as file:
        status = os.fstat(file.fileno())
        places = contents(str(shard), status.st_size, status.st_mtime_ns)
        found = [_described(file.fileno(), members, places) for members in _utterances(places)]
    usable = (entry for entry in found if not entry.problem)
    audio = ordered_map(lambda entry: _inspect(shard, entry), usable, usable_cores(), 8 * usable_cores())
    for entry in found:
        yield entry if entry.problem else next(audio)


def _utterances(places: Mapping[str, Place]) -> Iterator[dict[str, list[str]]]:
    """Yield the members of each utterance by their endings; their names are the same up to the first dot."""
    found: dict[str, dict[str, list[str]]] = {}
    for name, place in places.items():
        folder, _, file = name.rpartition("/")
        key, _, ending = file.partition(".")
        if key and not key.startswith("_"):
            found.setdefault(f"{folder}/{key}", {}).setdefault(ending.lower(), []).extend([name] * place.members)
    yield from found.values()


def _described(file: int, members: Mapping[str, list[str]], places: Mapping[str, Place]) -> ShardEntry:
    recordings = [name for ending in ENDINGS for name in members.get(ending, ())]
    first = (recordings or next(iter(members.values())))[0]
    if not recordings:
        return ShardEntry(first, "", {}, None, f"no recording beside it; their names end in {LISTED}")
    for names in (recordings, *members.values()):
        if len(names) > 1:
            problem = f"{names[1]} is one member too many; give each utterance a name of its own"
            return ShardEntry(first, "", {}, None, problem)
    try:
        columns = _columns(_text(file, places[members[COLUMNS][0]])) if COLUMNS in members else {}
        transcript = _text(file, places[members[TRANSCRIPT][0]]) if TRANSCRIPT in members else None
        if transcript is None:
            transcript = next((columns[name] for name in _TEXTS if name in columns), None)
        (transcript or "").encode()  # JSON can escape a lone surrogate
    except (ValueError, RecursionError, OSError) as error:
        return ShardEntry(first, "", {}, None, f"its text cannot be read: {error}")
    if transcript is None:
        return ShardEntry(first, "", {}, None, f"no transcript beside it, in .{TRANSCRIPT} or .{COLUMNS}")
    return ShardEntry(first, transcript.rstrip("\r\n"), columns, None)


def _text(file: int, place: Place) -> str:
    return os.pread(file, min(place.size, _LARGEST_TEXT), place.start).decode("utf-8-sig")


def _columns(text: str) -> dict[str, str]:
    values = json.loads(text)
    if not isinstance(values, dict):
        raise ValueError("its JSON is not an object")
    return {str(name): str(value) for name, value in values.items() if isinstance(value, str | int | float)}


def _inspect(shard: Path, entry: ShardEntry) -> ShardEntry:
    path = f"{shard}/{entry.recording}"
    try:
        return replace(entry, audio=inspect_audio(path))
    except AudioError as error:
        passing = isinstance(error.__cause__, OSError)
        return replace(entry, problem=str(error).removeprefix(f"{path}: "), passing=passing)


def _remembered_as(shard: Path, size: int, modified_ns: int) -> Path:
    text = f"{_FORMAT} {reader_version()}\0{named_for_all(shard.absolute())}\0{size}\0{modified_ns}"
    digest = hashlib.sha256(os.fsencode(text)).hexdigest()[:40]
    return root() / "shards" / f"{digest}.json"


def _read(path: Path) -> list[ShardEntry] | None:
    try:
        rows: Sequence[Any] = json.loads(path.read_text(encoding="utf-8"))
        return [
            ShardEntry(recording, transcript, columns, None if audio is None else AudioInfo(*audio), problem)
            for recording, transcript, columns, audio, problem in rows
        ]
    except (OSError, ValueError, TypeError):
        return None


def _write(path: Path, entries: Sequence[ShardEntry]) -> None:
    """Remember what is in a shard; ignore it if that cannot be written."""
    rows = [
        (each.recording, each.transcript, dict(each.columns), each.audio and astuple(each.audio), each.problem)
        for each in entries
    ]
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, json.dumps(rows, ensure_ascii=False).encode("utf-8", "surrogatepass"))
    except OSError:
        return
