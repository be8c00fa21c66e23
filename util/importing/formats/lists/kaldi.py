"""A data directory of Kaldi: wav.scp with files, text, and optionally segments and utt2spk.

A wav.scp with commands that do more than decode a file is refused. Subfolders named train, dev and test that are such
directories are the sets, also further below, as in data/train and data/test; other subfolders are then not read, nor
are the copies that recipes make of subfolders, such as train_sp. An utterance of several subfolders, as of train and of
train_dev, a part of it, is of the first of these sets: test, dev, train.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from ....corpus_files.kaldi import RECORDINGS, TEXT, is_directory_of_kaldi, read_entries
from ....corpus_files.lookup import Lookup
from ....errors import OtherFormatError
from ....files.folders import walk
from ...pipeline.folders import named_as_sets, set_of_folders, tests_first
from ...pipeline.records import Choices, Item, LeftOut, item_of, once

log = logging.getLogger(__name__)

_OF_ANOTHER = "an utterance of another directory, too"
_OF_COPIES = re.compile(r"(_sp|_hires|_vp|_rvb)+$")
"""Ends the names of copies with other speeds, features, volumes or echoes."""


def read_records(source: Path, choices: Choices) -> Iterator[Item]:
    """Yield the rows of a directory, or of its subfolders; raise ImportingError if there is none, or CorpusError."""
    single = is_directory_of_kaldi(source)
    folders = [source] if single else sorted(path.parent for path in source.glob(f"*/{RECORDINGS}"))
    folders = folders or _deeper(source)
    if not folders:
        raise OtherFormatError(f"{source} has no {RECORDINGS}, so it isn't a data directory of Kaldi's")
    with Lookup() as folder_of:
        sets = {folder: set_of_folders(folder.relative_to(source).parts) for folder in folders}
        for folder in tests_first(_without_copies(named_as_sets(folders)), sets):
            for entry in read_entries(folder):
                item = item_of(entry, TEXT, sets[folder])
                name = str(folder.relative_to(source))
                yield item if single or isinstance(item, LeftOut) else once(item, name, folder_of, _OF_ANOTHER)


def _deeper(source: Path) -> list[Path]:
    """Return the directories further below a folder, if only one part of their paths differs; none otherwise.

    So it is in the corpora that are published with them, but not in the folders where recipes work.
    """
    found = sorted(Path(folder) for folder, files in walk(source) if RECORDINGS in files and TEXT in files)
    paths = [folder.relative_to(source).parts for folder in found]
    differing = sum(len(set(parts)) > 1 for parts in zip(*paths, strict=False))
    return found if len({len(path) for path in paths}) == 1 and differing <= 1 else []


def _without_copies(folders: Sequence[Path]) -> Iterator[Path]:
    for folder in folders:
        original = folder.with_name(_OF_COPIES.sub("", folder.name))
        if folder != original and original in folders:
            log.warning("%s: not read, as a copy of %s; training can augment by itself", folder, original.name)
        else:
            yield folder
