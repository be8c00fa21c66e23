"""Threads and processes: mapping a function with several threads, usable cores, and callbacks after a fork."""

from __future__ import annotations

import os
import weakref
from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


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


def usable_cores() -> int:
    """Return how many cores this process may use, which in a container can be fewer than the machine has."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def call_in_forked_children(method: Callable[[], None]) -> None:
    """Call a method at the start of every process that this one forks, as long as its object exists."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=partial(_call_if_alive, weakref.WeakMethod(method)))


def _call_if_alive(method: weakref.WeakMethod[Callable[[], None]]) -> None:
    alive = method()
    if alive is not None:
        alive()
