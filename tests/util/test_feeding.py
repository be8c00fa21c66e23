import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from corpora import TinyCorpus, write_tiny_corpus
from hypothesis import given
from hypothesis import strategies as st

from deepspeech.util import feeding
from deepspeech.util.batching.batches import Batches, Batching
from deepspeech.util.corpus import Corpus, read_corpus
from deepspeech.util.errors import AudioError
from deepspeech.util.features import FeatureOptions, Features, front_end
from deepspeech.util.feeding import LABEL_PADDING, Feeder, OnTheFly
from deepspeech.util.text import Alphabet

MFCC = front_end(FeatureOptions(feature_type="psf"))


def read(files: TinyCorpus) -> Corpus:
    return read_corpus([files.train], Alphabet.load(files.alphabet), MFCC)


@pytest.fixture(scope="module")
def corpus(tiny_corpus: TinyCorpus) -> Corpus:
    return read(tiny_corpus)


@given(st.integers(1, 300), st.integers(1, 50))
def test_batches_cover_the_corpus_in_order_and_only_the_last_is_partial(corpus_size: int, batch_size: int) -> None:
    batches = Batches([1] * corpus_size, Batching(batch_size))
    ranges = [batches.batch(index) for index in range(batches.count)]
    assert [index for batch in ranges for index in batch] == list(range(corpus_size))
    assert all(len(batch) == batch_size for batch in ranges[:-1])
    assert 1 <= len(ranges[-1]) <= batch_size


@pytest.mark.parametrize("index", [-1, 3])
def test_there_are_no_other_batches(index: int) -> None:
    with pytest.raises(IndexError, match=f"no batch {index}: 5 utterances make 3"):
        Batches([1] * 5, Batching(2)).batch(index)


@pytest.mark.parametrize("batch_size", [1, 5, 24, 100])
def test_a_batch_holds_its_utterances_padded_to_the_longest(corpus: Corpus, batch_size: int) -> None:
    source = OnTheFly(corpus, MFCC)
    feeder = Feeder(corpus, source, Batching(batch_size))
    batches = list(feeder.batches(range(len(feeder))))
    assert [index for batch in batches for index in batch.indices] == list(range(len(corpus)))
    for batch in batches:
        assert batch.features.shape == (len(batch.utterances), max(batch.lengths), 26)
        assert batch.labels.shape == (
            len(batch.utterances),
            max(len(utterance.labels) for utterance in batch.utterances),
        )
        assert [array.dtype for array in (batch.features, batch.lengths, batch.labels)] == [
            np.float32,
            np.int32,
            np.int32,
        ]
        for row, index in enumerate(batch.indices):
            utterance, frames = corpus[index], batch.lengths[row]
            letters = len(utterance.labels)
            assert batch.utterances[row] is utterance
            np.testing.assert_array_equal(batch.features[row, :frames], source.features(index))
            assert not batch.features[row, frames:].any()
            np.testing.assert_array_equal(batch.labels[row, :letters], utterance.labels)
            assert (batch.labels[row, letters:] == LABEL_PADDING).all()


def test_a_batch_may_be_padded_further(corpus: Corpus) -> None:
    source = OnTheFly(corpus, MFCC)
    feeder, longer = (
        Feeder(corpus, source, Batching(5)),
        Feeder(corpus, source, Batching(5), padded_length=lambda frames: frames + 7),
    )
    batches = [(feeder.batch(index), longer.batch(index)) for index in range(len(feeder))]
    for batch, padded in batches:
        frames = max(batch.lengths)
        assert padded.features.shape[1] == frames + 7
        np.testing.assert_array_equal(padded.features[:, :frames], batch.features)
        assert not padded.features[:, frames:].any()
        np.testing.assert_array_equal(padded.lengths, batch.lengths)
        np.testing.assert_array_equal(padded.labels, batch.labels)


def test_batches_come_in_the_order_asked_for(corpus: Corpus) -> None:
    feeder = Feeder(corpus, OnTheFly(corpus, MFCC), Batching(5), threads=3)
    assert [batch.indices[0] for batch in feeder.batches([4, 0, 2, 2])] == [20, 0, 10, 10]


def test_a_recording_that_vanishes_stops_the_feeding_at_its_batch(tmp_path: Path) -> None:
    corpus = read(write_tiny_corpus(tmp_path))
    feeder = Feeder(corpus, OnTheFly(corpus, MFCC), Batching(4), threads=2)
    Path(corpus[13].path).unlink()
    before = set(threading.enumerate())
    batches = feeder.batches(range(6))
    assert [next(batches).indices[0] for _ in range(3)] == [0, 4, 8]
    with pytest.raises(AudioError, match=Path(corpus[13].path).name):
        next(batches)
    assert set(threading.enumerate()) <= before  # of which some may end meanwhile


