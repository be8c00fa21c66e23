"""The `deepspeech` command, as a user runs it."""

from __future__ import annotations

import argparse
import fcntl
import json
import os
import pty
import signal
import struct
import subprocess
import sys
import termios
import time
from pathlib import Path

import numpy as np
import pytest
import soundfile
from command_client import Client
from running import all_shown

from deepspeech import Model
from deepspeech.cli.confidence.low_confidence import as_asked
from deepspeech.cli.transcribe import main as transcribe
from deepspeech.serving.transcripts import TimedWord, Transcript


def wav_header(samples: int) -> bytes:
    """Return the header of a WAV of 16 kHz that claims more samples than there are, like the headers of recorders."""
    form = struct.pack("<HHIIHH", 1, 1, 16_000, 32_000, 2, 16)
    return b"RIFF\xff\xff\xff\xffWAVEfmt " + struct.pack("<I", 16) + form + b"data" + struct.pack("<I", 4 * samples)


@pytest.fixture(scope="module")
def client(graph_file: Path) -> Client:
    return Client(graph_file)


def test_a_recording_becomes_a_line_of_text(client: Client, model: Model, recordings: list[Path]) -> None:
    finished = client.run("--audio", recordings[0], "--extended")
    assert finished.returncode == 0, finished.stderr
    samples = np.asarray(soundfile.read(recordings[0], dtype="int16")[0])
    assert finished.stdout.decode() == model.stt(samples) + "\n"


def test_recordings_may_be_given_flag_by_flag_or_without_it(client: Client, recordings: list[Path]) -> None:
    one_flag = client.run("--audio", *recordings[:2])
    assert len(one_flag.stdout.splitlines()) == 2, one_flag.stderr
    assert client.run("--audio", recordings[0], "--audio", recordings[1]).stdout == one_flag.stdout
    assert client.run(*recordings[:2]).stdout == one_flag.stdout


@pytest.mark.parametrize("precision", ["bfloat16", "int8"])
def test_weights_of_fewer_bits_say_the_same(
    client: Client, model: Model, recordings: list[Path], precision: str
) -> None:
    finished = client.run("--audio", *recordings[:2], "--precision", precision)
    texts = [model.transcribe(path).text for path in recordings[:2]]
    lines = [f"{path}: {text}" for path, text in zip(recordings, texts, strict=False)]
    assert finished.stdout.decode().splitlines() == lines, finished.stderr


def test_a_pipe_of_samples_says_the_same_at_once_and_as_it_comes(
    client: Client, model: Model, recordings: list[Path]
) -> None:
    samples = np.asarray(soundfile.read(recordings[1], dtype="int16")[0])
    text = model.stt(samples)
    assert client.run("--audio", "-", data=samples.tobytes()).stdout.decode() == text + "\n"
    streamed = client.run("--audio", "-", "--stream", 1600, data=samples.tobytes())
    assert streamed.stdout.decode().splitlines() == [text.strip()]


def test_a_stream_writes_an_utterance_as_a_line_and_rewrites_it_on_a_terminal(
    client: Client, recordings: list[Path]
) -> None:
    samples = np.asarray(soundfile.read(recordings[1], dtype="int16")[0])
    pause = np.zeros(48_000, np.int16)
    twice = np.concatenate([np.zeros(8_000, np.int16), samples, pause, samples, pause])
    lines = client.run("--audio", "-", "--stream", 1600, data=twice.tobytes()).stdout.decode().splitlines()
    assert len(lines) == 2 and all(lines)
    ours, theirs = pty.openpty()
    command = client.command("--audio", "-", "--stream", 1600)
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=theirs, stderr=subprocess.PIPE) as process:
        os.close(theirs)
        process.communicate(twice.tobytes())
    shown = all_shown(ours)
    assert process.returncode == 0
    assert [line.split("\x1b[K")[-1] for line in shown.split("\r\n")] == [*lines, ""]
    assert shown.count("\r") > 6


