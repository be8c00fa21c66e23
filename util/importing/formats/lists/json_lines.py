"""JSON-lines manifests: audio_filepath, text, and optionally duration, offset (seconds) and speaker.

All *.jsonl in the folder are read, or else all *.json; if some names contain sets (train_manifest.json), only these
files are read. Relative recordings are looked for from the manifest's folder. Other keys with texts or numbers become
columns.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ....corpus_files.json_lines import read_entries
from ....errors import ImportingError
from ...pipeline.folders import named_as_sets, set_of_name
from ...pipeline.records import Choices, Item, item_of


def read_records(source: Path, choices: Choices) -> Iterator[Item]:
    """Yield the rows of all manifests; raise ImportingError if there are none, or CorpusError."""
    manifests = sorted(source.glob("*.jsonl")) or sorted(source.glob("*.json"))
    if not manifests:
        raise ImportingError(f"{source} has no *.jsonl or *.json")
    for path in named_as_sets(manifests):
        for entry in read_entries(path):
            yield item_of(entry, path.name, set_of_name(path.stem))
