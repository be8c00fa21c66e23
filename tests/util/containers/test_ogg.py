"""Damaged ogg files, whose bad pages libsndfile skips or replaces without an error."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
import soundfile

from deepspeech.util.audio import inspect_audio, read_audio, read_audio_blocks
from deepspeech.util.errors import AudioError
from deepspeech.util.parts import Part


def pages(content: bytes) -> list[bytes]:
    """Return the pages of an ogg file."""
    begins = [place for place in range(len(content)) if content.startswith(b"OggS\0", place)]
    return [content[begin:end] for begin, end in zip(begins, [*begins[1:], len(content)], strict=True)]


@pytest.fixture(params=["OPUS", "VORBIS"])
def whole(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """Write seven seconds of noise."""
    samples = np.random.default_rng(0).normal(0, 0.2, 112_000)
    soundfile.write(tmp_path / "a.ogg", samples, 16_000, format="OGG", subtype=request.param)
    return tmp_path / "a.ogg"


def refused(path: Path, reason: str) -> None:
    """Assert that nothing reads all of a file."""
    for read in (inspect_audio, lambda path: read_audio(path, 16_000), lambda path: [*read_audio_blocks(path, 16_000)]):
        with pytest.raises(AudioError, match=reason):
            read(path)


@pytest.mark.parametrize("damage", [b"\x55", bytes(3000), np.random.default_rng(1).bytes(3000)])
def test_an_ogg_that_is_damaged_in_its_middle_is_not_read_as_if_it_were_whole(whole: Path, damage: bytes) -> None:
    content = whole.read_bytes()
    assert inspect_audio(whole).samples == 112_000
    middle = len(content) // 2
    whole.write_bytes(content[:middle] + damage + content[middle + len(damage) :])
    refused(whole, "damaged: a page has another checksum")


def test_an_ogg_of_which_pages_are_lost_is_not_read_as_if_it_were_whole(whole: Path) -> None:
    every = pages(whole.read_bytes())
    assert len(every) > 6
    whole.write_bytes(b"".join(every[:4] + every[5:]))
    refused(whole, "damaged: pages are missing")
    whole.write_bytes(b"".join([*every[:4], bytes(len(every[4])), *every[5:]]))
    refused(whole, "damaged: pages are missing")


@pytest.mark.parametrize("seconds", [1.3, 3.3, 4.1])
def test_a_part_that_begins_in_the_last_page_of_an_ogg_begins_at_its_sample(tmp_path: Path, seconds: float) -> None:
    path, rate = tmp_path / "a.ogg", 8000
    noise = np.random.default_rng(0).normal(0, 0.2, int(seconds * rate))
    soundfile.write(path, noise, rate, format="OGG", subtype="VORBIS")
    whole = read_audio(path, rate)
    for begin in range(len(whole) - 1, 0, -799):
        part = read_audio(path, rate, Part(begin / rate, math.inf))
        np.testing.assert_allclose(part, whole[begin:], atol=1e-5)


def test_what_is_written_down_of_a_broadcast_is_read(whole: Path) -> None:
    """It has the headers of the stream's beginning, and pages from the start of the recording on."""
    every = pages(whole.read_bytes())
    headers = sum(not any(page[6:14]) for page in every)
    whole.write_bytes(b"".join(every[:headers] + every[headers + 1 :]))
    assert len(read_audio(whole, 16_000)) > 0
