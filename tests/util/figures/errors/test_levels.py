from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from corpora import write_wav

from deepspeech.util.figures.errors.levels import LOWEST_DECIBELS, levels, levels_of_file

RATE = 16_000


def speech_in_noise(signal: float, noise: float) -> npt.NDArray[np.float32]:
    """Return four seconds, float32 [samples], of a tone every other half second in noise; both are given in dB."""
    random = np.random.default_rng(4)
    time = np.arange(4 * RATE) / RATE
    tone = np.sqrt(2) * 10 ** (signal / 20) * np.sin(2 * np.pi * 440 * time) * (time % 1 < 0.5)
    samples = tone + random.normal(0, 10 ** (noise / 20), len(time))
    return np.asarray(samples, np.float32)


def test_loudness_is_the_root_mean_square() -> None:
    assert levels(np.full(RATE, 0.5, np.float32), RATE).loudness == pytest.approx(20 * np.log10(0.5), abs=0.01)
    assert levels(speech_in_noise(-20, -80), RATE).loudness == pytest.approx(-23, abs=0.1)


@pytest.mark.parametrize("ratio", [10, 20, 40])
def test_the_signal_to_noise_ratio_of_a_tone_with_pauses_is_found(ratio: int) -> None:
    assert levels(speech_in_noise(-20, -20 - ratio), RATE).signal_to_noise == pytest.approx(ratio, abs=1.5)


def test_silence_and_a_single_sample_have_levels() -> None:
    assert levels(np.zeros(RATE, np.float32), RATE).loudness == LOWEST_DECIBELS
    assert levels(np.ones(1, np.float32), RATE).signal_to_noise == 0


@pytest.mark.parametrize("noise", [-100, -60, -45])
def test_silence_is_what_lies_before_and_after_the_speech(noise: int) -> None:
    speech = speech_in_noise(-20, noise)  # it ends with half a second of noise
    before = speech_in_noise(-200, noise)[: RATE // 4]
    assert levels(np.concatenate([before, speech]), RATE).silence_around == pytest.approx(0.75, abs=0.05)
    assert levels(speech[: RATE // 2], RATE).silence_around == 0


def test_all_of_digital_silence_and_of_a_single_sample_is_as_loud_as_the_rest() -> None:
    assert levels(np.zeros(RATE, np.float32), RATE).silence_around == 0
    assert levels(np.ones(1, np.float32), RATE).silence_around == 0


def test_a_recording_that_cannot_be_read_has_none(tmp_path: Path) -> None:
    assert levels_of_file(str(tmp_path / "missing.wav")) is None
    written = levels_of_file(str(write_wav(tmp_path / "a.wav", np.full(800, 0.1, np.float32))))
    assert written is not None
    assert written.loudness == pytest.approx(-20, abs=0.1)
