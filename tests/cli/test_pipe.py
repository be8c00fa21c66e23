"""Standard input: which bytes are a WAV, and what becomes of its samples."""

from __future__ import annotations

import sys
from io import BufferedReader, BytesIO, TextIOWrapper
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import soundfile

from deepspeech.cli.utterances.pipe import Pipe
from deepspeech.errors import AudioError

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
