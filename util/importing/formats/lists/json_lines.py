"""JSON-lines manifests: audio_filepath, text, and optionally duration, offset (seconds) and speaker.

All *.jsonl in the folder are read, or else all *.json, else all *.list; if some names contain sets
(train_manifest.json), only these files are read. Without any, WeNet's train/data.list, dev/data.list and so on are.
Relative recordings are looked for from the manifest's folder. Other keys with texts or numbers become columns.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ....corpus_files.json_lines import read_entries
from ....errors import ImportingError
from ...pipeline.folders import named_as_sets, set_of_name
from ...pipeline.records import Choices, Item, item_of

_ENDINGS = (".jsonl", ".json", ".list")
_LIST_OF_WENET = "data.list"


def read_records(source: Path, choices: Choices) -> Iterator[Item]:
    """Yield the rows of all manifests; raise ImportingError if there are none, or CorpusError."""
    places = next(filter(None, (sorted(source.glob(f"*{ending}")) for ending in _ENDINGS)), None)
    places = places or [path.parent for path in sorted(source.glob(f"*/{_LIST_OF_WENET}"))]
    if not places:
        raise ImportingError(f"{source} has no {' or '.join(f'*{each}' for each in _ENDINGS)}")
    for place in named_as_sets(places):
        path = place if place.is_file() else place / _LIST_OF_WENET
        for entry in read_entries(path):
            yield item_of(entry, f"{path.relative_to(source)}", set_of_name(place.name))
