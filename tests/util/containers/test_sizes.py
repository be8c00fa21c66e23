"""Recordings with more in their file than their header counts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import soundfile

from deepspeech.util.audio import inspect_audio, read_audio
from deepspeech.util.containers.ffmpeg import MP3_IN_WAV, container_of
from deepspeech.util.errors import AudioError

SAMPLES = np.random.default_rng(0).normal(0, 0.1, 16_000)


def counted_as(path: Path, form: str, size: int) -> bytes:
    """Write a recording whose header counts so many bytes of samples, and return it."""
    soundfile.write(path, SAMPLES, 16_000, format=form, subtype="PCM_16")
    content = path.read_bytes()
    begin = 8 if form == "AU" else content.index(b"SSND" if form == "AIFF" else b"data") + 4
    end = begin + (8 if form == "CAF" else 4)
    content = content[:begin] + size.to_bytes(end - begin, "little" if form == "WAV" else "big") + content[end:]
    path.write_bytes(content)
    return content


@pytest.mark.parametrize("size", [16_000, 16_001])
@pytest.mark.parametrize("form", ["WAV", "AIFF", "CAF", "AU"])
def test_a_header_that_counts_too_few_samples_is_refused_as_its_recorder_was_stopped(
    tmp_path: Path, form: str, size: int
) -> None:
    counted_as(tmp_path / "a", form, size)
    for read in (inspect_audio, lambda path: read_audio(path, 16_000)):
        with pytest.raises(AudioError, match=r"a: goes on for 1\d{4} bytes behind the samples that its header counts"):
            read(tmp_path / "a")


def test_an_rf64_from_a_pipe_that_counts_no_samples_is_not_called_empty(tmp_path: Path) -> None:
    soundfile.write(tmp_path / "a", SAMPLES, 16_000, format="RF64", subtype="PCM_16")
    content = (tmp_path / "a").read_bytes()
    sizes = content.index(b"ds64") + 8
    (tmp_path / "a").write_bytes(content[:sizes] + bytes(24) + content[sizes + 24 :])
    with pytest.raises(AudioError, match="a: no samples by its header, though 32000 bytes follow; convert it again"):
        inspect_audio(tmp_path / "a")


@pytest.mark.parametrize("size", [b"   102A\n", b"   10\xff4\n"])
def test_a_nist_file_whose_header_has_no_size_is_damaged(tmp_path: Path, size: bytes) -> None:
    soundfile.write(tmp_path / "a", SAMPLES, 16_000, format="NIST", subtype="PCM_16")
    content = (tmp_path / "a").read_bytes()
    (tmp_path / "a").write_bytes(content[:8] + size + content[16:])
    with pytest.raises(AudioError, match=r"a: damaged: its header has b'.*' where its size should be"):
        inspect_audio(tmp_path / "a")


@pytest.mark.parametrize("padding", [b"", b"\0"])
@pytest.mark.parametrize(
    "rest",
    [
        b"LIST\x88\x13\0\0" + bytes(5000),
        b"id3 \x88\x13\0\0ID3\3" + bytes(range(256)) * 20,
        b"ID3\3" + bytes(range(256)) * 20,
        bytes(5000),
        bytes(range(128, 256)) * 30,
    ],
    ids=["chunk", "chunk of a tag", "tag", "zeros", "a little"],
)
def test_what_may_follow_the_samples_of_a_wav_is_no_part_of_them(tmp_path: Path, rest: bytes, padding: bytes) -> None:
    """Of samples with an odd number of bytes, there should be a padding, which some programs leave out."""
    path = tmp_path / "a.wav"
    soundfile.write(path, SAMPLES[:15_999], 16_000, subtype="PCM_U8")
    content = path.read_bytes()
    whole = content[: content.index(b"data") + 8 + 15_999]
    path.write_bytes(whole + padding + rest)
    assert inspect_audio(path).samples == len(read_audio(path, 16_000)) == 15_999


def test_a_file_of_empty_chunks_is_not_looked_through_to_its_end(tmp_path: Path) -> None:
    path, codec = tmp_path / "a.wav", b"fmt \x10\0\0\0\x55" + bytes(15)
    for empty, container in ((1000, MP3_IN_WAV), (200_000, None)):
        path.write_bytes(b"RIFF\0\0\0\0WAVE" + empty * b"LIST\0\0\0\0" + codec)
        assert container_of(path) == container
