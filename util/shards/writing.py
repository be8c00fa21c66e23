"""Writing a corpus into tar shards, in WebDataset's layout."""

from __future__ import annotations

import io
import json
import os
import random
import re
import tarfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import soundfile

from ..audio import open_recording
from ..checks.inspection import Inspection
from ..containers.endings import ENDINGS
from ..containers.flac import write_flac
from ..corpus_files import Row, columns_by_line, read_files
from ..errors import AudioError, BadRow, CorpusError, StorageError
from ..files.opening import opened
from ..files.whole_files import encoded, written_whole
from ..parts import PartError
from ..storage.addresses import address_of
from ..storage.copies import Settings, named_for_all
from .index import COLUMNS, TRANSCRIPT
from .members import member_of

_DIGITS = 6
_NUMBERED = re.compile(rf"\d{{{_DIGITS},}}\.tar")


@dataclass(frozen=True)
class WrittenShards:
    """The written shards, by their name for the command line."""

    name: str
    """The name with the range of numbers, as in `shards/train-{000000..000012}.tar`."""
    utterances: int
    size: int
    """Bytes."""
    surplus: str
    """The shard after the last one, if it is left from an earlier, larger set of this name."""


def write_shards(
    lists: Sequence[Path], out: str, shard_size: int, seed: int, advance: Callable[[], None] = lambda: None
) -> WrittenShards:
    """Write the utterances of lists, in an order given by the seed, into shards of about `shard_size` bytes.

    The shards are OUT-000000.tar, OUT-000001.tar and so on; `out` may be an address. Each shard appears when it is
    complete. Whole recordings are copied unchanged; a part of a recording becomes a FLAC file. `advance` is called
    after each utterance. Raise CorpusError for lists or recordings that cannot be read, or for recordings in shards
    that would be overwritten, StorageError or OSError.
    """
    rows = _rows(lists)
    _check_names(out, rows)
    random.Random(seed).shuffle(rows)
    columns = {each: columns_by_line(each) for each in {row.csv_file for row in rows}}
    inspection = Inspection()
    remaining = iter(rows)
    number = written = size = 0
    row = next(remaining, None)
    while row is not None:
        with _shard(f"{out}-{number:0{_DIGITS}d}.tar") as shard, tarfile.open(shard, "w") as archive:
            while row is not None and (archive.offset == 0 or archive.offset < shard_size):
                _add(archive, f"{written:09d}", row, columns[row.csv_file].get(row.line, {}), inspection)
                written += 1
                advance()
                row = next(remaining, None)
            size += archive.offset
        number += 1
    name = f"{out}-{{{0:0{_DIGITS}d}..{number - 1:0{_DIGITS}d}}}.tar"
    after = f"{out}-{number:0{_DIGITS}d}.tar"
    return WrittenShards(name, written, size, after if _exists(after) else "")


def _rows(lists: Sequence[Path]) -> list[Row]:
    rows = list(read_files(lists, None))
    if bad := [row for row in rows if isinstance(row, BadRow)]:
        raise CorpusError(f"{len(bad)} bad rows of {len(rows)}; correct or remove the rows listed here:", bad)
    return [row for row in rows if isinstance(row, Row)]


def _check_names(out: str, rows: Iterable[Row]) -> None:
    """Raise CorpusError for a recording in a shard that would be replaced, because a new shard has its name."""
    begin = f"{address_of(out) or os.path.realpath(out)}-"
    shards = dict.fromkeys(found[0] for row in rows if (found := member_of(Path(row.path))) is not None)
    for each in map(named_for_all, shards):
        name = address_of(each) or os.path.realpath(each)
        if name.startswith(begin) and _NUMBERED.fullmatch(name, len(begin)):
            raise CorpusError(f"{each}: is read, and would be written over; name other shards than {out}")


def _exists(name: str) -> bool:
    if (address := address_of(name)) is None:
        return Path(name).exists()
    try:
        Settings.read().store.about(address)
    except FileNotFoundError:
        return False
    return True


@contextmanager
def _shard(name: str) -> Iterator[Path]:
    """Yield the file to write a shard to; it appears under its name, or at its address, when the block ends."""
    if (address := address_of(name)) is not None:
        with TemporaryDirectory(prefix="deepspeech-shard-") as folder:
            path = Path(folder, "shard.tar")
            yield path
            Settings.read().store.send(path, address)
        return
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    with written_whole(path) as beside:
        yield beside


def _add(archive: tarfile.TarFile, key: str, row: Row, columns: Mapping[str, str], inspection: Inspection) -> None:
    try:
        ending, recording = _recording(row, inspection)
    except (AudioError, StorageError) as error:
        raise CorpusError(str(row.bad(str(error)))) from error
    except (PartError, OSError, soundfile.LibsndfileError) as error:
        raise CorpusError(str(row.bad(f"{row.path}: {getattr(error, 'strerror', error)}"))) from error
    members = {ending: recording, TRANSCRIPT: row.transcript.encode()}
    if columns:
        members[COLUMNS] = encoded(json.dumps({**columns, "text": row.transcript}, ensure_ascii=False))
    for name, content in members.items():
        member = tarfile.TarInfo(f"{key}.{name}")
        member.size = len(content)
        archive.addfile(member, io.BytesIO(content))


def _recording(row: Row, inspection: Inspection) -> tuple[str, bytes]:
    """Return the ending and the content of a recording's file, or of a FLAC file of the row's part.

    Raise PartError if the recording has no such part.
    """
    part = inspection.part_within(row.path, row.part)
    if part is None:
        ending = Path(row.path).suffix[1:].lower()
        with opened(Path(row.path)) as file:
            return ending if ending in ENDINGS else "wav", file.readall()
    with open_recording(row.path) as (_, sound):
        samples = part.samples(sound.samplerate, sound.frames)
        cut = io.BytesIO()
        write_flac(sound, samples, cut)
    return "flac", cut.getvalue()
