import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepspeech.util.audio import Samples
from deepspeech.util.errors import FeatureError
from deepspeech.util.features import (
    FRONT_ENDS,
    FeatureOptions,
    Features,
    FrontEnd,
    exportable_front_ends,
    front_end,
    served_front_end,
)

SAMPLES = (np.random.default_rng(1).normal(0, 0.1, 16000) * np.hanning(16000)).astype(np.float32)


@pytest.fixture(scope="module", params=list(FRONT_ENDS))
def mfcc(request: pytest.FixtureRequest) -> FrontEnd:
    return front_end(FeatureOptions(feature_type=request.param))


@pytest.mark.parametrize("samples", [1, 319, 320, 511, 512, 513, 831, 832, 833, 1000, 15999, 16000])
def test_the_frame_count_is_known_from_the_sample_count(mfcc: FrontEnd, samples: int) -> None:
    features = mfcc.extract(SAMPLES[:samples])
    assert features.shape == (mfcc.frame_count(samples), mfcc.options.coefficients)
    assert features.dtype == np.float32


@given(st.integers(1, 4000), st.sampled_from([8000, 16000, 44100]), st.sampled_from(list(FRONT_ENDS)))
def test_a_longer_recording_never_has_fewer_frames(samples: int, rate: int, feature_type: str) -> None:
    options = FeatureOptions(sample_rate=rate, feature_type=feature_type, window_ms=30)
    count = front_end(options).frame_count
    assert 0 <= count(samples) <= count(samples + 1) <= count(samples) + 1
    assert count(samples + options.step * 5) == count(samples) + 5 or samples < options.window


def test_audio_ops_are_tensorflows_ops_bit_for_bit() -> None:
    import tensorflow as tf

    spectrogram = tf.raw_ops.AudioSpectrogram(
        input=SAMPLES[:, None], window_size=512, stride=320, magnitude_squared=True
    )
    expected = tf.raw_ops.Mfcc(
        spectrogram=spectrogram, sample_rate=16000, upper_frequency_limit=8000, dct_coefficient_count=26
    )
    np.testing.assert_array_equal(front_end(FeatureOptions()).extract(SAMPLES), np.asarray(expected)[0])


def test_psf_are_the_packages_features_of_sixteen_bit_samples() -> None:
    from python_speech_features import mfcc

    integers = (SAMPLES * 32768).astype(np.int16)
    expected = mfcc(integers, 16000, winlen=0.032, winstep=0.02, numcep=26, winfunc=np.hamming)
    features = front_end(FeatureOptions(feature_type="psf")).extract((integers / 32768).astype(np.float32))
    np.testing.assert_allclose(features, expected, rtol=1e-5, atol=1e-5)


def test_silence_has_finite_features(mfcc: FrontEnd) -> None:
    assert np.isfinite(mfcc.extract(np.zeros(2000, np.float32))).all()


def test_no_two_front_ends_are_the_same() -> None:
    features = [front_end(FeatureOptions(feature_type=name)).extract(SAMPLES)[:40] for name in FRONT_ENDS]
    for first, second in combinations(features, 2):
        assert first.shape != second.shape or not np.allclose(first, second, atol=1)


def test_threads_get_what_one_thread_gets(mfcc: FrontEnd) -> None:
    recordings = [SAMPLES[start : start + 3000] for start in range(0, 12000, 400)]
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(mfcc.extract, recordings))
    for recording, features in zip(recordings, together, strict=True):
        np.testing.assert_array_equal(features, mfcc.extract(recording))


@pytest.mark.parametrize("feature_type", exportable_front_ends())
@pytest.mark.parametrize("length", [1, 399, 400, 512, 4321, 16000])
def test_what_is_served_are_the_features_of_the_training_wherever_a_stream_is_cut(
    feature_type: str, length: int
) -> None:
    options, samples = FeatureOptions(feature_type=feature_type), SAMPLES[:length]
    ends = sorted({0, length, *np.random.default_rng(length).integers(0, length + 1, 9).tolist()})
    streamed, whole = streamed_features(options, samples, ends), streamed_features(options, samples, [0, length])
    np.testing.assert_allclose(streamed, whole, rtol=1e-4, atol=1e-4)
    trained = front_end(options).extract(samples)
    np.testing.assert_allclose(served_front_end(options)(samples), trained, rtol=1e-3, atol=1e-3)
    assert len(trained) <= len(whole) <= len(trained) + 1  # a client of DeepSpeech fills up the last window
    np.testing.assert_allclose(whole[: len(trained)], trained, rtol=1e-3, atol=1e-3)


def streamed_features(options: FeatureOptions, samples: Samples, ends: Sequence[int]) -> Features:
    """Return the frames of samples that are fed in pieces, each from an end to the next."""
    stream = served_front_end(options).stream()
    parts = [stream.feed(samples[start:end]) for start, end in pairwise(ends)]
    return np.concatenate([*parts, stream.finish()])


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"feature_type": "mel"}, "no feature type 'mel'; there are audio_ops, psf"),
        ({"sample_rate": 22050}, "at 22050 Hz, windows of 32 ms every 20 ms are not whole numbers of samples"),
        ({"sample_rate": 0}, "positive"),
        ({"step_ms": -1}, "positive"),
        ({"window_ms": 10}, "windows of 10 ms every 20 ms leave out what is between them"),
    ],
)
def test_settings_that_cannot_work_are_refused(settings: dict[str, int], message: str) -> None:
    with pytest.raises(FeatureError, match=message):
        FeatureOptions(**settings)  # type: ignore[arg-type]


def test_tensorflow_is_not_imported_before_it_is_needed() -> None:
    code = """
import sys
from deepspeech.util import corpus, feature_cache, feeding
from deepspeech.util.features import FeatureOptions, front_end
assert front_end(FeatureOptions()).frame_count(16000) == 49
assert "tensorflow" not in sys.modules and "scipy" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True)
