"""The length and the samples of mp3s, with and without a header that gives their length."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import soundfile

from deepspeech.util.audio import inspect_audio, open_recording, read_audio, read_audio_blocks
from deepspeech.util.containers.flac import write_flac
from deepspeech.util.errors import AudioError
from deepspeech.util.parts import Part


@pytest.mark.parametrize("mode", ["CONSTANT", "VARIABLE"])
@pytest.mark.parametrize("loud", [slice(0, 32000), slice(32000, None)])
def test_an_mp3_without_a_length_is_read_to_its_end(tmp_path: Path, mode: str, loud: slice) -> None:
    samples = np.zeros(128_000, np.float32)
    samples[loud] = np.random.default_rng(0).normal(0, 0.3, len(samples[loud]))
    path = tmp_path / "a.mp3"
    soundfile.write(path, samples, 16000, format="MP3", bitrate_mode=mode, compression_level=0.5)
    content = path.read_bytes()
    without_length = content[content.find(content[:2], 4) :]
    for tags in (b"", b"ID3\x03\0\0\0\0\1\0" + bytes(128)):
        path.write_bytes(tags + without_length)
        info = inspect_audio(path)
        assert len(samples) <= info.samples < len(samples) + 3 * 1152
        read = read_audio(path, 16000)
        assert len(read) == info.samples == sum(map(len, read_audio_blocks(path, 16000)))
        assert np.abs(read[len(read) - 30_000 :]).max() > 0.3 or loud.stop
    path.write_bytes(without_length[: len(without_length) * 3 // 4 + 1])
    with pytest.raises(AudioError, match="truncated or damaged"):
        inspect_audio(path)


@pytest.mark.parametrize("flags", [0, 2, 15])
def test_an_mp3_whose_header_does_not_count_its_frames_is_read_to_its_end(tmp_path: Path, flags: int) -> None:
    samples = np.zeros(128_000, np.float32)
    samples[64_000:] = np.random.default_rng(0).normal(0, 0.3, 64_000)
    path = tmp_path / "a.mp3"
    soundfile.write(path, samples, 16000, format="MP3", bitrate_mode="VARIABLE", compression_level=0.5)
    content = path.read_bytes()
    header = content.index(b"Xing") + 4
    numbers = {0: b"", 2: content[header + 8 : header + 12], 15: bytes(8)}  # 15: zeros, as after the encoder was killed
    told = flags.to_bytes(4, "big") + numbers[flags]
    path.write_bytes(content[:header] + told + bytes(116 - len(told)) + content[header + 116 :])
    info = inspect_audio(path)
    assert len(samples) <= info.samples < len(samples) + 3 * 1152
    assert len(read_audio(path, 16000)) == sum(map(len, read_audio_blocks(path, 16000))) == info.samples


def test_an_mp3_is_read_in_blocks_and_in_parts_as_at_once(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    loudness = np.repeat(random.choice([0.0, 0.01, 0.1], 200), 2205)
    path = tmp_path / "a.mp3"
    soundfile.write(path, loudness * random.normal(0, 1, len(loudness)), 44100, format="MP3")
    whole = soundfile.read(path, dtype="float32")[0]
    np.testing.assert_allclose(read_audio(path, 44100), whole, atol=1e-4)
    np.testing.assert_allclose(np.concatenate([*read_audio_blocks(path, 16000)]), read_audio(path, 16000), atol=1e-4)
    for begin in range(0, len(whole) - 4410, 4410):
        wanted, part = whole[begin : begin + 4410], Part(begin / 44100, begin / 44100 + 0.1)
        np.testing.assert_allclose(read_audio(path, 44100, part), wanted, atol=1e-4)
        with open_recording(path) as (_, sound), (tmp_path / "a.flac").open("wb") as segment:
            write_flac(sound, range(begin, begin + 4410), segment)
        np.testing.assert_allclose(soundfile.read(tmp_path / "a.flac")[0], wanted, atol=1e-4)


def test_recordings_of_common_voice_are_read(shared: Path) -> None:
    for path in sorted((shared / "data" / "commonvoice").rglob("*.mp3"))[::50]:
        info = inspect_audio(path)
        assert len(read_audio(path, info.sample_rate)) == info.samples