@pytest.mark.parametrize("flags", [[], ["--stream", 1600]])
def test_an_interruption_of_a_pipe_prints_what_was_heard(
    client: Client, model: Model, recordings: list[Path], flags: list[object]
) -> None:
    samples = np.asarray(soundfile.read(recordings[1], dtype="int16")[0])
    command = client.command("--audio", "-", *flags)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # it may be ignored
    try:
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    finally:
        signal.signal(signal.SIGINT, before)
    with process:
        assert process.stdin and process.stdout
        process.stdin.write(wav_header(len(samples)) + samples.tobytes())
        process.stdin.flush()
        while int.from_bytes(fcntl.ioctl(process.stdin, termios.FIONREAD, b"\0" * 4), sys.byteorder):
            time.sleep(0.05)
        time.sleep(0.3)  # it is read, but not heard yet
        process.send_signal(signal.SIGINT)
        assert process.stdout.read().decode().strip() == model.stt(samples).strip()
    assert process.returncode == 130


def test_a_reader_that_goes_away_is_not_an_error(client: Client, recordings: list[Path]) -> None:
    command = client.command("--audio", *recordings[:3])
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout and process.stderr
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 0


def test_the_channels_of_a_call_are_transcribed_apart(client: Client, recordings: list[Path], tmp_path: Path) -> None:
    first, second = (np.asarray(soundfile.read(path, dtype="int16")[0]) for path in recordings[:2])
    call = np.zeros((max(len(first), len(second)), 2), np.int16)
    call[: len(first), 0], call[: len(second), 1] = first, second
    soundfile.write(tmp_path / "call.wav", call, 16_000)
    for number in (1, 2):
        soundfile.write(tmp_path / f"{number}.wav", call[:, number - 1], 16_000)
    apart = ["--audio", tmp_path / "call.wav", "--channels", "apart"]
    alone = client.run("--audio", tmp_path / "1.wav", tmp_path / "2.wav").stdout.decode().splitlines()
    texts = [line.partition(": ")[2] for line in alone]
    assert client.run(*apart).stdout.decode().splitlines() == [f"channel 1: {texts[0]}", f"channel 2: {texts[1]}"]
    told = json.loads(client.run(*apart, "--json").stdout)
    assert [channel["channel"] for channel in told["channels"]] == [1, 2]
    assert all(channel["transcripts"][0]["words"] for channel in told["channels"])
    subtitles = client.run(*apart, "--format", "vtt").stdout.decode()
    assert "<v channel 1>" in subtitles and "<v channel 2>" in subtitles
    refused = client.run("--audio", "-", "--channels", "apart")
    assert refused.returncode == 1 and b"--channels" in refused.stderr


def test_recordings_that_differ_in_their_extension_get_files_of_their_own(
    client: Client, recordings: list[Path], tmp_path: Path
) -> None:
    (tmp_path / "in").mkdir()
    samples, rate = soundfile.read(recordings[0], dtype="int16")
    for name in ("a.wav", "a.flac", "b.wav"):
        soundfile.write(tmp_path / "in" / name, samples, rate)
    finished = client.run("--audio", tmp_path / "in", "--output_dir", tmp_path / "out")
    assert finished.returncode == 0
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["a.flac.txt", "a.wav.txt", "b.txt"]
    (line,) = finished.stderr.decode().splitlines()
    assert "a.*.txt" in line


def test_json_tells_the_times_of_words(client: Client, recordings: list[Path]) -> None:
    finished = client.run("--audio", recordings[0], "--json", "--candidate_transcripts", 2)
    transcripts = json.loads(finished.stdout)["transcripts"]
    assert len(transcripts) == 2
    assert transcripts[0]["confidence"] >= transcripts[1]["confidence"]
    assert {"word", "start_time", "duration", "confidence"} == set(transcripts[0]["words"][0])
    assert all(0 < word["confidence"] < 1 for word in transcripts[0]["words"])


