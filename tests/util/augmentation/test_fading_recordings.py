"""Recordings of floats may fade out to numbers that are too small to divide by."""

import numpy as np
import pytest
from augmenting import RATE, TIME, WHITE, augmented

from deepspeech.util.augmentation.augmentation import CHOICES, parameters_of
from deepspeech.util.augmentation.registry import KINDS, parse_augmentation
from deepspeech.util.augmentation.spectrogram import spectrogram

FADING = WHITE * np.exp(-60 * TIME).astype(np.float32)


@pytest.mark.parametrize("kind", sorted(KINDS.keys() - {"overlay"}))
def test_a_recording_that_fades_out_to_the_smallest_floats_stays_finite(kind: str) -> None:
    assert 0 < abs(FADING[FADING != 0]).min() < 1e-38
    domains = {each.name: each.metadata.get(CHOICES) for each in parameters_of(KINDS[kind])}.get("domain")
    for written in [f"{kind}[domain={domain}]" for domain in domains or ()] or [kind]:
        of_spectrogram = parse_augmentation(written).domain == "spectrogram"
        array = spectrogram(FADING, RATE) if of_spectrogram else FADING
        if parse_augmentation(written).domain != "features":
            assert np.isfinite(augmented(written, array)).all(), written
