"""Voices with another pitch and other formants, measured on a vowel of pulses."""

import numpy as np
import pytest
from augmenting import RATE, WHITE, Array, augmented
from scipy.ndimage import gaussian_filter1d
from scipy.signal import lfilter

PITCH, FORMANTS = 100, (600.0, 1300.0, 2600.0)
"""The formants of a vowel, in Hz."""


@pytest.mark.parametrize(("pitch", "formants"), [(1.0, 0.85), (1.0, 1.2), (1.3, 1.0), (0.75, 1.15)])
def test_a_voice_has_the_pitch_and_the_formants_that_were_asked_for(pitch: float, formants: float) -> None:
    changed = augmented(f"voice[pitch={pitch},formants={formants}]", vowel())
    assert harmonic(changed) == pytest.approx(PITCH * pitch, rel=0.02)
    assert formants_of(changed) == pytest.approx(formants, abs=0.04)
    assert abs(changed).max() == pytest.approx(abs(vowel()).max())


def test_a_voice_whose_factors_are_1_is_as_it_was() -> None:
    for samples in (vowel(), WHITE):
        np.testing.assert_allclose(augmented("voice[pitch=1,formants=1]", samples), samples, atol=1e-5)


def vowel() -> Array:
    """Return a second of pulses of PITCH that resonate at FORMANTS."""
    samples: Array = np.zeros(RATE)
    samples[:: RATE // PITCH] = 1
    for formant in FORMANTS:
        radius = np.exp(-np.pi * 80 / RATE)
        samples = np.asarray(lfilter([1], [1, -2 * radius * np.cos(2 * np.pi * formant / RATE), radius**2], samples))
    loudest = abs(samples).max()
    return np.float32(0.3 / loudest) * samples.astype(np.float32)


def harmonic(samples: Array) -> float:
    """Return the fundamental frequency in Hz, from 50 to 300, of the samples' middle."""
    middle = samples[len(samples) // 2 :][:2048]
    correlation = np.correlate(middle, middle, "full")[len(middle) - 1 :]
    shortest = RATE // 300
    return RATE / (shortest + float(correlation[shortest : RATE // 50].argmax()))


def formants_of(samples: Array) -> float:
    """Return the ratio of a vowel's formants, in a second of samples, to FORMANTS."""
    hertz, factors = np.arange(300, 4000), np.linspace(0.7, 1.4, 71)
    before, after = (np.log(gaussian_filter1d(np.abs(np.fft.rfft(each)) ** 2, PITCH)) for each in (vowel(), samples))
    differences = [after[hertz] - np.interp(hertz / factor, range(len(before)), before) for factor in factors]
    return float(factors[np.argmin(np.std(differences, axis=1))])
