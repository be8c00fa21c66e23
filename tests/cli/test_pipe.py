"""Standard input: which bytes are a WAV, and how its samples are read."""

from __future__ import annotations

import sys
from io import BufferedReader, BytesIO, TextIOWrapper
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import soundfile

from deepspeech.cli.utterances.pipe import Pipe
from deepspeech.errors import AudioError
from deepspeech.util.audio import read_audio

RATE = 16_000
SAMPLES = (np.sin(np.arange(40_001) / 9) * 9000).astype(np.int16)


def recording(samples: npt.NDArray[Any], rate: int = RATE, subtype: str = "PCM_16", kind: str = "WAV") -> bytes:
    file = BytesIO()
    soundfile.write(file, samples, rate, format=kind, subtype=subtype)
    return file.getvalue()


def claiming(size: int, wav: bytes) -> bytes:
    """Return a WAV whose header claims a number of bytes of samples."""
    place = wav.index(b"data") + 4
    return wav[:place] + size.to_bytes(4, "little") + wav[place + 4 :]


def heard(data: bytes, monkeypatch: pytest.MonkeyPatch) -> npt.NDArray[np.float32]:
    monkeypatch.setattr(sys, "stdin", TextIOWrapper(BufferedReader(BytesIO(data))))
    return np.concatenate(list(Pipe().blocks(RATE)))


def test_samples_are_those_of_the_wav_or_raw(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = SAMPLES / np.float32(1 << 15)
    stereo = np.stack([SAMPLES, SAMPLES], axis=1)
    wav = recording(SAMPLES)
    for data in (
        *(SAMPLES.tobytes(), SAMPLES.tobytes() + b"x", wav, wav + b"LIST\x04\0\0\0junk"),
        *(claiming(size, wav) for size in (0, 0x7FFFF000, 0xFFFFFFFF, 1 << 20)),
        *(recording(stereo, kind="WAVEX"), recording(expected, subtype="FLOAT"), recording(expected, subtype="DOUBLE")),
        *(recording(stereo, subtype="PCM_24"), recording(SAMPLES, subtype="PCM_32"), recording(SAMPLES, kind="RF64")),
    ):
        np.testing.assert_allclose(heard(data, monkeypatch), expected, atol=1e-6)
    coarse = heard(recording(SAMPLES, subtype="PCM_U8"), monkeypatch)
    np.testing.assert_allclose(coarse, expected, atol=0.01)
    resampled = heard(recording(np.repeat(SAMPLES, 2), 2 * RATE), monkeypatch)
    assert abs(len(resampled) - len(SAMPLES)) < 2
    np.testing.assert_allclose(resampled[100:30_000], expected[100:30_000], atol=0.02)


def test_a_wav_that_is_cut_off_is_told(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    wav = recording(SAMPLES)
    for whole in (wav, wav + b"LIST\x04\0\0\0junk", claiming(0xFFFFFFFF, wav), claiming(0, wav), SAMPLES.tobytes()):
        heard(whole, monkeypatch)
    assert caplog.records == []
    assert len(heard(wav[: 44 + 2 * RATE], monkeypatch)) == RATE
    (told,) = caplog.messages
    assert told == "-: the WAV ends 1.5 s before its header says; was it cut off?"


def test_what_cannot_be_read_from_a_pipe_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    wav = recording(SAMPLES)
    infinite = np.full(100, np.inf, np.float32)
    for data in (
        *(b"", b"x", wav[:20], wav[:44], claiming(4, wav)[:44]),
        *(recording(SAMPLES, subtype="ULAW"), recording(SAMPLES, kind="FLAC"), recording(infinite, subtype="FLOAT")),
        *(wav[:22] + b"\0\0" + wav[24:], wav[:24] + b"\0\0\0\0" + wav[28:], wav[:16] + b"\xff" * 4 + wav[20:]),
    ):
        with pytest.raises(AudioError, match=r"^-: ") as caught:
            heard(data, monkeypatch)
        assert "\n" not in str(caught.value)


def test_samples_that_are_no_sound_are_refused_as_those_of_files(monkeypatch: pytest.MonkeyPatch) -> None:
    integers = SAMPLES.astype(np.float32)
    for data in (recording(integers, subtype="FLOAT"), recording(integers, rate=8000, subtype="DOUBLE")):
        with pytest.raises(AudioError, match=r"^-: samples far beyond full scale"):
            heard(data, monkeypatch)


def test_samples_beyond_full_scale_become_those_of_a_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    loud = (SAMPLES / 9000 * 1.5).astype(np.float32)
    for rate in (RATE, 8000):
        data = recording(loud, rate, subtype="FLOAT")
        (tmp_path / "a.wav").write_bytes(data)
        np.testing.assert_allclose(heard(data, monkeypatch), read_audio(tmp_path / "a.wav", RATE), atol=1e-6)


def adts(sizes: list[int]) -> bytes:
    """Return frames of AAC at 16 kHz, of these sizes in bytes."""
    headers = (
        bytes([0xFF, 0xF1, 0x60, 0x40 | size >> 11, size >> 3 & 255, (size & 7) << 5 | 31, 252]) for size in sizes
    )
    return b"".join(header + b"\x21" * (size - len(header)) for header, size in zip(headers, sizes, strict=True))


@pytest.mark.parametrize(
    "data",
    [
        *(recording(SAMPLES, rate, "MPEG_LAYER_III", "MP3") for rate in (8000, 16_000, 22_050, 44_100)),
        *(adts([9, 400, 30]), adts([700, 7]), b"#!AMR\n" + bytes(99), b"0&\xb2u\x8ef\xcf\x11" + bytes(99)),
        *(recording(SAMPLES, kind="W64"), recording(SAMPLES, kind="AU"), b"RIFF\xff\0\0\0AVI LIST" + bytes(99)),
    ],
)
def test_a_compressed_recording_is_not_taken_for_samples(data: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(AudioError, match="a recording that is not WAV; give it as a file"):
        heard(data, monkeypatch)


@pytest.mark.parametrize("start", [b"\xff\xfb\x90\x00", b"\xff\xf1\x60\x40\x2c\x9f\xfc", b"\xff\xf3", b"\xff\xff" * 9])
def test_samples_may_begin_as_a_frame_does(start: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    for rest in (b"", bytes(9000), SAMPLES.tobytes()):
        data = (start + rest)[: len(start + rest) // 2 * 2]
        np.testing.assert_array_equal(heard(data, monkeypatch), np.frombuffer(data, "<i2") / np.float32(1 << 15))


def test_a_wav_that_no_pipe_takes_is_told_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(
        AudioError, match="a WAV of 8-bit samples in mu-law cannot be read from a pipe; give it as a file"
    ):
        heard(recording(SAMPLES, subtype="ULAW"), monkeypatch)
