"""Recordings with several transcripts are reported, as no network can learn both."""

import logging
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from corpora import RATE, TinyCorpus, say, write_csv, write_wav

from deepspeech.cli.flags import parse
from deepspeech.training.inputs import read_inputs
from deepspeech.util.corpus import read_corpus
from deepspeech.util.features import FeatureOptions, front_end
from deepspeech.util.text import Alphabet


def warnings_of(caplog: pytest.LogCaptureFixture) -> Sequence[str]:
    return [each.getMessage() for each in caplog.records if each.levelno == logging.WARNING]


def read(csv_file: Path) -> None:
    read_corpus([csv_file], Alphabet(("a", "b")), front_end(FeatureOptions()), progress=False)


def test_recordings_with_several_transcripts_are_counted(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    wavs = [write_wav(tmp_path / f"{name}.wav", say("ab", np.random.default_rng(name))) for name in range(3)]
    rows = [(wavs[0], "a"), (wavs[1], "b"), (wavs[2], "a"), (wavs[1], "a"), (wavs[0], "ab"), (wavs[0], "b")]
    csv_file = write_csv(tmp_path / "train.csv", rows)
    read(csv_file)
    assert warnings_of(caplog) == [
        f"{csv_file}: 2 recordings have several transcripts (such as {wavs[1]}, {csv_file}:3 and {csv_file}:5); "
        "remove the wrong ones, or, if these are parts of a recording, name the columns of their times start and "
        "duration, in seconds"
    ]


def test_rows_that_are_repeated_and_parts_of_a_recording_do_not_contradict(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    write_wav(tmp_path / "0.wav", np.random.default_rng(1).uniform(-0.5, 0.5, 3 * RATE))
    csv_file = tmp_path / "train.csv"
    csv_file.write_text("wav_filename,transcript,start,duration\n0.wav,a,0,1\n0.wav,b,1,1\n0.wav,b,1,1\n")
    read(csv_file)
    assert not warnings_of(caplog)


def test_a_run_says_if_all_that_it_learns_is_one_transcript(
    tmp_path: Path, tiny_corpus: TinyCorpus, caplog: pytest.LogCaptureFixture
) -> None:
    wavs = [write_wav(tmp_path / f"{name}.wav", say("ab", np.random.default_rng(name))) for name in range(3)]
    same = write_csv(tmp_path / "same.csv", [(wav, "ab") for wav in wavs])
    for train, told in ((tiny_corpus.train, False), (same, True)):
        caplog.clear()
        flags = [f"--train_files={train}", f"--alphabet_config_path={tiny_corpus.alphabet}", "--noshow_progressbar"]
        options = parse(flags)
        assert options is not None
        read_inputs(options)
        assert any("All 3 transcripts of the training set are 'ab'" in text for text in warnings_of(caplog)) == told
