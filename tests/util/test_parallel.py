import gc
import os
import threading
import time
from collections.abc import Iterator
from math import inf
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepspeech import _ctcdecoder
from deepspeech.util import parallel
from deepspeech.util.parallel import (
    call_in_forked_children,
    map_in_threads_if_slow,
    ordered_map,
    processor_limit,
    usable_cores,
)


@given(st.lists(st.integers()), st.integers(1, 4), st.integers(0, 9))
def test_results_come_in_order(items: list[int], threads: int, ahead: int) -> None:
    assert list(ordered_map(str, items, threads, ahead)) == [str(item) for item in items]


def test_work_goes_on_ahead_but_not_further_than_asked() -> None:
    taken = []

    def items() -> Iterator[int]:
        for item in range(100):
            taken.append(item)
            yield item

    results = ordered_map(lambda item: item, items(), threads=2, ahead=5)
    assert [next(results), next(results)] == [0, 1]
    assert len(taken) == 7
    results.close()


def test_an_error_comes_at_its_place_and_ends_the_threads() -> None:
    before = set(threading.enumerate())
    results = ordered_map(lambda item: 1 // item, [3, 1, 0, 1, 1, 1], threads=2, ahead=3)
    assert [next(results), next(results)] == [0, 1]
    with pytest.raises(ZeroDivisionError):
        next(results)
    assert set(threading.enumerate()) <= before  # of which some may end meanwhile


def test_closing_early_drops_what_has_not_begun() -> None:
    begun = []

    def work(item: int) -> int:
        begun.append(item)
        time.sleep(0.1)
        return item

    before = set(threading.enumerate())
    results = ordered_map(work, range(1000), threads=1, ahead=100)
    next(results)
    results.close()
    assert len(begun) < 100
    assert set(threading.enumerate()) <= before  # of which some may end meanwhile


def test_threads_work_only_while_items_take_long(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]
    monkeypatch.setattr(parallel, "perf_counter", lambda: clock[0])

    def work(item: int) -> tuple[int, bool]:
        clock[0] += item < 6 or 50 <= item < 60
        return item, threading.current_thread() is threading.main_thread()

    results = list(map_in_threads_if_slow(work, range(100), threads=2, quick_seconds=0.5))
    assert [item for item, _ in results] == list(range(100))
    in_threads = [item for item, here in results if not here]
    assert in_threads == [1, 2, *range(4, 8), 51, 52, *range(54, 58), *range(59, 67)]
    assert not list(map_in_threads_if_slow(work, [], threads=2, quick_seconds=1))


def test_there_is_a_core_to_use() -> None:
    assert usable_cores() >= 1


UNIFIED, OF_PROCESSORS = "0::{}\n", "12:pids:/other\n4:cpu,cpuacct:{}\n3:cpuset:/other\n0::/other\n"


@pytest.mark.parametrize(
    ("groups", "files", "limit"),
    [
        (UNIFIED.format("/"), {"cpu.max": "250000 100000\n"}, 2.5),
        (UNIFIED.format("/"), {"cpu.max": "max 100000\n"}, inf),
        (UNIFIED.format("/pods/a"), {"pods/cpu.max": "150000 50000\n", "pods/a/cpu.max": "max 100000\n"}, 3),
        (UNIFIED.format("/pods/a"), {"pods/cpu.max": "800000 100000\n", "pods/a/cpu.max": "50000 100000\n"}, 0.5),
        (UNIFIED.format("/a"), {"b/cpu.max": "250000 100000\n"}, inf),
        (UNIFIED.format("/../host"), {"cpu.max": "100000 100000\n"}, 1),
        (OF_PROCESSORS.format("/a"), {"cpu/a/cpu.cfs_quota_us": "400000", "cpu/a/cpu.cfs_period_us": "100000"}, 4),
        (OF_PROCESSORS.format("/a"), {"cpu/a/cpu.cfs_quota_us": "-1", "cpu/a/cpu.cfs_period_us": "100000"}, inf),
        (OF_PROCESSORS.format("/of/host"), {"cpu/cpu.cfs_quota_us": "5000", "cpu/cpu.cfs_period_us": "10000"}, 0.5),
        (UNIFIED.format("/caf\udce9"), {"caf\udce9/cpu.max": "250000 100000\n"}, 2.5),
        ("", {"cpu.max": "250000 100000\n"}, inf),
        ("nonsense\n\n:\n", {"cpu.max": "nonsense"}, inf),
    ],
)
def test_control_groups_limit_the_processors(groups: str, files: dict[str, str], limit: float, tmp_path: Path) -> None:
    for name, text in {"proc/self/cgroup": groups, **{f"sys/fs/cgroup/{name}": files[name] for name in files}}.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(os.fsencode(text))
    assert processor_limit(tmp_path) == _ctcdecoder.processor_limit(str(tmp_path)) == limit


def test_where_the_system_tells_no_control_groups_there_is_no_limit(tmp_path: Path) -> None:
    assert processor_limit(tmp_path) == _ctcdecoder.processor_limit(str(tmp_path)) == inf


def test_objects_that_are_gone_leave_nothing_to_call_in_children() -> None:
    class Renewed:
        def begin(self) -> None:
            """Start again."""

    registered = vars(parallel)["_IN_FORKED_CHILDREN"]
    kept = [Renewed() for _ in range(10)]
    for each in kept:
        call_in_forked_children(each, Renewed.begin)
    assert sum(isinstance(each, Renewed) for each in registered) == 10
    kept.clear()
    del each
    gc.collect()
    assert not any(isinstance(each, Renewed) for each in registered)
