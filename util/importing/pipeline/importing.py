"""The stages of an import: reading rows, dividing them into sets, checking recordings, cutting segments, writing."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import partial
from itertools import chain
from pathlib import Path

from ...errors import ImportingError
from ...files.writable import why_not_writable
from ...parallel import ordered_map, usable_cores
from ...progress import Progress, Report
from .folders import packed_recordings
from .folders_of_speakers import FoldersOfSpeakers, with_speaker
from .known import Checked, KnownRecordings
from .output import LEFT_OUT_FILE, READ_IN_TRAINING, LeftOutFile, SetFiles
from .recordings import Imported, LastOpened, Recordings
from .records import Choices, Item, LeftOut, Reader, Record
from .splits import Splitter
from .spool import Spool
from .texts import plain_text

CLIPS_FOLDER = "clips"
KNOWN_FILE = ".checked.sqlite"

_ROWS_AT_ONCE = 16
_ROWS_OF_A_RECORDING_AT_ONCE = 4096

_Row = tuple[Item, Checked | None]
_Result = tuple[Imported | LeftOut, Checked | None]


def import_records(read: Reader, source: Path, out: Path, choices: Choices, report: Report) -> None:
    """Write OUT/train.csv, OUT/dev.csv and OUT/test.csv of the records that a reader yields from the folder `source`.

    OUT/left_out.csv lists the rows that are left out; segments are cut into OUT/clips. Recordings that an earlier call
    has checked are not checked again, and segments that it has cut are kept. Raise ImportingError, or OSError.
    """
    source, out = _folders(source, out)
    clips = out / CLIPS_FOLDER
    items = (item for item in read(source, choices) if not item.path.startswith(f"{clips}{os.sep}"))
    first = next(items, None)  # a folder of another format is refused before anything is written
    if first is None:
        raise ImportingError(f"{source} has no rows that can be imported")
    out.mkdir(parents=True, exist_ok=True)
    with Spool(out) as spool, KnownRecordings(out / KNOWN_FILE) as known:
        new_splitter = partial(Splitter, choices, (str(source), str(out)), known.division())
        splitter, folders = new_splitter(), FoldersOfSpeakers()
        with Progress(f"Reading {source}", None, unit="row") as progress:
            rows, columns = _read(chain((first,), items), spool, splitter, folders, progress)
        if height := folders.height():
            report("folders name the speakers, as the names of their recordings, their texts or the folders above show")
            splitter = new_splitter()
            _count_again(spool, splitter, height)
        for line in splitter.divide():
            report(line)
        with (
            LeftOutFile(out / LEFT_OUT_FILE) as left_out,
            SetFiles(out, columns) as sets,
            Progress(f"Checking {source}", rows, unit="row") as progress,
        ):
            for result in _take(spool, Recordings(str(source), clips), known, height):
                progress.advance()
                if isinstance(result, LeftOut):
                    left_out.write(result)
                else:
                    sets.write(splitter.choose(result.record), result)
            known.keep_division(splitter.division)
    for line in (*sets.summary(), *left_out.table(rows)):
        report(line)
    if not sets.written:
        advice = "; ".join(filter(None, (f"{left_out.path} says why", packed_recordings(source))))
        raise ImportingError(f"no row of {source} can be imported; {advice}")


def _folders(source: Path, out: Path) -> tuple[Path, Path]:
    """Return both folders as absolute paths; raise ImportingError if they cannot be read from and written to."""
    if not source.is_dir():
        what = f"{source} is not a folder" if source.exists() else f"there is no folder {source}"
        raise ImportingError(f"{what}; name the folder of the recordings with --from")
    source, out = source.resolve(), out.resolve()
    if source == out:
        raise ImportingError(f"{out} holds the corpus itself; name another folder for the imported corpus with --to")
    if problem := why_not_writable(out):
        raise ImportingError(f"{problem}; name another folder for the imported corpus with --to")
    return source, out


def _read(
    items: Iterator[Item], spool: Spool, splitter: Splitter, folders: FoldersOfSpeakers, progress: Progress
) -> tuple[int, list[str]]:
    """Put all items into the spool; return their number, and the names of their further columns."""
    rows = 0
    columns: dict[str, None] = {}
    for item in items:
        if isinstance(item, Record):
            item = item._replace(transcript=plain_text(item.transcript))
            _count(item, splitter)
            folders.add(item)
            columns.update((name, None) for name in item.columns if name.strip() not in READ_IN_TRAINING)
        spool.add(item)
        rows += 1
        progress.advance()
    return rows, list(columns)


def _count_again(spool: Spool, splitter: Splitter, height: int) -> None:
    """Count the records with the speakers that folders of this height name."""
    for item in spool:
        if isinstance(item, Record):
            _count(with_speaker(item, height), splitter)


def _count(record: Record, splitter: Splitter) -> None:
    splitter.count(record, usable=bool(record.transcript) and _holds_something(record.path))


def _holds_something(path: str) -> bool:
    try:
        return os.stat(path).st_size > 0  # noqa: PTH116 (a Path takes longer)
    except (OSError, ValueError):  # ValueError: a null character
        return False


def _take(spool: Spool, recordings: Recordings, known: KnownRecordings, height: int) -> Iterator[Imported | LeftOut]:
    """Yield the result of each item, in order, after storing what its recording holds; `height`: see `with_speaker`."""

    def take(rows: list[_Row]) -> list[_Result]:
        results: list[_Result] = []
        found: dict[str, Checked | None] = {}
        with LastOpened() as opened:
            for item, checked in rows:
                if isinstance(item, LeftOut):
                    results.append((item, None))
                    continue
                before = found.get(item.path, checked)
                result, found[item.path] = recordings.take(with_speaker(item, height), before, opened)
                results.append((result, found[item.path] if found[item.path] is not before else None))
        return results

    threads = usable_cores()
    for results in ordered_map(take, _chunks(spool, known), threads, ahead=4 * threads):
        for result, checked in results:
            if checked is not None:
                path = result.path if isinstance(result, LeftOut) else result.record.path
                known.add(path, checked)
            yield result


def _chunks(spool: Spool, known: KnownRecordings) -> Iterator[list[_Row]]:
    """Yield rows with the known facts of their recordings; neighbours of the same recording stay together."""
    chunk: list[_Row] = []
    path, checked = "", None
    for item in spool:
        if len(chunk) >= _ROWS_AT_ONCE and (item.path != path or len(chunk) >= _ROWS_OF_A_RECORDING_AT_ONCE):
            yield chunk
            chunk = []
        if item.path != path:
            path, checked = item.path, known.find(item.path)
        chunk.append((item, checked))
    if chunk:
        yield chunk
