"""Segments as FLAC."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import soundfile

from deepspeech.util.containers.flac import write_flac


@pytest.mark.filterwarnings("error::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs Linux's full device")
def test_a_full_disk_is_one_error_without_tracebacks(tmp_path: Path) -> None:
    path = tmp_path / "a.wav"
    soundfile.write(path, np.random.default_rng(1).uniform(-0.5, 0.5, 1000), 16000)
    with (
        soundfile.SoundFile(path) as sound,
        pytest.raises(OSError, match="No space left"),
        Path("/dev/full").open("wb") as full,
    ):
        write_flac(sound, range(1000), full)
