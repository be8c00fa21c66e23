import threading
import time
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepspeech.util.parallel import ordered_map, usable_cores


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


def test_there_is_a_core_to_use() -> None:
    assert usable_cores() >= 1