def test_utterances_that_vanish_are_left_out_if_asked_and_used_when_they_are_back(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    corpus = read(write_tiny_corpus(tmp_path))
    feeder = Feeder(corpus, OnTheFly(corpus, MFCC), Batching(2), threads=2, skip_unreadable=True)
    content = {Path(corpus[index].path): Path(corpus[index].path).read_bytes() for index in (5, 6, 7)}
    for path in content:
        path.unlink()
    for _ in range(2):
        of_5, empty, whole = feeder.batches([2, 3, 4])
        assert [len(batch.utterances) for batch in (of_5, empty, whole)] == [1, 0, 2]
        assert of_5.utterances[0] is corpus[4]
        assert of_5.features.shape[:2] == (1, corpus[4].frames)
        assert (len(empty.features), len(empty.lengths), len(empty.labels)) == (0, 0, 0)
    assert [message.partition(": ")[0] for message in caplog.messages] == ["Left out"] * 3
    for path, data in content.items():
        path.write_bytes(data)
    assert len(feeder.batch(3).utterances) == 2
    for utterance in corpus:
        Path(utterance.path).unlink()
    with pytest.raises(AudioError, match="No such file"):  # none is left
        list(feeder.batches(range(len(feeder))))


def test_a_recording_replaced_by_another_is_noticed(tmp_path: Path) -> None:
    corpus = read(write_tiny_corpus(tmp_path))
    Path(corpus[0].path).write_bytes(Path(corpus[-1].path).read_bytes())
    with pytest.raises(AudioError, match=r"frames where there were .* recordings must not change during a run"):
        OnTheFly(corpus, MFCC).features(0)


def test_a_batch_that_is_not_there_is_an_error(corpus: Corpus) -> None:
    with pytest.raises(IndexError, match="no batch 5"):
        list(Feeder(corpus, OnTheFly(corpus, MFCC), Batching(5)).batches([0, 5]))


def test_closing_early_ends_the_threads(corpus: Corpus) -> None:
    before = set(threading.enumerate())
    batches = Feeder(corpus, OnTheFly(corpus, MFCC), Batching(1), threads=4).batches(range(24))
    next(batches)
    assert set(threading.enumerate()) - before
    batches.close()
    assert set(threading.enumerate()) <= before  # of which some may end meanwhile


def test_threads_share_the_utterances_of_a_batch(corpus: Corpus) -> None:
    together = threading.Barrier(4)

    class Together(OnTheFly):
        def features(self, index: int, epoch: int = 0) -> Features:
            together.wait(60)
            return super().features(index, epoch)

    feeder = Feeder(corpus, Together(corpus, MFCC), Batching(8), threads=4, prefetch=0)
    assert [list(batch.indices) for batch in feeder.batches([1])] == [list(range(8, 16))]


def test_closing_early_drops_the_utterances_that_have_not_begun(
    corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[int] = []
    begun_when_dropped: list[int] = []
    is_closing, may_go_on = threading.Event(), threading.Event()

    class Pool(ThreadPoolExecutor):
        def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
            super().shutdown(wait, cancel_futures=cancel_futures)
            begun_when_dropped[:] = begun_when_dropped or begun
            may_go_on.set()

    class Slow(OnTheFly):
        def features(self, index: int, epoch: int = 0) -> Features:
            begun.append(index)
            if is_closing.wait(0.02 * (index >= 8)):
                may_go_on.wait(60)
            return super().features(index, epoch)

    monkeypatch.setattr(feeding, "ThreadPoolExecutor", Pool)
    batches = Feeder(corpus, Slow(corpus, MFCC), Batching(8), threads=2, prefetch=2).batches(range(3))
    assert list(next(batches).indices) == list(range(8))
    is_closing.set()
    batches.close()
    assert len(begun) <= len(begun_when_dropped) + 2  # each thread may just be beginning one


def test_batches_of_a_shuffled_epoch_hold_what_its_seed_and_number_say(corpus: Corpus) -> None:
    asked: list[tuple[int, int]] = []

    class Noted(OnTheFly):
        def features(self, index: int, epoch: int = 0) -> Features:
            asked.append((epoch, index))
            return super().features(index, epoch)

    feeder = Feeder(corpus, Noted(corpus, MFCC), Batching(5, seed=3))
    for epoch in (0, 1, 2):
        batches = list(feeder.batches(range(len(feeder)), epoch))
        assert [list(batch.indices) for batch in batches] == [list(batch) for batch in feeder.cut.of_epoch(epoch)]
        assert [batch.lengths.tolist() for batch in batches] == [
            [corpus[index].frames for index in batch.indices] for batch in batches
        ]
    assert sorted(asked) == [(epoch, index) for epoch in (0, 1, 2) for index in range(len(corpus))]
