"""Kaldi's log-mel energies, compared with direct calls of the library, and with Kaldi's formula in NumPy."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deepspeech.cli import flags
from deepspeech.errors import FlagError
from deepspeech.util.errors import FeatureError
from deepspeech.util.features import FeatureOptions, front_end, served_front_end

Array = npt.NDArray[np.float32]
OPTIONS = FeatureOptions(feature_type="fbank")
RANDOM = np.random.default_rng(3)
SPEECH = (RANDOM.normal(0, 0.1, 20_000) * np.abs(np.sin(np.arange(20_000) / 2500))).astype(np.float32)


def kaldis_formula(samples: Array, rate: int, filters: int) -> npt.NDArray[np.float64]:
    """Return log-mel energies [frames, filters]: Kaldi's `feature-window.cc` and `mel-computations.cc` in NumPy."""
    window, step = rate * 25 // 1000, rate // 100
    frames = (len(samples) + step // 2) // step
    places = np.arange(frames)[:, None] * step + step // 2 - window // 2 + np.arange(window)
    places = np.where(places < 0, -places - 1, places)
    places = np.where(places >= len(samples), 2 * len(samples) - 1 - places, places)
    cut = samples.astype(np.float64)[places]
    cut -= cut.mean(axis=1, keepdims=True)
    cut -= 0.97 * np.concatenate([cut[:, :1], cut[:, :-1]], axis=1)
    cut *= (0.5 - 0.5 * np.cos(2 * np.pi * np.arange(window) / (window - 1))) ** 0.85
    size = 1 << (window - 1).bit_length()
    power = np.abs(np.fft.rfft(cut, size)[:, : size // 2]) ** 2
    mel = 1127 * np.log(1 + np.arange(size // 2) * rate / size / 700)
    low, high = 1127 * np.log(1 + np.array([20, rate / 2 - 400]) / 700)
    width = (high - low) / (filters + 1)
    centres = low + width * np.arange(1, filters + 1)
    weights = np.maximum(0, 1 - np.abs(mel[:, None] - centres) / width)
    energies: npt.NDArray[np.float64] = np.log(np.maximum(power @ weights, 2.0**-23))
    return energies


def test_the_sizes_are_kaldis_unless_others_are_chosen() -> None:
    assert (OPTIONS.window_ms, OPTIONS.step_ms, OPTIONS.coefficients) == (25, 10, 80)
    options = flags.parse(["--test_files=a.csv", "--feature_type=fbank"])
    assert options is not None and options.features == OPTIONS
    options = flags.parse(["--test_files=a.csv", "--feature_type=fbank", "--feature_win_len=32"])
    assert options is not None and (options.features.window_ms, options.features.step_ms) == (32, 10)


@pytest.mark.parametrize(("rate", "filters"), [(16_000, 80), (16_000, 23), (8_000, 40)])
def test_energies_are_those_of_kaldis_formula(rate: int, filters: int) -> None:
    options = FeatureOptions(rate, "fbank", coefficients=filters)
    np.testing.assert_allclose(
        front_end(options).extract(SPEECH), kaldis_formula(SPEECH, rate, filters), rtol=0, atol=1e-3
    )


def test_energies_are_the_librarys_with_the_settings_of_sherpa_onnx() -> None:
    import kaldi_native_fbank

    wanted = kaldi_native_fbank.FbankOptions()
    wanted.frame_opts.dither = 0
    wanted.frame_opts.snip_edges = False
    wanted.frame_opts.samp_freq = 16_000
    wanted.mel_opts.num_bins = 80
    wanted.mel_opts.high_freq = -400
    computer = kaldi_native_fbank.OnlineFbank(wanted)
    computer.accept_waveform(16_000, SPEECH.tolist())
    computer.input_finished()
    expected = np.array([computer.get_frame(index) for index in range(computer.num_frames_ready)])
    np.testing.assert_array_equal(front_end(OPTIONS).extract(SPEECH), expected)


@settings(max_examples=40)
@given(st.integers(0, 5000), st.lists(st.integers(0, 900), max_size=12))
def test_a_stream_has_the_frames_of_the_whole_wherever_it_is_cut(length: int, pieces: list[int]) -> None:
    signal = SPEECH[:length]
    stream = served_front_end(OPTIONS).stream()
    parts = [stream.feed(piece) for piece in np.split(signal, np.minimum(np.cumsum(pieces, dtype=int), length))]
    whole = front_end(OPTIONS).extract(signal)
    np.testing.assert_array_equal(np.concatenate([*parts, stream.finish()]), whole)
    assert len(whole) == front_end(OPTIONS).frame_count(length)


def test_more_filters_than_fit_are_refused_in_one_line_before_anything_is_done(tmp_path: Path) -> None:
    with pytest.raises(FeatureError, match="80 mel filters do not fit into windows of 25 ms at 4000 Hz"):
        front_end(FeatureOptions(4000, "fbank"))
    with pytest.raises(FlagError, match="--audio_sample_rate=4000, --feature_type=fbank: 80 mel filters do not fit"):
        flags.parse([f"--test_files={tmp_path}/a.csv", "--feature_type=fbank", "--audio_sample_rate=4000"])


def test_without_its_library_the_package_to_install_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "kaldi_native_fbank", None)
    with pytest.raises(FeatureError, match="need the package kaldi-native-fbank; install it"):
        front_end(OPTIONS)


def test_features_of_python_speech_features_are_not_served() -> None:
    with pytest.raises(FeatureError, match="psf are not computed where models are served"):
        served_front_end(FeatureOptions(feature_type="psf"))
