import os
import struct
from pathlib import Path

import numpy as np
import pytest
import soundfile
from corpora import write_wav
from hypothesis import given
from hypothesis import strategies as st

from deepspeech.util.audio import (
    Samples,
    inspect_audio,
    read_audio,
    read_audio_blocks,
    resampled_length,
)
from deepspeech.util.containers.sizes import STREAMED_SIZE
from deepspeech.util.errors import AudioError
from deepspeech.util.parts import Part

TONE = np.sin(np.arange(8000) / 5).astype(np.float32) / 2
EXTENSIBLE_PCM = struct.pack("<HHIH", 22, 16, 4, 1) + bytes.fromhex("000000001000800000aa00389b71")


def wav_bytes(
    data: bytes = b"\1\0" * 1600, *, size: int | None = None, code: int = 1, more: bytes = b"", before: bytes = b""
) -> bytes:
    """Return a 16 kHz 16-bit mono wav whose header claims `size` bytes of samples, after the chunks `before`."""
    form = struct.pack("<HHIIHH", code, 1, 16000, 32000, 2, 16) + more
    head = b"WAVEfmt " + struct.pack("<I", len(form)) + form + before
    body = head + b"data" + struct.pack("<I", len(data) if size is None else size) + data
    return b"RIFF" + struct.pack("<I", min(len(head) + 8 + (size or len(data)), 0xFFFF_FFFF)) + body


