"""A data directory of Kaldi: wav.scp with files, text, and optionally segments and utt2spk.

A wav.scp with commands (lines that end in |) is refused. Subfolders named train, dev and test that are such directories
are the sets; other subfolders are then not read.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ....corpus_files.kaldi import RECORDINGS, TEXT, is_directory_of_kaldi, read_entries
from ....errors import ImportingError
from ...pipeline.folders import named_as_sets, set_of_name
from ...pipeline.records import Choices, Item, item_of


def read_records(source: Path, choices: Choices) -> Iterator[Item]:
    """Yield the rows of a directory, or of its subfolders; raise ImportingError if there is none, or CorpusError."""
    single = is_directory_of_kaldi(source)
    folders = [source] if single else sorted(path.parent for path in source.glob(f"*/{RECORDINGS}"))
    if not folders:
        raise ImportingError(f"{source} has no {RECORDINGS}, so it isn't a data directory of Kaldi's")
    for folder in named_as_sets(folders):
        official_set = set_of_name(folder.name) if folder != source else ""
        for entry in read_entries(folder):
            yield item_of(entry, TEXT, official_set)
