"""Recordings of lists that were moved, or that the list names from another folder than its own."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import chain, islice
from pathlib import Path

from ...pipeline.records import Item, Record
from .named_recordings import NamedRecordings, distinct_ends

log = logging.getLogger(__name__)

_LOOKED_AT = 2000
"""The number of rows that show how a list names recordings."""


def with_moved(items: Iterator[Item], source: Path) -> Iterator[Item]:
    """Yield the items of lists in a folder.

    A recording that is not where its list says is the one in the folder, or below it, whose path ends alike, or which
    alone has its name; if there is no such recording, the item stays unchanged.
    """
    first = list(islice(items, _LOOKED_AT))
    ends = distinct_ends(source, (item.path for item in first if isinstance(item, Record)))
    with ExitStack() as stack:
        recordings: NamedRecordings | None = None
        told = False
        for item in chain(first, items):
            if not isinstance(item, Record) or _is_file(item.path):
                yield item
                continue
            recordings = recordings or stack.enter_context(NamedRecordings(source))
            found = recordings.find(source / "list", item.path, ends=ends)
            if found and not told:
                told = True
                log.warning(
                    "%s: %s is not there; recordings are taken by their names: %s", item.source, item.path, found
                )
            yield item._replace(path=found) if found else item


def _is_file(path: str) -> bool:
    try:
        return os.path.isfile(path)  # noqa: PTH113 (a Path takes longer)
    except ValueError:  # a null character
        return False
