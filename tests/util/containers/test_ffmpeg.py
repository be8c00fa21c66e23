"""Recordings that ffmpeg decodes if it is installed, and the message if it is not."""

from __future__ import annotations

import shutil
import stat
import subprocess
from functools import partial
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
import soundfile

from deepspeech.util.audio import channel_count, inspect_audio, read_audio, read_audio_blocks
from deepspeech.util.containers.endings import is_recording
from deepspeech.util.corpus import read_corpus
from deepspeech.util.errors import AudioError, DeepSpeechError, StorageError
from deepspeech.util.features import FeatureOptions, front_end
from deepspeech.util.feeding import OnTheFly
from deepspeech.util.importing import import_corpus
from deepspeech.util.importing.pipeline.records import Choices
from deepspeech.util.parts import Part
from deepspeech.util.shards.writing import write_shards
from deepspeech.util.text import Alphabet

RATE = 16_000
TONES = np.stack([np.sin(np.arange(2 * RATE) / 9), np.sin(np.arange(2 * RATE) / 14)], axis=1).astype(np.float32) / 2
MP4 = b"\0\0\0\x1cftypM4A " + bytes(100)


def installed(folder: Path, script: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make a script the only ffmpeg."""
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
    assert (
        "-i file:/dev/fd/" in arguments and path.name not in arguments and "-protocol_whitelist file,pipe" in arguments
    )


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


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Make this machine's ffmpeg, or that of a Python package, the only one, and return it."""
    found = shutil.which("ffmpeg")
    if found is None:
        try:
            found = import_module("imageio_ffmpeg").get_ffmpeg_exe()
        except ImportError:
            pytest.skip("ffmpeg is not installed")
    installed(tmp_path / "bin", f"exec '{found}' \"$@\"", monkeypatch)
    return str(found)


def test_recordings_of_phones_and_browsers_and_the_sound_of_videos_are_found_and_decoded(
    tmp_path: Path, program: str
) -> None:
    soundfile.write(tmp_path / "stereo.wav", TONES, RATE)
    codecs = {
        "m4a": "aac",
        "mp4": "aac",
        "webm": "libopus",
        "aac": "aac",
        "mkv": "flac",
        "wma": "wmav2",
        "oga": "flac",
        "spx": "libspeex",
        "m4b": "aac",
        "m4v": "aac",
        "avi": "pcm_s16le",
        "wmv": "wmav2",
        "mpg": "mp2",
        "mpeg": "mp2",
        "vob": "mp2",
        "flv": "aac",
        "mp2": "mp2",
    }
    for ending, codec in codecs.items():
        name = f"a.{ending}"
        path = tmp_path / name
        command = [program, "-loglevel", "error", "-i", f"{tmp_path}/stereo.wav", "-codec:a", codec]
        command += ["-ar", "16000"] * (codec == "libspeex")
        index_first = ["-movflags", "faststart"] * (name == "a.mp4")
        subprocess.run([*command, *index_first, f"{path}"], check=True)
        samples = read(path)
        assert is_recording(name)
        assert abs(len(samples) - len(TONES)) < RATE / 8
        assert channel_count(path) == 2
        assert 0.2 < np.abs(samples).max() <= 1
    for name in ("a.m4a", "a.mp4", "a.webm", "a.mkv", "a.wma", "a.oga", "a.spx"):
        reason = "ffmpeg cannot decode it" if name == "a.m4a" else "truncated"
        content = (tmp_path / name).read_bytes()
        (tmp_path / f"cut {name}").write_bytes(content[: len(content) // 2])
        with pytest.raises(AudioError, match=reason):
            read(tmp_path / f"cut {name}")


def encoded(program: str, path: Path, codec: str, rate: int = 44_100) -> bytes:
    """Write a recording of two seconds, and return its bytes."""
    soundfile.write(path.with_suffix(".wav"), np.random.default_rng(0).normal(0, 0.2, 2 * rate), rate)
    command = [program, "-y", "-loglevel", "error", "-i", f"{path.with_suffix('.wav')}", "-codec:a", codec, f"{path}"]
    subprocess.run(command, check=True)
    return path.read_bytes()


@pytest.mark.parametrize(
    ("ending", "codec", "damage"),
    [
        ("m4a", "aac", bytes(2000)),
        ("m4a", "alac", np.random.default_rng(1).bytes(2000)),
        ("aac", "aac", bytes(2000)),
        ("wma", "wmav2", bytes(2000)),
        ("webm", "libopus", bytes(2000)),
    ],
)
def test_what_is_damaged_in_its_middle_is_not_read_as_if_it_were_whole(
    tmp_path: Path, program: str, ending: str, codec: str, damage: bytes
) -> None:
    path = tmp_path / f"a.{ending}"
    content = encoded(program, path, codec)
    middle = len(content) // 2
    path.write_bytes(content[:middle] + damage + content[middle + len(damage) :])
    with pytest.raises(AudioError, match=r"damaged or truncated: ffmpeg leaves out"):
        inspect_audio(path)


@pytest.mark.parametrize(("ending", "codec"), [("oga", "flac"), ("spx", "libspeex")])
def test_ogg_files_for_ffmpeg_with_a_damaged_page_are_refused(
    tmp_path: Path, program: str, ending: str, codec: str
) -> None:
    path = tmp_path / f"a.{ending}"
    content = encoded(program, path, codec, rate=32_000)
    middle = len(content) // 2
    path.write_bytes(content[:middle] + bytes(200) + content[middle + 200 :])
    with pytest.raises(AudioError, match=r"a page has another checksum|ffmpeg cannot decode it"):
        inspect_audio(path)


@pytest.mark.parametrize(("ending", "codec"), [("aac", "aac"), ("avi", "mp2"), ("avi", "pcm_s16le"), ("flv", "aac")])
def test_what_is_cut_off_is_not_read_as_if_it_were_whole(tmp_path: Path, program: str, ending: str, codec: str) -> None:
    path = tmp_path / f"a.{ending}"
    content = encoded(program, path, codec)
    assert inspect_audio(path).samples > 0
    path.write_bytes(content[: len(content) * 2 // 3])
    with pytest.raises(AudioError, match="truncated"):
        read(path)


@pytest.mark.parametrize("codec", ["adpcm_ima_qt", "libopus"])
def test_a_caf_whose_samples_libsndfile_does_not_read_is_decoded(tmp_path: Path, program: str, codec: str) -> None:
    path = tmp_path / "a.caf"
    content = encoded(program, path, codec, 48_000)
    assert abs(inspect_audio(path).samples - 2 * 48_000) < 48_000 / 20
    path.write_bytes(content[: len(content) * 2 // 3])
    with pytest.raises(AudioError, match=r"truncated|ffmpeg cannot decode it"):
        read(path)


@pytest.mark.parametrize(("ending", "codec"), [("m4a", "aac"), ("wma", "wmav2")])
def test_recordings_of_which_ffmpeg_would_only_decode_the_first_are_refused(
    tmp_path: Path, program: str, ending: str, codec: str
) -> None:
    path = tmp_path / f"a.{ending}"
    path.write_bytes(2 * encoded(program, path, codec))
    with pytest.raises(AudioError, match="several recordings one after the other"):
        inspect_audio(path)


def phone_corpus(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Write a list of a recording, which a fake ffmpeg decodes, and of its second half."""
    soundfile.write(folder / "stereo.wav", TONES, RATE, subtype="FLOAT")
    (folder / "a.m4a").write_bytes(MP4)
    (folder / "train.csv").write_text("wav_filename,transcript,start\na.m4a,whole,\na.m4a,half,1\n")
    installed(folder / "bin", f"echo x >> '{folder}/starts'; /bin/cat '{folder}/stereo.wav'", monkeypatch)
    return folder / "train.csv"


@pytest.mark.parametrize("bits", [["-q:a", "4"], ["-b:a", "64k"]])
@pytest.mark.parametrize("quiet", [slice(0, 15 * RATE), slice(5 * RATE, None)])
def test_an_mp3_in_a_wav_is_read_to_its_end(tmp_path: Path, program: str, bits: list[str], quiet: slice) -> None:
    """libsndfile estimates its length by the first frames, and would read no further, or miss samples."""
    samples = np.random.default_rng(0).normal(0, 0.2, 20 * RATE)
    samples[quiet] /= 100
    soundfile.write(tmp_path / "a.wav", samples, RATE)
    path = tmp_path / "mp3.wav"
    command = [program, "-loglevel", "error", "-i", f"{tmp_path}/a.wav", "-codec:a", "libmp3lame", *bits, f"{path}"]
    subprocess.run(command, check=True)
    content = path.read_bytes()
    path.write_bytes(content[:12] + b"JUNK\x03\0\0\0fmt\0" + content[12:])
    assert 0 <= inspect_audio(path).samples - 20 * RATE < 3 * 1152
    end = read_audio(path, RATE)[19 * RATE : 20 * RATE]
    assert end.std() == pytest.approx(samples[19 * RATE :].std(), rel=0.5)
    path.write_bytes(path.read_bytes()[:-5000])
    for cut in (inspect_audio, read):
        with pytest.raises(AudioError, match="truncated"):
            cut(path)


def test_what_ffmpeg_decodes_is_trained_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    train, expected = phone_corpus(tmp_path, monkeypatch), TONES.mean(axis=1)
    audio = inspect_audio(tmp_path / "a.m4a")
    assert (audio.samples, audio.sample_rate, audio.channels, audio.file_size) == (len(TONES), RATE, 2, len(MP4))
    assert audio.decoded and not audio.silent
    np.testing.assert_allclose(read_audio(tmp_path / "a.m4a", RATE, Part(0.5, 1.5)), expected[8000:24000], atol=1e-6)
    extractor, alphabet = front_end(FeatureOptions(feature_type="psf")), Alphabet(tuple("hwoleaf"))
    for given in (train, Path(write_shards([train], str(tmp_path / "shard"), 10**6, 1).name)):
        corpus = read_corpus([given], alphabet, extractor, progress=False, remembered=tmp_path / "known")
        half, whole = map(OnTheFly(corpus, extractor).samples, range(2))
        np.testing.assert_allclose(whole, expected, atol=1e-6)
        np.testing.assert_allclose(half, expected[RATE:], atol=2e-4)
    (tmp_path / "starts").unlink()
    read_corpus([train], alphabet, extractor, progress=False, remembered=tmp_path / "known")
    assert not (tmp_path / "starts").exists()  # as the lengths are known


def test_an_import_converts_what_ffmpeg_decodes_once_it_is_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    phone_corpus(tmp_path, monkeypatch)
    path, choices, news = tmp_path / "bin", Choices(split=(1, 0, 0)), list[str]()
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(DeepSpeechError, match="no row"):
        import_corpus("lists", tmp_path / "out", tmp_path, news.append, choices)
    assert any("which is not installed; install it, or convert" in line for line in news)
    monkeypatch.setenv("PATH", str(path))
    for _ in range(2):
        import_corpus("lists", tmp_path / "out", tmp_path, news.append, choices)
        assert len((tmp_path / "starts").read_text().splitlines()) == 1
        text = (tmp_path / "out" / "train.csv").read_text()
        assert "clips/a.m4a/whole.flac," in text and "clips/a.m4a/00001000-00002000.flac," in text
    assert soundfile.info(tmp_path / "out/clips/a.m4a/whole.flac").subtype == "PCM_16"  # as for other lossy formats
    converted = read_audio(tmp_path / "out/clips/a.m4a/whole.flac", RATE)
    np.testing.assert_allclose(converted, TONES.mean(axis=1), atol=2.0**-14)


def test_recordings_are_not_skipped_because_the_temporary_folder_is_full(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    train = phone_corpus(tmp_path, monkeypatch)
    monkeypatch.setattr("tempfile.TemporaryFile", partial(Path("/dev/full").open, "wb", buffering=0))
    extractor = front_end(FeatureOptions(feature_type="psf"))
    with pytest.raises(StorageError, match=r"a\.m4a: cannot be decoded into .*: No space left on device; make room"):
        read_corpus([train], Alphabet(tuple("hwoleaf")), extractor, progress=False, skip_bad_rows=True)
