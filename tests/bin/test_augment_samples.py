"""bin/augment_samples.py writes augmented recordings as in training, and pictures of them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import soundfile
from corpora import RATE, TinyCorpus, write_wav
from running import ROOT, assert_fails_with, run_script

from deepspeech.util.corpus_files import Row, read_files


def test_examples_and_a_picture_are_written_for_each_recording(tiny_corpus: TinyCorpus, tmp_path: Path) -> None:
    flags = ("--augment", "speed[factor=1:2]", "--augment", "time_mask[domain=features]")
    done = run_script("augment_samples.py", tiny_corpus.train, *flags, "--to", tmp_path, "--count", 2, "--limit", 2)
    assert done.returncode == 0, done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(
        ["augmented.csv"]
        + [f"train-{index}{end}" for index in (0, 1) for end in ("-0.wav", "-1.wav", "-2.wav", ".png")]
    )
    recorded, _ = soundfile.read(tiny_corpus.train.parent / "wav/train-1.wav")
    examples = [soundfile.read(tmp_path / f"train-1-{number}.wav")[0] for number in range(3)]
    np.testing.assert_allclose(examples[0], recorded, atol=1e-4)
    assert [round(len(recorded) / len(each), 2) for each in examples] == [1, 1, 2]
    rows = (tmp_path / "augmented.csv").read_text().splitlines()
    transcript = tiny_corpus.train.read_text().splitlines()[1].rpartition(",")[2]
    assert [row.partition(",")[0] for row in rows[1:]] == [
        f"train-{index}-{number}.wav" for index in (0, 1) for number in (1, 2)
    ]
    assert [row.rpartition(",")[2] for row in rows[1:3]] == [transcript] * 2
    assert (tmp_path / "train-1.png").read_bytes().startswith(b"\x89PNG")


def test_rows_of_a_corpus_that_are_parts_of_a_recording_are_written_as_these_parts(tmp_path: Path) -> None:
    noise = np.random.default_rng(1).normal(0, 0.1, 2 * RATE).astype(np.float32)
    write_wav(tmp_path / "talk.wav", noise)
    header = "wav_filename,wav_filesize,transcript,start,duration"
    (tmp_path / "dev.csv").write_text(f"{header}\ntalk.wav,0,one,0.25,0.5\ntalk.wav,0,two,1.5,\n")
    flags = ("--augment", "volume[dbfs=-6]", "--to", tmp_path / "out", "--count", 1, "--no_pictures")
    done = run_script("augment_samples.py", tmp_path / "dev.csv", *flags)
    assert done.returncode == 0, done.stderr
    for name, part in (("talk-0-0.wav", noise[RATE // 4 : 3 * RATE // 4]), ("talk-1-0.wav", noise[3 * RATE // 2 :])):
        np.testing.assert_allclose(soundfile.read(tmp_path / "out" / name)[0], part, atol=1e-3)
    rows = (tmp_path / "out/augmented.csv").read_text().splitlines()[1:]
    assert [row.split(",")[::2] for row in rows] == [["talk-0-1.wav", "one"], ["talk-1-1.wav", "two"]]
    (tmp_path / "dev.csv").write_text(f"{header}\ntalk.wav,0,one,5,1\n")
    done = run_script("augment_samples.py", tmp_path / "dev.csv", *flags)
    assert_fails_with(done, f"{tmp_path / 'dev.csv'}:2: {tmp_path / 'talk.wav'}: ")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("dev.tsv", "wav_filename\ttranscript\na.wav\tone\n"),
        ("dev.jsonl", '{"audio_filepath": "a.wav", "text": "one"}\n'),
        ("kaldi/text", "u1 one\n"),
        ("dev.csv", "path,sentence\n./a.wav,one\n"),
    ],
)
def test_every_list_of_utterances_that_training_reads_is_a_source(tmp_path: Path, name: str, text: str) -> None:
    write_wav(tmp_path / "a.wav", np.random.default_rng(1).normal(0, 0.1, RATE).astype(np.float32))
    (tmp_path / "kaldi").mkdir()
    (tmp_path / "kaldi" / "wav.scp").write_text(f"u1 {tmp_path / 'a.wav'}\n")
    (tmp_path / "clips").mkdir()
    (tmp_path / name).write_text(text)
    source = tmp_path / name.removesuffix("/text")
    flags = ("--augment", "volume[dbfs=-6]", "--to", tmp_path / "out", "--count", 1, "--no_pictures")
    done = run_script("augment_samples.py", source, *flags)
    assert done.returncode == 0, done.stderr
    rows = (tmp_path / "out/augmented.csv").read_text().splitlines()[1:]
    assert [row.split(",")[::2] for row in rows] == [["a-1.wav", "one"]]


def test_what_changes_features_is_said_to_be_in_no_recording(tmp_path: Path) -> None:
    write_wav(tmp_path / "a.wav", np.random.default_rng(1).normal(0, 0.1, RATE).astype(np.float32))
    flags = ("--to", tmp_path / "out", "--count", 1, "--no_pictures")
    done = run_script("augment_samples.py", tmp_path / "a.wav", "--augment", "add[stddev=2],volume[dbfs=-6]", *flags)
    assert done.returncode == 0
    assert done.stderr.splitlines()[-1].startswith("not in the recordings, as they change features: add[p=1,")
    assert "volume" not in done.stderr
    done = run_script("augment_samples.py", tmp_path / "a.wav", "--augment", "add[domain=signal,stddev=0.1]", *flags)
    assert "not in the recordings" not in done.stderr


def test_several_augmentations_may_have_commas_between_them_as_in_training(tmp_path: Path) -> None:
    write_wav(tmp_path / "a.wav", np.random.default_rng(1).normal(0, 0.1, RATE).astype(np.float32))
    for name, augment in (
        ("apart", ("--augment", "speed[p=1,factor=2]", "--augment", "volume[dbfs=-6]")),
        ("together", ("--augment", "speed[p=1,factor=2],volume[dbfs=-6]")),
    ):
        flags = ("--to", tmp_path / name, "--count", 1, "--no_pictures")
        assert run_script("augment_samples.py", tmp_path / "a.wav", *augment, *flags).returncode == 0
    assert (tmp_path / "apart/a-1.wav").read_bytes() == (tmp_path / "together/a-1.wav").read_bytes()


def test_no_example_takes_the_place_of_a_recording_or_list_that_is_read(tmp_path: Path) -> None:
    for name in ("a", "a-1"):
        write_wav(tmp_path / f"{name}.wav", np.random.default_rng(1).normal(0, 0.1, RATE // 10).astype(np.float32))
    flags = ("--augment", "volume", "--to", tmp_path, "--count", 1, "--limit", 0, "--no_pictures")
    wrong = "is read, and would be written over; name another folder"
    done = run_script("augment_samples.py", tmp_path, *flags)
    assert_fails_with(done, f"--to={tmp_path}: {tmp_path / 'a-1.wav'} {wrong}")
    (tmp_path / "augmented.csv").write_text("wav_filename,transcript\na.wav,one\n")
    done = run_script("augment_samples.py", tmp_path / "augmented.csv", *flags)
    assert_fails_with(done, f"--to={tmp_path}: {tmp_path / 'augmented.csv'} {wrong}")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a-1.wav", "a.wav", "augmented.csv"]


def test_no_examples_take_the_place_of_those_of_another_recording(tmp_path: Path) -> None:
    noise = np.random.default_rng(1).normal(0, 0.1, RATE // 10).astype(np.float32)
    for number, name in enumerate(("a", "a-1", "more/a"), 1):
        write_wav(tmp_path / f"in/{name}.wav", noise[: number * 100])
    flags = ("--augment", "volume", "--to", tmp_path / "out", "--count", 1, "--limit", 0, "--no_pictures")
    done = run_script("augment_samples.py", tmp_path / "in", *flags)
    assert done.returncode == 0, done.stderr
    written = sorted(soundfile.info(path).frames for path in (tmp_path / "out").iterdir())
    assert written == [100, 100, 200, 200, 300, 300]


def test_examples_of_a_recording_whose_name_is_no_text_can_be_listed(tmp_path: Path) -> None:
    noise = np.random.default_rng(1).normal(0, 0.1, RATE).astype(np.float32)
    write_wav(tmp_path / "a.wav", noise).rename(tmp_path / "caf\udce9.wav")
    (tmp_path / "all.jsonl").write_text('{"audio_filepath": "caf\\udce9.wav", "text": "yes"}\n')
    out = tmp_path / "out"
    run_script(
        "augment_samples.py", tmp_path / "all.jsonl", "--augment", "noise", "--to", out, "--count", "1", "--no_pictures"
    )
    (row,) = read_files([out / "augmented.csv"], None)
    assert isinstance(row, Row)
    assert (Path(row.path).exists(), row.transcript) == (True, "yes")


def test_an_example_that_has_no_room_is_one_line_and_not_left_in_part(tmp_path: Path) -> None:
    write_wav(tmp_path / "a.wav", np.random.default_rng(1).normal(0, 0.1, 2 * RATE).astype(np.float32))
    script = (sys.executable, ROOT / "bin/augment_samples.py", tmp_path / "a.wav", "--augment", "volume")
    command = ("bash", "-c", 'ulimit -f 20; exec "$@"', "bash", *script, "--to", tmp_path / "out", "--no_pictures")
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    assert_fails_with(done, f"{tmp_path / 'out/a-0.wav'}: File too large")
    assert not list((tmp_path / "out").iterdir())


def test_what_cannot_be_used_is_one_line(tiny_corpus: TinyCorpus, tmp_path: Path) -> None:
    arguments = ("augment_samples.py", tiny_corpus.train, "--to", tmp_path / "out")
    assert_fails_with(run_script(*arguments, "--augment", "spead"), "--augment=spead: there is no augmentation spead")
    for flag in ("--count=0", "--limit=-1", "--random_seed=-1", "--audio_sample_rate=0"):
        assert_fails_with(run_script(*arguments, "--augment", "pitch", flag), f"{flag}: must be ")
    assert not (tmp_path / "out").exists()