def write(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


def read_whole(path: Path) -> Samples:
    return read_audio(path, 16000)


def read_in_blocks(path: Path) -> Samples:
    return np.concatenate(list(read_audio_blocks(path, 16000)))


def test_a_wav_is_described_by_its_header(tmp_path: Path) -> None:
    path = write_wav(tmp_path / "a.wav", np.stack([TONE, TONE], axis=1), 22050)
    info = inspect_audio(path)
    assert (info.samples, info.sample_rate, info.channels) == (8000, 22050, 2)
    assert (info.file_size, info.modified_ns) == (path.stat().st_size, path.stat().st_mtime_ns)


@pytest.mark.parametrize("subtype", ["PCM_16", "PCM_24", "PCM_32", "PCM_U8", "FLOAT", "DOUBLE", "ULAW"])
def test_samples_are_read_whatever_their_type(tmp_path: Path, subtype: str) -> None:
    samples = read_audio(write_wav(tmp_path / "a.wav", TONE, subtype=subtype), 16000)
    assert samples.dtype == np.float32
    np.testing.assert_allclose(samples, TONE, atol=0.02)


@pytest.mark.parametrize("container", ["FLAC", "OGG", "MP3", "AIFF", "AU", "CAF", "W64", "RF64", "WAVEX"])
def test_any_container_of_libsndfile_is_read_to_its_end(tmp_path: Path, container: str) -> None:
    path = tmp_path / f"a.{container.lower()}"
    soundfile.write(path, TONE, 16000, format=container)
    samples = read_audio(path, 16000)
    assert len(samples) == len(TONE) == inspect_audio(path).samples
    assert np.corrcoef(samples, TONE)[0, 1] > 0.9


def test_sixteen_bit_samples_are_scaled_by_two_to_the_fifteenth(tmp_path: Path) -> None:
    path = tmp_path / "a.wav"
    soundfile.write(path, np.array([-32768, -1, 0, 1, 32767], np.int16), 16000)
    assert (read_audio(path, 16000) * 32768).tolist() == [-32768, -1, 0, 1, 32767]


def test_channels_are_averaged(tmp_path: Path) -> None:
    path = write_wav(tmp_path / "a.wav", np.stack([TONE, -TONE, TONE / 2], axis=1), subtype="FLOAT")
    np.testing.assert_allclose(read_audio(path, 16000), TONE / 6, atol=1e-6)


def test_resampling_keeps_the_tone(tmp_path: Path) -> None:
    time = np.arange(44100) / 44100
    path = write_wav(tmp_path / "a.wav", np.sin(2 * np.pi * 440 * time).astype(np.float32), 44100)
    spectrum = np.abs(np.fft.rfft(read_audio(path, 16000)))
    assert spectrum.argmax() == 440


@pytest.mark.parametrize("rate", [8000, 8012, 11025, 16000, 22050, 32000, 44100, 44056, 48000, 96000, 192000])
@pytest.mark.parametrize("samples", [1, 2, 3, 441, 1000, 8001, 12345])
def test_the_resampled_length_is_known_from_the_header(tmp_path: Path, rate: int, samples: int) -> None:
    path = write_wav(tmp_path / "a.wav", np.full(samples, 0.1, np.float32), rate)
    for wanted in (8000, 16000):
        expected = resampled_length(inspect_audio(path).samples, rate, wanted)
        assert len(read_audio(path, wanted)) == expected if expected else True


@pytest.mark.parametrize("rate", [24000, 48000])
def test_the_resampled_length_is_known_where_it_lies_between_two_numbers(tmp_path: Path, rate: int) -> None:
    for samples in (120, 200, 240, 360, 400, 440, 720, 880):
        path = write_wav(tmp_path / "a.wav", np.full(samples, 0.1, np.float32), rate)
        assert len(read_audio(path, 44100)) == resampled_length(samples, rate, 44100)


def test_samples_stay_within_one_even_when_resampling_overshoots(tmp_path: Path) -> None:
    square = np.sign(np.sin(np.arange(44100) / 20)).astype(np.float32)
    assert np.abs(read_audio(write_wav(tmp_path / "a.wav", square, 44100), 16000)).max() <= 1


@pytest.mark.parametrize(
    "content",
    [
        wav_bytes(),
        wav_bytes(code=0xFFFE, more=EXTENSIBLE_PCM),
        wav_bytes(before=b"LIST\3\0\0\0abc\0"),
        wav_bytes() + b"LIST\4\0\0\0abcd",
        wav_bytes(size=0xFFFF_FFFF),
        wav_bytes(size=0xFFFF_FFFF - 36),
        wav_bytes(size=0x7FFF_F000),
        wav_bytes(size=STREAMED_SIZE),
    ],
    ids=["plain", "extensible", "chunk before", "chunk after", "ffmpeg pipe", "pipe", "sox pipe", "streamed"],
)
def test_whole_and_streamed_wavs_are_read(tmp_path: Path, content: bytes) -> None:
    path = write(tmp_path / "a.wav", content)
    assert inspect_audio(path).samples == 1600
    assert len(read_whole(path)) == len(read_in_blocks(path)) == 1600


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (wav_bytes()[:-2], "truncated: 3198 bytes of samples where the header promises 3200"),
        (wav_bytes(size=6400), "truncated: 3200 bytes"),
        (wav_bytes(code=0xFFFE, more=EXTENSIBLE_PCM, size=6400), "truncated"),
        (wav_bytes(size=STREAMED_SIZE - 2), "truncated"),
        (wav_bytes()[:44], "truncated: 0 bytes of samples where the header promises 3200"),
        (wav_bytes(b""), "no samples"),
        (wav_bytes(b"\1"), "no samples"),
        (wav_bytes(size=0), "no samples by its header, though 3200 bytes follow"),
        (wav_bytes()[:30], "cannot be read as audio"),
        (b"", "the file is empty"),
        (b"some text\n" * 100, "cannot be read as audio: Format not recognised"),
        (b"version https://git-lfs.github.com/spec/v1\n", "only a pointer of Git LFS; fetch .* with git lfs pull$"),
        (b"\n<!DOCTYPE html><html>", "a web page and no recording; download the recording again$"),
        (wav_bytes().replace(struct.pack("<I", 16000), b"\1\0\0\0"), "sample rate of 1 Hz"),
        (wav_bytes().replace(struct.pack("<I", 16000), b"\xff\xff\xff\x7f"), "sample rate of 2147483647 Hz"),
    ],
)
def test_a_broken_wav_is_refused_with_the_reason(tmp_path: Path, content: bytes, reason: str) -> None:
    path = write(tmp_path / "a.wav", content)
    for read in (inspect_audio, read_whole, read_in_blocks):
        with pytest.raises(AudioError, match=f"a.wav: .*{reason}") as error:
            read(path)
        assert "\n" not in str(error.value)


def test_a_flac_that_was_written_into_a_pipe_is_read_to_its_end(tmp_path: Path) -> None:
    path, noise = tmp_path / "a.flac", np.random.default_rng(0).normal(0, 0.1, 100_000).astype(np.float32)
    soundfile.write(path, noise, 16000)
    content = bytearray(path.read_bytes())
    content[21] &= 0xF0  # the number of samples has 36 bits, and is 0 if it is unknown
    content[22:26] = bytes(4)
    path.write_bytes(content)
    assert inspect_audio(path).samples == len(read_audio(path, 16000)) == len(noise)
    np.testing.assert_allclose(read_audio(path, 16000, Part(5.0, 6.0)), noise[80_000:96_000], atol=1e-4)
    np.testing.assert_allclose(np.concatenate(list(read_audio_blocks(path, 16000))), noise, atol=1e-4)