def test_words_of_low_confidence_are_marked_or_dropped(client: Client, model: Model, recordings: list[Path]) -> None:
    flags = ["--audio", recordings[0], "--min_confidence", 1]
    heard = model.transcribe(recordings[0]).text.split()
    assert client.run(*flags).stdout.decode().split() == [f"[{word}?]" for word in heard]
    assert client.run(*flags, "--low_confidence", "drop", "--json").stdout.decode().count('"word"') == 0
    sure, unsure = (TimedWord(text, 0.0, 1.0, confidence) for text, confidence in (("今天", 0.9), ("吗", 0.1)))
    options = argparse.Namespace(min_confidence=0.5, low_confidence="drop")
    assert as_asked(Transcript("今天吗今天", (sure, unsure, sure), -1.0), options).text == "今天今天"
    options.low_confidence = "mark"
    assert as_asked(Transcript("今天 吗今天", (sure, unsure, sure), -1.0), options).text == "今天 [吗?]今天"


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (["--endpoint_longest_utterance=-1"], "--endpoint_longest_utterance is -1.0"),
        (["--endpoint_silence_after_words=1", "--json"], "cannot be combined with --format, --json, "),
        (["--stream=100", "--json"], "--stream: prints text as it comes, and cannot be combined with --format, --json"),
        (["--alphabet=alphabet.txt"], "--alphabet: leave it out, as the model contains its alphabet"),
        (["--lm=lm.binary", "--trie=trie"], "--lm: give the language model, without its trie, as --scorer"),
        (["--extended_stream", "320"], "--extended_stream: give --stream, which prints the same text"),
        (["-t"], "-t: leave it out, and measure the command"),
        (["--min_confidence=2"], "--min_confidence=2: must be from 0 to 1"),
        (["--low_confidence=drop"], "--low_confidence: needs --min_confidence"),
        (["--min_confidence=0.5", "--stream=100"], "--min_confidence: cannot be combined with --stream"),
        (["--min_confidence=0.5", "--voice_activity"], "--voice_activity: print text as it comes"),
        (["--channels=apart", "--stream=100"], "--channels=apart: transcribes one channel after the other, and cannot"),
        (["--audio", ""], "--audio: the path is empty; give . for the current folder"),
        (["--output_dir", ""], "--output_dir: the path is empty; give . for"),
    ],
)
def test_flags_that_cannot_be_used_are_named(flags: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert transcribe(["--model", "missing.pb", "--audio", "a.wav", *flags]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert said in line


def test_a_signal_is_printed_utterance_by_utterance(client: Client, model: Model, recordings: list[Path]) -> None:
    spoken = [np.asarray(soundfile.read(path, dtype="int16")[0]) for path in recordings[:2]]
    pause = np.random.default_rng(0).normal(0, 100, 24_000).astype(np.int16)
    data = np.concatenate([spoken[0], pause, spoken[1], pause]).tobytes()
    ended = client.run("--audio", "-", "--endpoint_silence_after_words", 0.5, data=data).stdout.decode().splitlines()
    assert [line.strip() for line in ended] == [model.stt(samples).strip() for samples in spoken]
    streamed = client.run("--audio", "-", "--stream", 3200, data=data).stdout.decode().splitlines()
    assert [line.strip() for line in streamed] == [line.strip() for line in ended]


@pytest.mark.parametrize("flags", [["--stream", 3200], ["--endpoint_silence_after_words", 1]])
def test_utterances_of_several_recordings_have_the_names_of_theirs(
    client: Client, model: Model, recordings: list[Path], flags: list[object]
) -> None:
    lines = client.run("--audio", *recordings[:2], *flags).stdout.decode().splitlines()
    assert lines == [f"{path}: {model.transcribe(path).text.strip()}" for path in recordings[:2]]


def shown_on_a_terminal(command: list[str]) -> str:
    """Return what a command writes on a terminal."""
    ours, theirs = pty.openpty()
    subprocess.run(command, stdout=theirs, stderr=theirs, check=False)
    os.close(theirs)
    return all_shown(ours)


def test_a_terminal_shows_each_text_and_each_error_on_a_line_of_its_own(
    client: Client, recordings: list[Path], tmp_path: Path
) -> None:
    given = [recordings[0], tmp_path / "missing.wav", recordings[1]]
    shown = shown_on_a_terminal(client.command("--audio", *given))
    names = [line.partition(": ")[0] for line in shown.split("\r\n")]
    assert names == [str(recordings[0]), "deepspeech", str(recordings[1]), ""]
    written = shown_on_a_terminal(client.command("--audio", *given, "--output_dir", tmp_path))
    assert "Transcribing" in written and f"\r\ndeepspeech: {given[1]}: No such file" in written


def test_a_long_recording_has_several_transcripts_too(client: Client, recordings: list[Path], tmp_path: Path) -> None:
    spoken = [np.asarray(soundfile.read(path, dtype="int16")[0]) for path in recordings[:2]]
    soundfile.write(
        tmp_path / "long.wav", np.concatenate([spoken[0], np.zeros(35 * 16_000, np.int16), spoken[1]]), 16_000
    )
    finished = client.run("--audio", tmp_path / "long.wav", "--json", "--candidate_transcripts", 5)
    transcripts = json.loads(finished.stdout)["transcripts"]
    assert len(transcripts) == 5
    assert len({json.dumps(each) for each in transcripts}) == 5
    scores = [each["confidence"] for each in transcripts]
    assert scores == sorted(scores, reverse=True)


def test_folders_are_transcribed_into_files_of_a_folder(
    client: Client, recordings: list[Path], scorer_file: Path, tmp_path: Path
) -> None:
    (tmp_path / "in/deeper").mkdir(parents=True)
    for number, path in enumerate(recordings[:2]):
        (tmp_path / "in" / ("deeper" * number) / path.name).write_bytes(path.read_bytes())
    (tmp_path / "in/broken.wav").write_bytes(b"RIFF")
    (tmp_path / "in/._broken.wav").write_bytes(b"notes of macOS")
    (tmp_path / "in/.deleted").mkdir()
    (tmp_path / "in/.deleted/a.wav").write_bytes(b"")
    (tmp_path / "in/notes/a.wav").mkdir(parents=True)
    scorer = ["--scorer", scorer_file, "--lm_alpha", 0.5, "--hot_words", "abc:1.5,de:-1,Nairobi:5"]
    finished = client.run("--audio", tmp_path / "in", "--format", "srt", "--output_dir", tmp_path / "out", *scorer)
    assert finished.returncode == 1
    ignored, line = finished.stderr.decode().splitlines()
    assert ignored.startswith("deepspeech: the hot word 'Nairobi' is ignored: ") and "broken.wav" in line
    written = sorted(path.relative_to(tmp_path / "out") for path in (tmp_path / "out").rglob("*.*"))
    assert written == sorted([Path("deeper") / f"{recordings[1].stem}.srt", Path(f"{recordings[0].stem}.srt")])
    assert " --> " in (tmp_path / "out" / written[-1]).read_text()


def test_recordings_in_linked_folders_are_transcribed_once(
    client: Client, recordings: list[Path], tmp_path: Path
) -> None:
    for name in ("in", "elsewhere"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.wav").write_bytes(recordings[0].read_bytes())
    (tmp_path / "in/linked").symlink_to(tmp_path / "elsewhere", target_is_directory=True)
    (tmp_path / "elsewhere/back").symlink_to(tmp_path / "in", target_is_directory=True)
    finished = client.run("--audio", tmp_path / "in")
    heard = [line.partition(": ")[0] for line in finished.stdout.decode().splitlines()]
    assert heard == [str(tmp_path / "in" / name) for name in ("a.wav", "linked/a.wav")]


@pytest.mark.parametrize("stream", [[], ["--stream", 100]])
def test_a_pipe_without_samples_is_refused(client: Client, stream: list[object]) -> None:
    finished = client.run("--audio", "-", *stream)
    assert finished.returncode == 1
    assert finished.stderr.decode() == "deepspeech: -: no samples\n"
