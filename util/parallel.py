"""Threads and processes: mapping a function with several threads, usable cores, and callbacks after a fork."""

from __future__ import annotations

import os
import weakref
from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from math import ceil, inf
from pathlib import Path
from time import perf_counter
from typing import Any, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")
Owner = TypeVar("Owner")

_MOST_FOR_EACH_THREAD = 16
"""The most slow items for each thread before one shows whether they still take long. The first may take long alone."""

_IN_FORKED_CHILDREN: weakref.WeakKeyDictionary[Any, Callable[[Any], None]] = weakref.WeakKeyDictionary()


def ordered_map(
    function: Callable[[Item], Result], items: Iterable[Item], threads: int, ahead: int
) -> Generator[Result, None, None]:
    """Yield `function(item)` for each item, in order, while threads work on up to `ahead` later items.

    So at most `ahead` results wait in memory, and `items` is read that far ahead. An error of `function` is raised at
    its item's place, an error of `items` before the waiting results. After an error, or if the iterator is closed
    early, the running calls finish, the others are dropped, and the threads end.
    """
    pending: deque[Future[Result]] = deque()
    with ThreadPoolExecutor(threads) as pool:
        try:
            for item in items:
                pending.append(pool.submit(function, item))
                if len(pending) > ahead:
                    yield pending.popleft().result()
            while pending:
                yield pending.popleft().result()
        finally:
            for future in pending:
                future.cancel()


def map_in_threads_if_slow(
    function: Callable[[Item], Result], items: Iterable[Item], threads: int, quick_seconds: float
) -> Generator[Result, None, None]:
    """Yield `function(item)` for each item, in order: in this thread, or in several while an item takes long.

    Python runs in one thread at a time, and threads that only run Python take several times as long as one does. They
    help where a function waits, or decodes in C: after an item that took more than `quick_seconds`, the next items are
    computed as `ordered_map` does.
    """
    remaining, for_each_thread = iter(items), 1
    for item in remaining:
        began = perf_counter()
        result = function(item)
        is_slow = perf_counter() - began > quick_seconds
        yield result
        if is_slow:
            following = islice(remaining, for_each_thread * threads)
            yield from ordered_map(function, following, threads, ahead=4 * threads)
        for_each_thread = min(2 * for_each_thread, _MOST_FOR_EACH_THREAD) if is_slow else 1


def usable_cores() -> int:
    """Return how many cores this process may use, which in a container can be fewer than the machine has.

    These are the cores of its affinity, or fewer if its control groups limit its processor time: 2.5 processors are
    three cores. native_client/shared/cores.h counts the same.
    """
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return ceil(min(processor_limit(Path("/")), cores))


def processor_limit(root: Path) -> float:
    """Return the least number of processors that control groups of this process are limited to, or infinity.

    `root` is the folder with proc and sys. Formats: the Linux kernel's documentation of cpu.max (cgroup v2) and
    cpu.cfs_quota_us (v1).
    """
    least = inf
    for line in _lines(root / "proc/self/cgroup"):
        controllers, _, group = line.partition(":")[2].partition(":")
        unified, mounted = not controllers, root / "sys/fs/cgroup"
        if unified or "cpu" in controllers.split(","):
            folder = (mounted if unified else mounted / "cpu") / group.strip("/")
            # The groups above limit it, too. In a container, these may be all that it sees.
            groups = [each for each in (folder, *folder.parents) if each.is_relative_to(mounted)]
            least = min([least, *map(_limit_of_unified_group if unified else _limit_of_processor_group, groups)])
    return least


def _limit_of_unified_group(folder: Path) -> float:
    """Return the limit by version 2: both numbers are in one file, "250000 100000", or "max 100000"."""
    return _limit(" ".join(_lines(folder / "cpu.max")).split())


def _limit_of_processor_group(folder: Path) -> float:
    """Return the limit by version 1: each number has a file; a quota of -1 is no limit."""
    return _limit([*_lines(folder / "cpu.cfs_quota_us"), *_lines(folder / "cpu.cfs_period_us")])


def _limit(numbers: list[str]) -> float:
    quota, period = (int(number) if number.isdecimal() else 0 for number in [*numbers, "", ""][:2])
    return quota / period if quota and period else inf


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return []


def call_in_forked_children(owner: Owner, method: Callable[[Owner], None]) -> None:
    """Call a method of an object at the start of every process that this one forks, as long as the object exists."""
    _IN_FORKED_CHILDREN[owner] = method


def _call_methods() -> None:
    for owner, method in list(_IN_FORKED_CHILDREN.items()):
        method(owner)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_call_methods)  # once, as nothing can be unregistered
