from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from threading import Barrier

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepspeech.util.batching.batches import Batches, Batching

LENGTHS = st.lists(st.integers(0, 400), max_size=120)
BATCHINGS = st.builds(
    Batching,
    size=st.integers(1, 9),
    frames=st.sampled_from([0, 100, 900]),
    seed=st.sampled_from([None, 1, 4567]),
    ordered_epochs=st.integers(0, 2),
)


def utterances(batches: Batches, epoch: int) -> list[list[int]]:
    return [list(batches.batch(index, epoch)) for index in range(batches.count)]


@given(LENGTHS, BATCHINGS, st.integers(0, 4))
def test_each_utterance_is_in_one_batch_of_every_epoch(lengths: list[int], batching: Batching, epoch: int) -> None:
    batches = Batches(lengths, batching)
    found = utterances(batches, epoch)
    assert Counter(each for batch in found for each in batch) == Counter(range(len(lengths)))
    assert all(0 < len(batch) <= batches.largest for batch in found)
    assert all(batches.index_of(each) == index for index, batch in enumerate(utterances(batches, 0)) for each in batch)
    assert list(batches.order(epoch)) == [each for batch in found for each in batch]


@given(LENGTHS, BATCHINGS, st.integers(0, 4))
def test_a_batch_of_frames_has_no_more_frames_with_padding_unless_it_is_one_utterance(
    lengths: list[int], batching: Batching, epoch: int
) -> None:
    for batch in utterances(Batches(lengths, batching), epoch):
        if batching.frames and len(batch) > 1:
            assert len(batch) * max(lengths[each] for each in batch) <= batching.frames


def test_batches_of_a_number_of_utterances_are_neighbours_in_the_order_of_the_corpus() -> None:
    assert utterances(Batches([5] * 7, Batching(3)), 4) == [[0, 1, 2], [3, 4, 5], [6]]


def test_batches_of_frames_hold_fewer_utterances_the_longer_they_are() -> None:
    lengths = [10] * 20 + [50] * 10 + [100] * 5
    sizes = [len(batch) for batch in utterances(Batches(lengths, Batching(1, frames=100)), 0)]
    assert sizes == [10, 10, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1]


def test_batches_of_frames_in_order_are_as_full_as_they_can_be() -> None:
    lengths = list(range(10, 200, 3))
    for batch in utterances(Batches(lengths, Batching(1, frames=600)), 0)[:-1]:
        assert (len(batch) + 1) * lengths[batch[-1] + 1] > 600


def test_the_first_epoch_is_in_order_and_each_later_one_has_an_order_of_its_own_that_the_seed_decides() -> None:
    lengths = list(range(100, 300))
    batches = Batches(lengths, Batching(4, seed=7))
    epochs = [utterances(batches, epoch) for epoch in range(4)]
    assert epochs[0] == utterances(Batches(lengths, Batching(4)), 0)
    assert len({str(epoch) for epoch in epochs}) == 4
    assert utterances(Batches(lengths, Batching(4, seed=7)), 2) == epochs[2]
    assert utterances(Batches(lengths, Batching(4, seed=8)), 2) != epochs[2]


def test_the_utterances_of_a_shuffled_batch_are_alike_in_length() -> None:
    batches = Batches(range(1000), Batching(10, seed=1))
    for batch in utterances(batches, 3):
        assert max(batch) - min(batch) < 80


def test_an_utterance_is_with_others_in_each_shuffled_epoch() -> None:
    batches = Batches(range(1000), Batching(10, seed=1))
    third, fourth = ({frozenset(batch) for batch in utterances(batches, epoch)} for epoch in (3, 4))
    assert not third & fourth


def test_there_is_no_batch_beyond_the_last() -> None:
    batches = Batches([1] * 5, Batching(2))
    for index in (-1, 3):
        with pytest.raises(IndexError, match=f"no batch {index}: 5 utterances make 3"):
            batches.batch(index)


def test_threads_that_begin_an_epoch_together_shuffle_it_once() -> None:
    batches, together = Batches(range(100, 20_000), Batching(4, seed=7)), Barrier(4)

    def begin(_: int) -> int:
        together.wait()
        return id(batches.of_epoch(3))

    with ThreadPoolExecutor(4) as pool:
        assert len(set(pool.map(begin, range(4)))) == 1


@given(LENGTHS, BATCHINGS, st.integers(0, 4), st.sets(st.integers(1, 119), max_size=4))
def test_the_batches_of_a_window_follow_each_other_and_starts_are_their_first(
    lengths: list[int], batching: Batching, epoch: int, cuts: set[int]
) -> None:
    windows = [0, *sorted(cut for cut in cuts if cut < len(lengths))]
    batches = Batches(lengths, batching, windows)
    starts = batches.starts(epoch)
    ends = [*starts[1:], batches.count]
    order = list(batches.of_epoch(epoch))
    found = [sorted(chain.from_iterable(order[start:end])) for start, end in zip(starts, ends, strict=True)]
    bounds = zip(windows, [*windows[1:], len(lengths)], strict=True)
    assert sorted(found) == [list(range(*each)) for each in bounds]


def test_windows_are_shuffled_too_and_each_has_an_order_of_its_own() -> None:
    batches = Batches([5] * 40, Batching(1, seed=1), [0, 20])
    orders = [list(batches.order(epoch)) for epoch in range(10)]
    assert {order[0] < 20 for order in orders[1:]} == {False, True}
    assert all([each % 20 for each in order[:20]] != [each % 20 for each in order[20:]] for order in orders[1:])


def test_words_for_the_batches_tell_all_that_decides_them_but_their_size() -> None:
    assert not Batching(3).in_words
    assert Batching(3, 900, 7, 2).in_words == "of 900 frames, shuffled by 7 after 2"


def test_a_corpus_without_utterances_has_no_batches() -> None:
    empty = Batches([], Batching(3))
    assert (empty.count, empty.largest) == (0, 3)
