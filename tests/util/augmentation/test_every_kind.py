"""What every kind of augmentation does, whatever it changes."""

from pathlib import Path

import numpy as np
import pytest
import soundfile
from augmenting import RATE, TONE, WHITE, augmented

from deepspeech.util.augmentation.registry import KINDS, parse_augmentation
from deepspeech.util.augmentation.spectrogram import spectrogram

FEATURES = np.random.default_rng(2).normal(3, 1, (150, 26)).astype(np.float32)


def of_kind(kind: str, folder: Path) -> str:
    """Return an augmentation of a kind as it is written, with recordings if it needs some."""
    soundfile.write(folder / "a.wav", WHITE[:100], RATE)
    return f"{kind}[source={folder}]" if kind == "overlay" else kind


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_draws_all_its_random_numbers_from_the_occasion(kind: str, tmp_path: Path) -> None:
    written = of_kind(kind, tmp_path)
    arrays = {"signal": TONE, "spectrogram": spectrogram(TONE, RATE), "features": FEATURES}
    array = arrays[parse_augmentation(written).domain]
    np.testing.assert_array_equal(augmented(written, array, 1), augmented(written, array, 1))


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_can_change_the_shortest_arrays(kind: str, tmp_path: Path) -> None:
    written = of_kind(kind, tmp_path)
    domain = parse_augmentation(written).domain
    arrays = {"signal": WHITE[:1], "spectrogram": spectrogram(WHITE[:1], RATE)[:1], "features": FEATURES[:1, :1]}
    for seed in range(5):
        assert np.isfinite(augmented(written, arrays[domain], seed)).all()
