"""Augmented features depend only on the seed, the epoch and the utterance, not on the place and order of requests."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import numpy as np
import pytest
from corpora import RATE, TinyCorpus, write_alphabet, write_csv, write_tiny_corpus, write_wav

from deepspeech.util.audio import Samples
from deepspeech.util.augmentation import recordings
from deepspeech.util.augmentation.checked_sources import checked_sources
from deepspeech.util.augmentation.recordings import Recording, Recordings
from deepspeech.util.augmentation.registry import parse_augmentations
from deepspeech.util.augmentation.source import AugmentationPlan, Augmented
from deepspeech.util.batching.batches import Batching
from deepspeech.util.corpus import Corpus, read_corpus
from deepspeech.util.errors import AudioError, AugmentationError, FlagError
from deepspeech.util.feature_cache import FeatureCache, open_feature_cache
from deepspeech.util.features import FeatureOptions, Features, front_end
from deepspeech.util.feeding import Batch, FeatureSource, Feeder, OnTheFly
from deepspeech.util.text import Alphabet, outputs_needed

MFCC = front_end(FeatureOptions(feature_type="psf"))

ALL = (
    *(
        "speed[p=0.7,factor=1~0.15]",
        "tempo[p=0.3,factor=1~0.2]",
        "pitch[p=0.3]",
        "voice[p=0.3]",
        "noise[p=0.7,snr=5:20~5]",
        "volume[p=0.3]",
    ),
    *("band[p=0.2]", "room[p=0.2]", "codec[p=0.1,encoding=ulaw]", "drop_samples[p=0.3]", "shift[p=0.3]"),
    *("frequency_mask[p=0.3]", "time_mask[p=0.3,size=50]", "time_mask[p=0.5,domain=features,size=60]"),
    *("frequency_mask[p=0.5,domain=features]", "warp[p=0.5]", "mix_channels[p=0.3]", "add[p=0.3,stddev=0.5]"),
)


@pytest.fixture(scope="module")
def corpus(tiny_corpus: TinyCorpus) -> Corpus:
    return read_corpus([tiny_corpus.train], Alphabet.load(tiny_corpus.alphabet), MFCC)


@pytest.fixture(scope="module")
def cache(corpus: Corpus, tmp_path_factory: pytest.TempPathFactory) -> Iterator[FeatureCache]:
    with open_feature_cache(tmp_path_factory.mktemp("cache") / "train.h5", corpus, MFCC, progress=False) as opened:
        yield opened


def augmented(
    corpus: Corpus, *written: str, seed: int = 1, epochs: int = 10, unchanged: FeatureSource | None = None
) -> Augmented:
    plan = AugmentationPlan(parse_augmentations(written or ALL), seed, epochs)
    return Augmented(corpus, MFCC, unchanged or OnTheFly(corpus, MFCC), plan)


def fed(source: FeatureSource, corpus: Corpus, epoch: int, threads: int) -> list[Batch]:
    feeder = Feeder(corpus, source, Batching(5), threads=threads)
    return list(feeder.batches(range(len(feeder)), epoch))


def test_one_thread_and_four_make_the_same_batches_and_so_does_another_process_in_another_order(corpus: Corpus) -> None:
    source = augmented(corpus)
    one, four = fed(source, corpus, 3, 1), fed(source, corpus, 3, 4)
    again = augmented(corpus)
    backwards = {index: again.features(index, 3) for index in reversed(range(len(corpus)))}
    for batch, other in zip(one, four, strict=True):
        np.testing.assert_array_equal(batch.features, other.features)
        np.testing.assert_array_equal(batch.lengths, other.lengths)
        for row, index in enumerate(batch.indices):
            assert batch.lengths[row] == len(backwards[index])
            np.testing.assert_array_equal(batch.features[row, : batch.lengths[row]], backwards[index])
            assert not batch.features[row, batch.lengths[row] :].any()


def test_each_epoch_each_utterance_and_each_seed_is_augmented_differently(corpus: Corpus) -> None:
    source = augmented(corpus, "speed[factor=1~0.2]")
    lengths = {len(source.samples(5, epoch)) for epoch in range(8)}
    assert len(lengths) > 5
    changes = {len(source.samples(index, 0)) / corpus[index].samples for index in range(8)}
    assert len({round(change, 3) for change in changes}) > 5
    other = augmented(corpus, "speed[factor=1~0.2]", seed=2)
    assert len(other.samples(5, 0)) != len(source.samples(5, 0))


def test_one_more_augmentation_leaves_the_numbers_of_those_before_as_they_are(corpus: Corpus) -> None:
    shorter, longer = augmented(corpus, "speed[p=0.5]"), augmented(corpus, "speed[p=0.5]", "shift[p=0.5]")
    for index in range(len(corpus)):
        assert len(shorter.samples(index, 2)) == len(longer.samples(index, 2))


def test_an_augmentation_strikes_with_its_probability(corpus: Corpus) -> None:
    source = augmented(corpus, "volume[p=0.25,dbfs=-30]")
    struck = [
        not np.array_equal(source.samples(index, epoch), OnTheFly(corpus, MFCC).samples(index))
        for index in range(len(corpus))
        for epoch in range(40)
    ]
    assert np.mean(struck) == pytest.approx(0.25, abs=0.05)


def test_features_whose_samples_stay_as_they_are_come_from_the_cache(corpus: Corpus, cache: FeatureCache) -> None:
    class Counted:
        asked = 0

        def features(self, index: int, epoch: int = 0) -> Features:
            self.asked += 1
            return cache.features(index, epoch)

    counted = Counted()
    masked = augmented(corpus, "time_mask[domain=features]", unchanged=counted)
    plain = augmented(corpus, "time_mask[domain=features]")
    for index in range(len(corpus)):
        np.testing.assert_array_equal(masked.features(index, 1), plain.features(index, 1))
    assert counted.asked == len(corpus)
    louder = augmented(corpus, "volume", unchanged=counted)
    assert not np.array_equal(louder.features(3), cache.features(3))
    assert counted.asked == len(corpus)
    np.testing.assert_array_equal(cache.features(3), OnTheFly(corpus, MFCC).features(3))


def test_ranges_reach_their_end_in_the_last_epoch(corpus: Corpus) -> None:
    source = augmented(corpus, "speed[factor=1:2]", epochs=5)
    ratios = [corpus[20].samples / len(source.samples(20, epoch)) for epoch in range(7)]
    assert ratios == pytest.approx([1, 1.25, 1.5, 1.75, 2, 2, 2], rel=1e-3)
    assert [AugmentationPlan((), 1, epochs).clock(0) for epochs in (0, 1, 2)] == [1, 0, 0]


def test_a_change_that_would_leave_no_samples_is_left_out(tmp_path: Path) -> None:
    """The click is trimmed to its one sample, which cannot be played faster."""
    alphabet = write_alphabet(tmp_path / "alphabet.txt", "a")
    click = write_wav(tmp_path / "click.wav", 0.5 * np.eye(1, 8000, 4000)[0])
    corpus = read_corpus([write_csv(tmp_path / "train.csv", [(click, "a")])], Alphabet.load(alphabet), MFCC)
    source = augmented(corpus, "trim", "speed[factor=3]", "equalizer[gain=6]")
    assert len(source.samples(0)) == len(source.features(0)) == 1


def test_no_utterance_becomes_too_short_for_its_transcript(tmp_path: Path) -> None:
    """Four frames per character, at twice the speed; the other utterance has a spare frame."""
    alphabet = write_alphabet(tmp_path / "alphabet.txt", "ab")
    noise = np.random.default_rng(1).normal(0, 0.1, 16_000)
    rows = [
        (write_wav(tmp_path / "wav/tight.wav", noise[:3500]), "ababababa"),
        (write_wav(tmp_path / "wav/loose.wav", noise), "aabb"),
    ]
    tight = read_corpus([write_csv(tmp_path / "train.csv", rows)], Alphabet.load(alphabet), MFCC)
    source = augmented(tight, "volume[dbfs=-20]", "speed[factor=2]", "drop_samples[n=9,size=10]", "tempo[factor=1.5]")
    for index, utterance in enumerate(tight):
        for epoch in range(5):
            assert len(source.features(index, epoch)) >= outputs_needed(utterance.labels)
    assert abs(source.samples(0)).max() < 0.1  # augmentations that do not shorten it are applied all the same
    assert len(source.samples(1)) < 16_000 / 2
    plan = AugmentationPlan(parse_augmentations(["speed[factor=4]"]), 1, 1)
    assert len(Augmented(tight, MFCC, OnTheFly(tight, MFCC), plan).samples(1)) == 4000
    subsampled = Augmented(tight, MFCC, OnTheFly(tight, MFCC), plan, output_count=lambda frames: frames // 4)
    assert len(subsampled.samples(1)) == 16_000


def test_a_recording_that_is_gone_is_named_with_its_line(tmp_path: Path) -> None:
    files = write_tiny_corpus(tmp_path)
    corpus = read_corpus([files.train], Alphabet.load(files.alphabet), MFCC)
    Path(corpus[3].path).unlink()
    with pytest.raises(AudioError, match=r"No such file or directory \(.*train.csv:\d+\)"):
        augmented(corpus, "volume").features(3)


def test_noise_that_is_gone_is_named_with_its_flag_and_leaves_no_utterance_out(corpus: Corpus, tmp_path: Path) -> None:
    noise = write_wav(tmp_path / "noise.wav", np.random.default_rng(1).normal(0, 0.1, 4000))
    plan = AugmentationPlan(parse_augmentations([f"overlay[source={tmp_path}]"]), 1, 1)
    sources = checked_sources(plan.augmentations, progress=False)
    source = Augmented(corpus, MFCC, OnTheFly(corpus, MFCC), plan, sources=sources)
    noise.unlink()
    with pytest.raises(AugmentationError, match=r"^--augment: source=.*: .*noise\.wav: No such file or directory$"):
        Feeder(corpus, source, Batching(5), skip_unreadable=True).batch(0)


def test_of_a_part_in_a_list_of_noise_nothing_else_is_mixed_in(corpus: Corpus, tmp_path: Path) -> None:
    noise = np.concatenate([np.zeros(RATE), np.sign(np.sin(np.arange(1, RATE + 1))), np.zeros(RATE)]).astype(np.float32)
    write_wav(tmp_path / "talk.wav", noise)
    (tmp_path / "noise.csv").write_text("wav_filename,start,duration\ntalk.wav,1,1\n")
    plan = AugmentationPlan(parse_augmentations([f"overlay[source={tmp_path / 'noise.csv'},snr=-60]"]), 1, 1)
    sources = checked_sources(plan.augmentations, progress=False)
    source = Augmented(corpus, MFCC, OnTheFly(corpus, MFCC), plan, sources=sources)
    for index in range(len(corpus)):
        assert np.abs(source.samples(index)).min() > 0.05  # it is as loud all the time
    for part, wrong in (("2.2,0.5", "silent: all its samples"), ("5,1", "a part beyond the end of its recording")):
        (tmp_path / "noise.csv").write_text(f"wav_filename,start,duration\ntalk.wav,{part}\n")
        with pytest.raises(FlagError, match=rf"1 of 1 recordings cannot be used: {tmp_path / 'talk.wav'}: {wrong}"):
            checked_sources(plan.augmentations, progress=False)


@pytest.mark.parametrize("augmentation", ["overlay", "room"])
def test_recordings_of_a_source_are_checked_before_and_bad_ones_left_out_once_if_asked(
    augmentation: str, corpus: Corpus, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    noise = np.random.default_rng(1).normal(0, 0.1, 4000)
    good = [write_wav(tmp_path / f"good-{index}.wav", noise) for index in range(2)]
    (tmp_path / "cut.wav").write_bytes(good[0].read_bytes()[:-400])
    write_wav(tmp_path / "silent.wav", np.zeros(4000))
    plan = AugmentationPlan(parse_augmentations([f"{augmentation}[source={tmp_path}]"] * 2), 1, 1)
    listed = rf"--augment: source={tmp_path}: 2 of 4 recordings cannot be used: .*cut\.wav: .*silent\.wav: silent"
    with pytest.raises(FlagError, match=rf"^{listed}[^\n]*--skip_bad_rows$"):
        checked_sources(plan.augmentations, progress=False)
    sources = checked_sources(plan.augmentations, skip_bad=True, progress=False)
    assert sources == {str(tmp_path): tuple(map(Recording, good))}
    assert [message for message in caplog.messages if "Left out" in message] == [caplog.messages[0]]
    source = Augmented(corpus, MFCC, OnTheFly(corpus, MFCC), plan, sources=sources)
    assert all(len(batch.utterances) for batch in fed(source, corpus, 0, 1))
    for path in good:
        path.unlink()
    with pytest.raises(FlagError, match=r"2 of 2 recordings cannot be used: [^\n]*; correct or remove them$"):
        checked_sources(plan.augmentations, skip_bad=True, progress=False)


def test_a_recording_that_several_threads_decode_at_once_takes_its_memory_once(monkeypatch: pytest.MonkeyPatch) -> None:
    decoded, at_once = list[int](), Barrier(2, timeout=60)

    def decode(name: int) -> Samples:
        decoded.append(name)
        if name == 0:
            at_once.wait()
        return np.zeros(100, np.float32)

    monkeypatch.setattr(recordings, "MEMORY", 2 * 100 * np.dtype(np.float32).itemsize)
    kept = Recordings(RATE)
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda name: kept.decoded(name, lambda: decode(name)), (0, 0)))
    for _ in range(2):
        kept.decoded(1, lambda: decode(1))
    assert decoded == [0, 0, 1]
