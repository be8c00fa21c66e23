"""Recordings that ffmpeg decodes where it is installed, and what is said where it is not."""

from __future__ import annotations

import shutil
import stat
import subprocess
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
import soundfile

from deepspeech.util.audio import channel_count, read_audio_blocks
from deepspeech.util.errors import AudioError

RATE = 16_000
TONES = np.stack([np.sin(np.arange(2 * RATE) / 9), np.sin(np.arange(2 * RATE) / 14)], axis=1).astype(np.float32) / 2
MP4 = b"\0\0\0\x1cftypM4A " + bytes(100)


def installed(folder: Path, script: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a script be the only ffmpeg."""
    folder.mkdir()
    (folder / "ffmpeg").write_text(f"#!/bin/sh\n{script}\n")
    (folder / "ffmpeg").chmod(stat.S_IRWXU)
    monkeypatch.setenv("PATH", str(folder))


def read(path: Path, channel: int | None = None) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    return np.concatenate(list(read_audio_blocks(path, RATE, channel)))


def test_without_ffmpeg_the_error_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.m4a").write_bytes(MP4)
    (tmp_path / "text.m4a").write_text("text")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(AudioError, match=r"a\.m4a: MP4 is decoded by ffmpeg, which is not installed; install it"):
        read(tmp_path / "a.m4a")
    with pytest.raises(AudioError, match="cannot be read as audio"):
        read(tmp_path / "text.m4a")


def test_ffmpeg_gets_a_file_and_nothing_that_libsndfile_reads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    soundfile.write(tmp_path / "stereo.wav", TONES, RATE, subtype="FLOAT")
    installed(tmp_path / "bin", f"/bin/cat '{tmp_path}/stereo.wav'; echo \"$@\" > '{tmp_path}/arguments'", monkeypatch)
    np.testing.assert_allclose(read(tmp_path / "stereo.wav"), TONES.mean(axis=1), atol=1e-6)
    assert not (tmp_path / "arguments").exists()
    path = tmp_path / "-i http: $(touch x); .m4a"
    path.write_bytes(MP4)
    np.testing.assert_allclose(read(path), TONES.mean(axis=1), atol=1e-6)
    np.testing.assert_allclose(read(path, channel=1), TONES[:, 1], atol=1e-6)
    assert channel_count(path) == 2
    arguments = (tmp_path / "arguments").read_text()
    assert f"-i file:{path}" in arguments and "-protocol_whitelist file,pipe" in arguments


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("echo 'file:PATH: Invalid data' >&2; exit 1", "ffmpeg cannot decode it: .*Invalid data"),
        ("printf \"Stream map '0:a:0' matches no streams.\\nTo ignore this, …\\n\" >&2; exit 1", "holds no sound"),
        ("exit 0", "ffmpeg cannot decode it"),
        ("/bin/cat HERE/half.wav; echo torn >&2; exit 1", "ffmpeg cannot decode it: torn"),
        ("/bin/cat HERE/half.wav; echo '[in#0] File ended prematurely' >&2", "truncated"),
    ],
)
def test_what_ffmpeg_cannot_decode_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, words: str
) -> None:
    soundfile.write(tmp_path / "half.wav", TONES, RATE, subtype="FLOAT")
    (tmp_path / "a.webm").write_bytes(b"\x1aE\xdf\xa3" + bytes(100))
    installed(tmp_path / "bin", script.replace("HERE", str(tmp_path)), monkeypatch)
    with pytest.raises(AudioError, match=words) as caught:
        read(tmp_path / "a.webm")
    assert "a.webm" in str(caught.value) and "\n" not in str(caught.value)


def test_recordings_of_phones_and_browsers_are_decoded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = shutil.which("ffmpeg")
    if program is None:
        try:
            program = import_module("imageio_ffmpeg").get_ffmpeg_exe()
        except ImportError:
            pytest.skip("ffmpeg is not installed")
    installed(tmp_path / "bin", f"exec '{program}' \"$@\"", monkeypatch)
    soundfile.write(tmp_path / "stereo.wav", TONES, RATE)
    for name, codec in (("a.m4a", "aac"), ("a.mp4", "aac"), ("a.webm", "libopus"), ("a.aac", "aac"), ("a.mkv", "flac")):
        path = tmp_path / name
        command = [program, "-loglevel", "error", "-i", tmp_path / "stereo.wav", "-codec:a", codec, path]
        subprocess.run(command, check=True)
        samples = read(path)
        assert abs(len(samples) - len(TONES)) < RATE / 8
        assert channel_count(path) == 2
        assert 0.2 < np.abs(samples).max() <= 1
    for name, reason in (("a.m4a", "ffmpeg cannot decode it"), ("a.webm", "truncated"), ("a.mkv", "truncated")):
        content = (tmp_path / name).read_bytes()
        (tmp_path / f"cut {name}").write_bytes(content[: len(content) // 2])
        with pytest.raises(AudioError, match=reason):
            read(tmp_path / f"cut {name}")
