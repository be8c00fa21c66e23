"""The `deepspeech` command, as a person runs it."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
import soundfile

from deepspeech import Model


@dataclass(frozen=True)
class Client:
    graph: Path

    def run(self, *arguments: object, data: bytes = b"") -> subprocess.CompletedProcess[bytes]:
        command = [sys.executable, "-m", "deepspeech.serving.client", "--model", str(self.graph), *map(str, arguments)]
        return subprocess.run(command, input=data, capture_output=True, check=False)


@pytest.fixture(scope="module")
def client(graph_file: Path) -> Client:
    return Client(graph_file)


def test_a_recording_becomes_a_line_of_text(client: Client, model: Model, recordings: list[Path]) -> None:
    finished = client.run("--audio", recordings[0], "--extended")
    assert finished.returncode == 0, finished.stderr
    samples = np.asarray(soundfile.read(recordings[0], dtype="int16")[0])
    assert finished.stdout.decode() == model.stt(samples) + "\n"


def test_a_pipe_of_samples_says_the_same_at_once_and_as_it_comes(
    client: Client, model: Model, recordings: list[Path]
) -> None:
    samples = np.asarray(soundfile.read(recordings[1], dtype="int16")[0])
    text = model.stt(samples)
    assert client.run("--audio", "-", data=samples.tobytes()).stdout.decode() == text + "\n"
    streamed = client.run("--audio", "-", "--stream", 1600, data=samples.tobytes())
    lines = streamed.stdout.decode().splitlines()
    assert lines[-1] == text and len(lines) > 1


def test_json_tells_the_times_of_words(client: Client, recordings: list[Path]) -> None:
    finished = client.run("--audio", recordings[0], "--json", "--candidate_transcripts", 2)
    transcripts = json.loads(finished.stdout)["transcripts"]
    assert len(transcripts) == 2
    assert transcripts[0]["confidence"] >= transcripts[1]["confidence"]
    assert {"word", "start_time", "duration"} == set(transcripts[0]["words"][0])


def test_folders_are_transcribed_into_files_of_a_folder(
    client: Client, recordings: list[Path], scorer_file: Path, tmp_path: Path
) -> None:
    (tmp_path / "in/deeper").mkdir(parents=True)
    for number, path in enumerate(recordings[:2]):
        (tmp_path / "in" / ("deeper" * number) / path.name).write_bytes(path.read_bytes())
    (tmp_path / "in/broken.wav").write_bytes(b"RIFF")
    scorer = ["--scorer", scorer_file, "--lm_alpha", 0.5, "--hot_words", "abc:1.5,de:-1"]
    finished = client.run("--audio", tmp_path / "in", "--format", "srt", "--output_dir", tmp_path / "out", *scorer)
    assert finished.returncode == 1
    (line,) = finished.stderr.decode().splitlines()
    assert "broken.wav" in line
    written = sorted(path.relative_to(tmp_path / "out") for path in (tmp_path / "out").rglob("*.*"))
    assert written == sorted([Path("deeper") / f"{recordings[1].stem}.srt", Path(f"{recordings[0].stem}.srt")])
    assert " --> " in (tmp_path / "out" / written[-1]).read_text()


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["--audio", "missing.wav"], "missing.wav"),
        (["--audio", "a.wav", "--scorer", "missing.scorer"], "missing.scorer"),
        (["--audio", "a.wav", "--hot_words", "a:1"], "--hot_words"),
        (["--audio", "a.wav", "--beam_width", "0"], "--beam_width"),
        (["--audio", "a.wav", "--beam_width", "many"], "--beam_width"),
        (["--audio", "a.wav", "--sample_rate", "1"], "--sample_rate"),
        (["--audio", "a.wav", "b.wav", "--format", "srt"], "--output_dir"),
        (["--model", "missing.pb", "--audio", "a.wav"], "missing.pb"),
    ],
)
def test_a_mistake_is_one_line_and_exit_code_1(client: Client, arguments: list[str], named: str) -> None:
    finished = client.run(*arguments)
    assert finished.returncode == 1
    (line,) = finished.stderr.decode().splitlines()
    assert line.startswith("deepspeech: ") and named in line
    assert not finished.stdout
