"""The experiment `auto`: what it chooses by its measurements, and that a run keeps to what it chose."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from shutil import copytree

import numpy as np
import pytest
from corpora import RATE, TinyCorpus, write_wav
from program import Program

from deepspeech.cli.flags import parse
from deepspeech.errors import DeepSpeechError
from deepspeech.experiments.auto.choosing import Machine, experiment_for
from deepspeech.experiments.auto.measuring import Measured
from deepspeech.options import Options
from deepspeech.options.parameters.of_run import run_parameters
from deepspeech.options.parameters.text import FILE_NAME, write_parameters

SMALL = Measured(utterances=900, seconds=2.5, speakers=70, labels=28, labels_a_second=16.0, sample_rate=16000)
MACHINE = Machine(cores=2, gpus=0)


def options_for(measured: Measured, machine: Machine = MACHINE) -> Options:
    return experiment_for(measured, machine)[0].options


@pytest.mark.parametrize(("visible", "gpus"), [(None, 2), ("", 0), ("-1", 0), ("1", 1), ("0,1,2", 2), ("0,-1,1", 1)])
def test_gpus_that_the_environment_hides_do_not_count(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, visible: str | None, gpus: int
) -> None:
    for name in ("0000:01:00.0", "0000:02:00.0"):
        (tmp_path / name).mkdir()
    if visible is None:
        monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    else:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    assert Machine.this_one(tmp_path).gpus == gpus
    assert Machine.this_one(tmp_path / "none").gpus == 0


def test_more_speech_gets_a_larger_network_and_fewer_epochs() -> None:
    small, large = options_for(SMALL), options_for(replace(SMALL, utterances=100_000))
    assert small.model.n_hidden < large.model.n_hidden
    assert small.schedule.epoch > large.schedule.epoch
    assert small.train.batch_size < large.train.batch_size


def test_fast_speech_gets_outputs_that_are_closer_to_each_other() -> None:
    speeds = (5.0, 12.0, 16.0, 45.0)
    corpora = [replace(SMALL, labels_a_second=speed) for speed in speeds]
    steps = [options_for(corpus).model.settings.output_step for corpus in corpora]
    assert steps == sorted(steps, reverse=True) and len(set(steps)) == 4
    assert all(1000 / step > 2 * speed for step, speed in zip(steps, speeds, strict=True))


def test_many_speakers_whose_letters_are_close_to_each_other_get_more_convolutions() -> None:
    corpora = (SMALL, replace(SMALL, labels_a_second=5.0), replace(SMALL, speakers=5))
    assert [options_for(corpus).model.settings.convolutions for corpus in corpora] == [4, 2, 2]


def test_word_pieces_get_outputs_that_are_farther_from_each_other_than_letters() -> None:
    pieces, choices = experiment_for(replace(SMALL, output_unit="wordpieces"), MACHINE)
    assert pieces.options.model.settings.output_step > options_for(SMALL).model.settings.output_step
    assert any("word pieces" in reason for choice in choices for reason in choice.reasons)


def test_recordings_of_the_telephone_are_not_resampled_to_more() -> None:
    rates = [options_for(replace(SMALL, sample_rate=rate)).front_end.audio_sample_rate for rate in (8000, 11025, 48000)]
    assert rates == [8000, 8000, 16000]


def test_few_speakers_are_given_other_voices() -> None:
    many, few = (" ".join(options_for(replace(SMALL, speakers=count)).augmentation.written) for count in (70, 5))
    assert "pitch" in few and "room" in few
    assert "pitch" not in many and "speed" in many


def test_few_hours_of_short_utterances_are_given_small_masks() -> None:
    corpora = (SMALL, replace(SMALL, seconds=12.0), replace(SMALL, utterances=100_000))
    chosen = [options_for(corpus).augmentation.written for corpus in corpora]
    assert chosen[1] == chosen[2] and chosen[0] != chosen[1]
    assert all(any(each.startswith("time_mask") for each in written) for written in chosen)


def test_few_speakers_are_heard_for_longer_unless_that_takes_hours() -> None:
    few, many = replace(SMALL, speakers=5), SMALL
    assert options_for(few).schedule.epoch > options_for(many).schedule.epoch
    hours = [replace(corpus, utterances=9000) for corpus in (few, many)]
    assert len({options_for(corpus).schedule.epoch for corpus in hours}) == 1


def test_single_short_words_are_not_normalized_by_themselves() -> None:
    normalizations = [
        options_for(replace(SMALL, speakers=speakers, seconds=seconds)).front_end.normalization
        for speakers, seconds in ((70, 0.4), (5, 0.4), (5, 2.5))
    ]
    assert normalizations == ["global", "running", "utterance"]


def test_the_flags_of_a_model_that_streams_normalize_nothing_by_the_whole_recording() -> None:
    for speakers, named in ((4, True), (70, False)):
        _, choices = experiment_for(replace(SMALL, speakers=speakers), Machine(2, 0))
        (network,) = (each for choice in choices for each in choice.reasons if each.startswith("network: "))
        assert ("--normalize_features=running for a model that streams" in network) is named


def test_a_gpu_gets_larger_batches_and_a_larger_network() -> None:
    with_gpu, without = options_for(SMALL, Machine(16, 1)), options_for(SMALL)
    assert with_gpu.train.batch_size > without.train.batch_size
    assert with_gpu.model.n_hidden > without.model.n_hidden


def test_every_choice_has_a_reason_with_the_figures_that_led_to_it() -> None:
    _, choices = experiment_for(SMALL, MACHINE)
    text = "\n".join(reason for choice in choices for reason in choice.reasons)
    told = ("16000 Hz", "16 labels a second", "70 speakers")
    estimated = ("about 37 min 30 s of speech", "of about 113 batches")  # before the sets are made
    assert all(words in text for words in (*told, *estimated))


def test_a_run_keeps_to_what_was_measured_when_it_began(tiny_corpus: TinyCorpus, tmp_path: Path) -> None:
    program = Program(tiny_corpus, tmp_path)
    sets = [f"--from={tiny_corpus.train}", "--split=2:1:1"]
    small = ["--experiment=auto", "--work=work", "--n_hidden=4", "--lstm_layers=1", "--beam_width=4", "--test_files="]
    first = program.run(*small, *sets, "--epoch=1")
    assert first.code == 0, first.stderr
    other = program.run(*small, f"--from={tiny_corpus.dev}", "--epoch=2")
    assert other.code == 1
    assert f"--from: the run in --work=work began with {tiny_corpus.train}; choose another --work" in other.error
    again = program.run(*small, "--epoch=2")
    assert again.code == 0, again.stderr
    said = [[line for line in done.stderr.splitlines() if line.startswith("auto: ")] for done in (first, again)]
    assert [line for line in said[0] if " but " in line] == [
        "auto: but --lstm_layers=1 --n_hidden=4, as given",
        "auto: but --epoch=1, as given",
    ]
    assert said[1][0].startswith("auto: continuing with what was chosen for ")
    assert [line for line in said[0] if " but " not in line] == [line for line in said[1][1:] if " but " not in line]
    assert "Training of epoch 2" in again.stderr and "Training of epoch 1" not in again.stderr
    assert program.run(*small, f"--from={tiny_corpus.dev}", "--epoch=3").error == other.error
    repeated = program.run("--params_file=work/checkpoints", "--work=repeated", "--epoch=1")
    assert repeated.code == 0, repeated.stderr
    losses = [re.findall(r"loss [\d.]+", done.stderr) for done in (first, repeated)]
    assert len(losses[0]) > 1 and losses[0] == losses[1]


def test_the_same_command_goes_on_where_the_lists_are_in_the_work_folder(
    tiny_corpus: TinyCorpus, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    work = Path(copytree(tiny_corpus.train.parent, tmp_path / "work"))
    command = ["--experiment=auto", f"--work={work}", f"--from={work / 'train.csv'},{work / 'dev.csv'}"]
    begun = parse(command)
    assert begun is not None
    (work / "checkpoints").mkdir()
    write_parameters(work / "checkpoints" / FILE_NAME, run_parameters(begun))
    assert parse(command) == begun
    assert "auto: continuing with what was chosen for " in capsys.readouterr().err
    with pytest.raises(DeepSpeechError, match=f"--from: the run in --work={work} began with {work}/train.csv,"):
        parse([*command[:2], f"--from={work / 'test.csv'}"])
    with pytest.raises(DeepSpeechError, match=f"--split: the run in --work={work} began without it; "):
        parse([*command, "--split=50:25:25"])


def test_a_folder_of_recordings_is_measured_and_imported_in_its_format(tmp_path: Path) -> None:
    write_wav(tmp_path / "recordings/ann/a.wav", np.ones(RATE, np.float32) / 2)
    (tmp_path / "recordings/ann/a.txt").write_text("one")
    begun = parse(["--experiment=auto", f"--work={tmp_path}", f"--from={tmp_path / 'recordings'}"])
    assert begun is not None and begun.experiment.corpus == "folder"
    assert "utterances=1" in begun.experiment.measured
    (tmp_path / "checkpoints").mkdir()
    write_parameters(tmp_path / "checkpoints" / FILE_NAME, run_parameters(begun))
    again = parse(["--experiment=auto", f"--work={tmp_path}"])
    assert again is not None and again.experiment.corpus == "folder"


def test_another_network_and_other_features_are_told_beside_what_was_chosen(
    tiny_corpus: TinyCorpus, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = ["--feature_type=audio_ops", "--network=deepspeech", "--nobidirectional"]
    assert parse(["--experiment=auto", f"--work={tmp_path}", f"--from={tiny_corpus.train}", *given])
    said = capsys.readouterr().err.splitlines()
    assert "auto: but --feature_type=audio_ops, as given" in said
    assert "auto: but --network=deepspeech --bidirectional=False, as given" in said


def test_without_lists_it_says_what_it_needs(tmp_path: Path) -> None:
    with pytest.raises(DeepSpeechError, match="--experiment=auto: needs --from"):
        parse(["--experiment=auto", f"--work={tmp_path}"])
    with pytest.raises(DeepSpeechError, match="fsdd is imported from one folder, and these are 2 paths"):
        from deepspeech.training.inputs import read_inputs

        options = parse(["--experiment=fsdd", f"--work={tmp_path}", "--from=a,b"])
        assert options is not None
        read_inputs(options)
