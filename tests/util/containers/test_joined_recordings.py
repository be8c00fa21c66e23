"""Files with several recordings in a row, of which libsndfile and ffmpeg would read only the first."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import soundfile

from deepspeech.util.audio import inspect_audio, read_audio
from deepspeech.util.errors import AudioError

ID3 = b"ID3\x03\0\0\0\0\1\0" + bytes(128)


@pytest.mark.parametrize(("form", "subtype"), [("OGG", "OPUS"), ("OGG", "VORBIS"), ("MP3", "MPEG_LAYER_III")])
def test_recordings_that_are_joined_are_refused_and_not_read_in_part(tmp_path: Path, form: str, subtype: str) -> None:
    parts = []
    for seed in (1, 2):
        samples = np.random.default_rng(seed).normal(0, 0.1, 32_000)
        soundfile.write(tmp_path / "part", samples, 16_000, format=form, subtype=subtype)
        parts.append((tmp_path / "part").read_bytes())
    path = tmp_path / "joined"
    tags = [b"", ID3] if form == "MP3" else [b""]
    for tag in tags:
        path.write_bytes(tag + parts[0] + tag + parts[1])
        for read in (inspect_audio, lambda path: read_audio(path, 16_000)):
            with pytest.raises(AudioError, match="several recordings one after the other, of which only the first"):
                read(path)
        path.write_bytes(tag + parts[0] + (b"TAG" + b"\xff" * 5000 if form == "MP3" else b""))
        assert inspect_audio(path).samples == len(read_audio(path, 16_000)) == 32_000


@pytest.mark.parametrize("subtype", ["PCM_16", "FLOAT"])
@pytest.mark.parametrize("form", ["FLAC", "CAF", "AU", "NIST", "W64", "RF64"])
def test_recordings_without_losses_that_are_joined_are_refused(tmp_path: Path, form: str, subtype: str) -> None:
    if subtype not in soundfile.available_subtypes(form):
        pytest.skip("there is no such file")
    path = tmp_path / "joined"
    samples = np.random.default_rng(1).normal(0, 0.1, 8001)
    soundfile.write(path, samples, 16_000, format=form, subtype=subtype)
    assert inspect_audio(path).samples == len(read_audio(path, 16_000)) == 8001
    path.write_bytes(2 * path.read_bytes())
    for read in (inspect_audio, lambda path: read_audio(path, 16_000)):
        with pytest.raises(AudioError, match="several recordings one after the other, of which only the first"):
            read(path)


def test_flacs_that_are_joined_are_found_wherever_the_second_begins(tmp_path: Path) -> None:
    path, block = tmp_path / "joined.flac", 1 << 20
    soundfile.write(path, np.zeros(8000), 16_000)
    flac = path.read_bytes()
    path.write_bytes(2 * ID3 + flac)  # a tag is no recording
    assert inspect_audio(path).samples == len(read_audio(path, 16_000)) == 8000
    for begin in (block - 7, block - 1, block, block + 1, block + 2):
        path.write_bytes(flac + bytes(begin - len(flac)) + flac)
        with pytest.raises(AudioError, match="several recordings"):
            inspect_audio(path)
