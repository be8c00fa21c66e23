"""The `deepspeech` command reports what it cannot do in one line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from io import BytesIO, TextIOWrapper
from pathlib import Path

import numpy as np
import pytest
import soundfile
from command_client import Client

from deepspeech.cli.transcribe import main as transcribe


@pytest.fixture(scope="module")
def client(graph_file: Path) -> Client:
    return Client(graph_file)


@pytest.mark.parametrize("flags", [[], ["--stream", 3200], ["--json"]])
def test_output_that_finds_no_room_is_one_line(client: Client, recordings: list[Path], flags: list[object]) -> None:
    command = client.command("--audio", recordings[0], *flags)
    with Path("/dev/full").open("w") as full:
        finished = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, check=False, text=True)
    assert finished.returncode == 1
    (line,) = finished.stderr.splitlines()
    assert line == "deepspeech: standard output: No space left on device"


@pytest.mark.parametrize(
    ("given", "advice"),
    [
        ("--output-dir", "did you mean --output_dir? See --help"),
        ("--output_format=srt", "did you mean --format? See --help"),
        ("--LM_alpha", "did you mean --lm_alpha? See --help"),
        ("--colour", "see --help"),
        ("--hotwords=a:1", "did you mean --hot_words? See --help"),
        ("-x", "see --help"),
    ],
)
def test_an_unknown_flag_is_refused_with_the_one_that_is_meant(client: Client, given: str, advice: str) -> None:
    finished = client.run("a.wav", given)
    assert finished.stderr.decode() == f"deepspeech: unrecognized arguments: {given}; {advice}\n"


def write_bad_recordings(folder: Path) -> dict[str, str]:
    """Write files that are not recordings; return the message for each."""
    (folder / "text.wav").write_text("hello")
    (folder / "zero.wav").write_bytes(b"")
    soundfile.write(folder / "empty.wav", np.zeros(0, np.int16), 16_000)
    soundfile.write(folder / "nan.wav", np.full(8000, np.nan, np.float32), 16_000, subtype="FLOAT")
    soundfile.write(folder / "whole.flac", np.sin(np.arange(16_000) / 9), 16_000)
    (folder / "half.flac").write_bytes((folder / "whole.flac").read_bytes()[:5000])
    (folder / "folder").mkdir()
    return {
        "text.wav": "cannot be read as audio",
        "zero.wav": "the file is empty",
        "empty.wav": "no samples",
        "nan.wav": "not finite numbers",
        "half.flac": "truncated or damaged",
        "folder": "holds no recordings",
    }


def test_an_address_for_what_is_written_is_refused_and_becomes_no_folder(
    client: Client, recordings: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    finished = client.run("--audio", recordings[0], "--output_dir", "s3://bucket/texts")
    assert finished.returncode == 1
    (line,) = finished.stderr.decode().splitlines()
    assert "--output_dir: s3://bucket/texts is an address; give a path of this machine" in line
    assert not list(tmp_path.iterdir())


def test_lists_and_folders_of_language_models_are_refused_with_what_takes_them(
    client: Client, recordings: list[Path], tmp_path: Path
) -> None:
    listed, package = tmp_path / "test.csv", tmp_path / "lm.scorer"
    for file in (listed, package):
        file.touch()
    for given, told in (
        ([listed], f"{listed} is a list, and not a recording; to compare a model with its transcripts, run python -m"),
        (
            [recordings[0], "--scorer", tmp_path],
            f"{tmp_path}: is a folder; name the language model in it, such as {package}",
        ),
    ):
        finished = client.run(*given)
        (line,) = finished.stderr.decode().splitlines()
        assert told in line and finished.returncode == 1


@pytest.mark.parametrize("flag", ["--audio", "--scorer"])
def test_an_address_for_what_is_read_is_refused_as_it_is_written(
    client: Client, recordings: list[Path], flag: str
) -> None:
    finished = client.run("--audio", recordings[0], flag, "s3://bucket/a")
    assert finished.returncode == 1
    (line,) = finished.stderr.decode().splitlines()
    assert f"{flag}: s3://bucket/a is an address; download it, and give a path of this machine" in line


def test_what_is_no_recording_is_one_line_and_leaves_no_file(client: Client, tmp_path: Path) -> None:
    for name, reason in write_bad_recordings(tmp_path).items():
        finished = client.run("--audio", tmp_path / name, "--output_dir", tmp_path / "out")
        assert finished.returncode == 1
        (line,) = finished.stderr.decode().splitlines()
        assert name in line and reason in line
        assert not finished.stdout and not list(tmp_path.glob("out/*"))


@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
@pytest.mark.parametrize("flags", [[], ["--json"]])
def test_a_name_that_the_output_cannot_encode_is_escaped(
    graph_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, flags: list[str], encoding: str
) -> None:
    names = ["plain.wav", "\u00fc.wav", "\U0001f600.wav", "\udcff.wav"]
    for name in names:
        soundfile.write(os.fsencode(tmp_path / name), np.zeros(8000, np.int16), 16_000)
    output = BytesIO()
    monkeypatch.setattr(sys, "stdout", TextIOWrapper(output, encoding, "strict"))
    assert transcribe(["--model", str(graph_file), "--audio", str(tmp_path), *flags]) == 0
    lines = output.getvalue().decode(encoding).splitlines()
    assert len(lines) == len(names)
    if flags:
        assert {Path(json.loads(line)["audio"]).name for line in lines} == set(names)
    else:
        assert sum("\\udcff.wav: " in line for line in lines) == 1


def test_a_recording_of_another_rate_and_two_channels_is_resampled(client: Client, tmp_path: Path) -> None:
    tone = np.sin(np.arange(8000) / 3).astype(np.float32) / 2
    soundfile.write(tmp_path / "stereo.wav", np.stack([tone, tone], 1), 8000, subtype="FLOAT")
    soundfile.write(tmp_path / "mono.wav", tone, 8000, subtype="FLOAT")
    stereo, mono = (client.run("--audio", tmp_path / name) for name in ("stereo.wav", "mono.wav"))
    assert stereo.returncode == 0, stereo.stderr
    assert stereo.stdout == mono.stdout


@pytest.mark.parametrize("place", ["a file", "a file/below"])
def test_a_place_that_cannot_be_written_is_one_line(
    client: Client, recordings: list[Path], tmp_path: Path, place: str
) -> None:
    (tmp_path / "a file").write_text("in the way")
    finished = client.run("--audio", recordings[0], "--output_dir", tmp_path / place)
    assert finished.returncode == 1
    (line,) = finished.stderr.decode().splitlines()
    assert "--output_dir" in line and "cannot be written" in line
    assert [path.name for path in tmp_path.iterdir()] == ["a file"]


def test_a_graph_that_was_cut_off_is_one_line(client: Client, recordings: list[Path], tmp_path: Path) -> None:
    for name, data in (("cut.pb", client.graph.read_bytes()[:-1000]), ("text.pb", b"hello"), ("empty.pb", b"")):
        (tmp_path / name).write_bytes(data)
        finished = client.run("--model", tmp_path / name, "--audio", recordings[0])
        assert finished.returncode == 1
        (line,) = finished.stderr.decode().splitlines()
        assert name in line and "give a graph" in line


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["--audio", "missing.wav"], "missing.wav"),
        (["--audio", "a.wav", "--scorer", "missing.scorer"], "missing.scorer"),
        (["--audio", "a.wav", "--hot_words", "a:1"], "--hot_words"),
        (["--audio", "a.wav", "--hot_words", "Nairobi", "--scorer", "a.scorer"], "'Nairobi' is not word:boost"),
        (["--audio", "a.wav", "--hot_words", "a:1,5", "--scorer", "a.scorer"], "'5' is not word:boost"),
        (["--audio", "a.wav", "--hot_words", " :5", "--scorer", "a.scorer"], "' :5' is not word:boost"),
        (["--audio", "a.wav", "--hot_words", "a:1,a:2", "--scorer", "a.scorer"], "--hot_words: 'a' has two boosts"),
        (["--audio", "a.wav", "--lm_alpha", "nan"], "--lm_alpha=nan: must be"),
        (
            ["--audio", "a/a.wav", "b/a.wav", "--output_dir", "out"],
            "a/a.wav and b/a.wav would both be written to out/a",
        ),
        (["--audio", "a.wav", "--beam_width", "0"], "--beam_width"),
        (["--audio", "a.wav", "--candidate_transcripts=3000000000"], "--candidate_transcripts=3000000000: must be"),
        (["--audio", "a.wav", "--beam_width", "many"], "--beam_width"),
        (["--audio", "a.wav", "--sample_rate", "1"], "--sample_rate"),
        (["--audio", "a.wav", "b.wav", "--format", "srt"], "--output_dir"),
        (["--audio", "a.wav", "--json", "--format", "srt"], "give one of the two"),
        (["--model", "missing.pb", "--audio", "a.wav"], "missing.pb"),
        (["--audio", "a" * 300], f"{'a' * 300}: File name too long"),
        (["--audio=~/missing.wav"], str(Path("~/missing.wav").expanduser())),
    ],
)
def test_a_mistake_is_one_line_and_exit_code_1(client: Client, arguments: list[str], named: str) -> None:
    finished = client.run(*arguments)
    assert finished.returncode == 1
    (line,) = finished.stderr.decode().splitlines()
    assert line.startswith("deepspeech: ") and named in line
    assert not finished.stdout


def test_a_mistake_is_told_soon_whatever_the_number_of_recordings(capsys: pytest.CaptureFixture[str]) -> None:
    names = [f"{number}.wav" for number in range(10_000)]
    begin = time.process_time()
    assert transcribe(["--model", "missing.pb", "--output_dir", "out", "--audio", *names]) == 1
    assert time.process_time() - begin < 3
    assert "missing.pb" in capsys.readouterr().err
