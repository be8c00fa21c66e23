"""JSON-lines manifests: audio_filepath, text, and optionally duration, offset (seconds) and speaker.

All *.jsonl in the folder are read, or else all *.json, else all *.list; if some names contain sets
(train_manifest.json), only these files are read. Without any, WeNet's train/data.list, dev/data.list and so on are, or
else all *.jsonl and *.json in folders below that begin with such a row. Relative recordings are looked for from the
manifest's folder. Other keys with texts or numbers become columns.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ....containers.endings import is_recording
from ....corpus_files.json_lines import read_entries
from ....corpus_files.rows import Entry
from ....errors import CorpusError, ImportingError
from ....files.folders import files_like, walk
from ...pipeline.folders import named_as_sets, sets_of_lists, tests_first, without_notes_on_recordings
from ...pipeline.records import Choices, Item, item_of

_ENDINGS = (".jsonl", ".json", ".list")
_LIST_OF_WENET = "data.list"


def read_records(source: Path, choices: Choices) -> Iterator[Item]:
    """Yield the rows of all manifests; raise ImportingError if there are none, or CorpusError."""
    files = without_notes_on_recordings(files_like(source, "*"))
    places = next(filter(None, ([path for path in files if path.suffix == ending] for ending in _ENDINGS)), None)
    places = places or [path.parent for path in sorted(source.glob(f"*/{_LIST_OF_WENET}"))] or list(_below(source))
    if not places:
        raise ImportingError(f"{source} has no {' or '.join(f'*{each}' for each in _ENDINGS)}")
    sets = sets_of_lists(source, places)
    for place in tests_first(named_as_sets(places), sets):
        path = place if place.is_file() else place / _LIST_OF_WENET
        for entry in read_entries(path):
            yield item_of(entry, f"{path.relative_to(source)}", sets[place])


def _below(source: Path) -> Iterator[Path]:
    """Yield the files below a folder that begin with a row, without those of single recordings beside them."""
    for folder, files in walk(source):
        heard = {file.rpartition(".")[0] for file in files if is_recording(file)}
        for path in (Path(folder, file) for file in files if file.endswith((".jsonl", ".json"))):
            if path.stem not in heard and _begins_with_row(path):
                yield path


def _begins_with_row(path: Path) -> bool:
    try:
        return isinstance(next(read_entries(path), None), Entry)
    except CorpusError:
        return False