@pytest.mark.parametrize("container", ["FLAC", "OGG", "MP3"])
def test_a_compressed_file_cut_in_half_is_refused(tmp_path: Path, container: str) -> None:
    path = tmp_path / f"a.{container.lower()}"
    soundfile.write(path, np.random.default_rng(0).normal(0, 0.1, 40000), 16000, format=container)
    write(path, path.read_bytes()[: path.stat().st_size // 2])
    with pytest.raises(AudioError):
        inspect_audio(path)


@pytest.mark.parametrize(
    ("container", "subtype"),
    [("OGG", "VORBIS"), ("OGG", "OPUS"), ("AIFF", "FLOAT"), ("WAV", "PCM_24"), ("NIST", "ULAW")]
    + [(container, "PCM_16") for container in ("AIFF", "AU", "W64", "RF64", "CAF", "NIST")],
)
def test_a_file_that_lacks_its_end_is_refused_wherever_it_is_cut(tmp_path: Path, container: str, subtype: str) -> None:
    path = tmp_path / "a"
    samples = np.random.default_rng(0).normal(0, 0.1, 40001)
    soundfile.write(path, samples, 16000, format=container, subtype=subtype)
    content = path.read_bytes()
    assert inspect_audio(path).samples == len(samples)
    for size in (len(content) - 3, len(content) * 2 // 3, len(content) // 2 + 1):
        write(path, content[:size])
        for read in (inspect_audio, read_whole, read_in_blocks):
            with pytest.raises(AudioError, match=r"truncated|no samples|Supported file format but"):
                read(path)
    write(path, content + bytes(100))
    assert inspect_audio(path).samples >= len(samples)


@pytest.mark.parametrize(
    ("container", "before", "size"),
    [("AU", b".snd\0\0\0\x18", b"\xff\xff\xff\xff"), ("AIFF", b"SSND", b"\x7f\0\0\x08")],
)
def test_a_size_that_could_not_be_known_is_no_promise(
    tmp_path: Path, container: str, before: bytes, size: bytes
) -> None:
    path = tmp_path / "a"
    soundfile.write(path, TONE, 16000, format=container, subtype="PCM_16")
    content = path.read_bytes()
    place = content.index(before) + len(before)
    write(path, content[:place] + size + content[place + 4 :])
    assert inspect_audio(path).samples == len(TONE)


def test_samples_that_are_not_numbers_or_no_sound_are_refused(tmp_path: Path) -> None:
    for value, reason in [(np.nan, "not finite"), (-np.inf, "not finite"), (-2500, "far beyond full scale")]:
        with pytest.raises(AudioError, match=reason):
            inspect_audio(write_wav(tmp_path / "a.wav", np.array([0, value, 0], np.float32), subtype="FLOAT"))


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for name, reason in [("none", "No such file"), (".", "not a file"), ("pipe", "not a file"), ("a\0b", "null")]:
        for function in (inspect_audio, lambda path: read_audio(path, 16000)):
            with pytest.raises(AudioError, match=reason):
                function(f"{tmp_path}/{name}")


def test_a_file_whose_name_is_written_in_the_other_form_of_unicode_is_pointed_out(tmp_path: Path) -> None:
    write_wav(tmp_path / "e\u0301te\u0301.wav", np.ones(10, np.float32))
    with pytest.raises(AudioError, match="one with this name in Unicode's other form"):
        inspect_audio(tmp_path / "\u00e9t\u00e9.wav")


@given(st.integers(0, 60), st.integers(0, 60), st.integers(0, 2**32 - 1))
def test_a_wav_is_accepted_just_if_its_data_is_all_there(
    tmp_path_factory: pytest.TempPathFactory, samples: int, claimed: int, junk: int
) -> None:
    before = b"junk" + struct.pack("<I", junk % 40) + bytes(junk % 40 + junk % 2)
    path = tmp_path_factory.mktemp("wav") / "a.wav"
    write(path, wav_bytes(bytes(2 * samples), size=2 * claimed, before=before))
    try:
        found = inspect_audio(path).samples
    except AudioError:
        found = 0
    assert found == (claimed if claimed <= samples else 0)


@given(st.integers(0, 59), st.binary(min_size=1, max_size=8))
def test_a_wav_with_any_bytes_overwritten_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, position: int, garbage: bytes
) -> None:
    content = bytearray(wav_bytes(b"\1\0" * 20))
    content[position : position + len(garbage)] = garbage
    path = write(tmp_path_factory.mktemp("wav") / "a.wav", bytes(content))
    try:
        info = inspect_audio(path)
    except AudioError:
        return
    assert len(read_audio(path, info.sample_rate)) == info.samples
