"""What is written into tar shards, and what is refused."""

from __future__ import annotations

import json
import tarfile
from pathlib import Path

import numpy as np
import pytest
import soundfile
from corpora import TinyCorpus

from deepspeech.cli.importing.shards import main
from deepspeech.util.audio import read_audio
from deepspeech.util.corpus_files import further_columns
from deepspeech.util.features import FeatureOptions, front_end

pytest_plugins = ["shard_fixtures"]
pytestmark = pytest.mark.usefixtures("own_cache")

MFCC = front_end(FeatureOptions(feature_type="psf"))


@pytest.mark.parametrize("size", ["0.0", "-1.0", "nan", "inf"])
def test_a_size_that_no_shard_can_have_is_one_line(capsys: pytest.CaptureFixture[str], size: str) -> None:
    assert main(["train.csv", "--to", "shards/train", f"--shard_mb={size}"]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"write_shards: error: --shard_mb={size}: must be ")


def test_a_row_that_is_a_part_becomes_a_recording_and_further_columns_stay(
    tmp_path: Path, tiny_corpus: TinyCorpus
) -> None:
    wav = sorted((tiny_corpus.train.parent / "wav").glob("train-*.wav"))[0]
    rows = f"wav_filename,wav_filesize,transcript,text,speaker,start,duration\n{wav},0,a,A.,anna,0.1,0.2\n"
    (tmp_path / "parts.csv").write_text(rows)
    assert main([str(tmp_path / "parts.csv"), "--to", str(tmp_path / "parts")]) == 0
    with tarfile.open(tmp_path / "parts-000000.tar") as archive:
        assert archive.getnames() == ["000000000.flac", "000000000.txt", "000000000.json"]
        described = archive.extractfile("000000000.json")
        assert described is not None
        assert json.load(described) == {"text": "a", "speaker": "anna", "duration": "0.2"}
    part = read_audio(tmp_path / "parts-000000.tar/000000000.flac", 16_000)
    assert np.array_equal(part, soundfile.read(wav, dtype="float32", start=1600, frames=3200)[0])


def test_further_columns_that_are_not_unicode_stay_as_they_are(tmp_path: Path) -> None:
    soundfile.write(tmp_path / "a.wav", np.sin(np.arange(16_000) / 9), 16_000)
    (tmp_path / "list.jsonl").write_text(r'{"audio_filepath": "a.wav", "text": "a", "speaker": "ä\ud800"}', "utf-8")
    assert main([str(tmp_path / "list.jsonl"), "--to", str(tmp_path / "shard")]) == 0
    assert dict(further_columns(str(tmp_path / "shard-000000.tar"))) == {1: {"speaker": "ä\ud800"}}


@pytest.mark.parametrize(
    ("times", "problem"),
    [
        ("0.1,5", "a part that ends more than 0.5 seconds after its recording: 0.100 to 5.100 of 1.000 seconds"),
        ("9,1", "a part beyond the end of its recording: 9.000 to 10.000 of 1.000 seconds"),
        ("9,", "a part beyond the end of its recording: 9.000 to the end of 1.000 seconds"),
    ],
)
def test_a_part_that_training_refuses_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], times: str, problem: str
) -> None:
    soundfile.write(tmp_path / "a.wav", np.sin(np.arange(16_000) / 9), 16_000)
    (tmp_path / "parts.csv").write_text(f"wav_filename,transcript,start,duration\na.wav,a,{times}\n")
    assert main([str(tmp_path / "parts.csv"), "--to", str(tmp_path / "parts")]) == 1
    place = f"{tmp_path}/parts.csv:2: {tmp_path}/a.wav"
    assert capsys.readouterr().err.splitlines()[-1] == f"write_shards: error: {place}: {problem}"
    assert not (tmp_path / "parts-000000.tar").exists()


@pytest.mark.parametrize(("name", "subtype"), [("loud.ogg", "VORBIS"), ("quiet.wav", "FLOAT"), ("quiet.wav", "PCM_32")])
def test_a_part_sounds_as_its_recording_does_there(tmp_path: Path, name: str, subtype: str) -> None:
    samples = np.sign(np.sin(np.arange(32_000) / 9)) * (0.999 if name == "loud.ogg" else 0.3)
    soundfile.write(tmp_path / name, samples, 16_000, subtype=subtype)
    (tmp_path / "parts.csv").write_text(f"wav_filename,transcript,start,duration\n{name},a,1,0.5\n")
    assert main([str(tmp_path / "parts.csv"), "--to", str(tmp_path / "parts")]) == 0
    part = read_audio(tmp_path / "parts-000000.tar/000000000.flac", 16_000)
    assert np.abs(part - read_audio(tmp_path / name, 16_000)[16_000:24_000]).max() < 2.0**-14


def test_what_cannot_be_written_is_named(tiny_corpus: TinyCorpus, capsys: pytest.CaptureFixture[str]) -> None:
    out = tiny_corpus.train / "train"  # below a file
    assert main([str(tiny_corpus.train), "--to", str(out)]) == 1
    assert capsys.readouterr().err.splitlines() == [f"write_shards: error: --to={out}: cannot be written (File exists)"]


def test_shards_are_not_written_over_those_that_are_read(
    shards: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A recording read after its shard was replaced would be another utterance's, as members have the same names."""
    before = [each.read_bytes() for each in sorted(shards.parent.glob("*.tar"))]
    (tmp_path / "link").symlink_to(shards.parent)
    listed = tmp_path / "listed.csv"
    listed.write_text("wav_filename,transcript\nshards/train-000000.tar/000000000.wav,a\n")
    for read_list in (shards, listed):
        assert main([str(read_list), "--to", str(tmp_path / "link/train"), "--seed", "5"]) == 1
        assert "train-000000.tar: is read, and would be written over" in capsys.readouterr().err
    assert [each.read_bytes() for each in sorted(shards.parent.glob("*.tar"))] == before
    assert main([str(shards), "--to", str(tmp_path / "link/again"), "--seed", "5"]) == 0


def test_a_shard_of_an_earlier_larger_set_is_named(
    shards: Path, tiny_corpus: TinyCorpus, capsys: pytest.CaptureFixture[str]
) -> None:
    there = sorted(shards.parent.glob("*.tar"))
    assert main([str(tiny_corpus.train), "--to", str(shards.parent / "train")]) == 0
    captured = capsys.readouterr()
    assert captured.out.startswith(f"{shards.parent}/train-{{000000..000000}}.tar: 24 utterances, ")
    (line,) = captured.err.splitlines()
    assert f"{there[1]}: is left from an earlier set of this name; remove it, and any after it" in line
    for each in there[1:]:
        each.unlink()
    assert main([str(tiny_corpus.train), "--to", str(shards.parent / "train")]) == 0
    assert not capsys.readouterr().err
