"""Recordings of lists that were moved or converted, or that the list names from another folder than its own."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from functools import cache
from pathlib import Path

from ....progress import without_warnings
from ...pipeline.folders import find_recording
from ...pipeline.records import Item, Record
from .named_recordings import NamedRecordings, distinct_ends

log = logging.getLogger(__name__)


def with_moved(read: Callable[[], Iterator[Item]], source: Path) -> Iterator[Item]:
    """Yield the items that `read` reads from lists in a folder; they are read again if recordings are not there.

    Only the first reading gives warnings. A recording that is not where its list says is the one in the folder, or
    below it, whose path ends alike, or which alone has its name; if there is none, the item stays unchanged.
    """
    ends = without_warnings()(distinct_ends(source, lambda: (item.path for item in read() if isinstance(item, Record))))
    with ExitStack() as stack:
        recordings = cache(lambda: stack.enter_context(NamedRecordings(source)))
        yield from _with_others(
            read(),
            lambda path: recordings().find(source / "list", path, ends),
            "%s: %s is not there; recordings are taken by their names: %s",
        )


def with_converted(items: Iterable[Item]) -> Iterator[Item]:
    """Yield the items; a recording that is not there is the one that only has another ending, if there is one."""

    def find(path: str) -> str:
        found = find_recording(os.path.splitext(path)[0])  # noqa: PTH122 (a Path takes longer)
        return found if os.path.isfile(found) else ""  # noqa: PTH113 (as above)

    return _with_others(items, find, "%s: %s is not there; %s is taken, and others so")


def _with_others(items: Iterable[Item], find: Callable[[str], str | None], warning: str) -> Iterator[Item]:
    """Yield the items with the recordings that `find` finds for those that are not there; warn of the first."""
    told = False
    for item in items:
        is_missing = isinstance(item, Record) and not os.path.isfile(item.path)  # noqa: PTH113 (a Path takes longer)
        found = find(item.path) if is_missing else None
        if found and not told:
            told = True
            log.warning(warning, item.source, item.path, found)
        yield item._replace(path=found) if found else item
