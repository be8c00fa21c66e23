"""The experiment `auto`: what it measures, what it chooses by that, and that a run keeps to what it chose."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from shutil import copytree
from typing import Any

import numpy as np
import pytest
import soundfile
from corpora import RATE, TinyCorpus, write_csv, write_wav
from program import Program

from deepspeech.cli.flags import parse
from deepspeech.errors import DeepSpeechError
from deepspeech.experiments.auto.choosing import Machine, experiment_for
from deepspeech.experiments.auto.measuring import Measured
from deepspeech.experiments.auto.measuring import measure as measure_items
from deepspeech.options import Options
from deepspeech.options.parameters.of_run import run_parameters
from deepspeech.options.parameters.text import FILE_NAME, write_parameters
from deepspeech.util.audio import AudioInfo, inspect_audio
from deepspeech.util.importing import read_items
from deepspeech.util.importing.pipeline.records import SETS, Choices
from deepspeech.util.output_units import ByteAlphabet
from deepspeech.util.transcripts import Normalizer

SMALL = Measured(utterances=900, seconds=2.5, speakers=70, labels=28, labels_a_second=16.0, sample_rate=16000)
MACHINE = Machine(cores=2, gpus=0)


def measure(lists: Sequence[Path], *how: Any, **named: Any) -> Measured:
    return measure_items(read_items("lists", Path(), Choices(lists=tuple(lists))), "lists", *how, **named)


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


def test_bytes_get_outputs_for_each_byte_of_a_letter(tiny_corpus: TinyCorpus, tmp_path: Path) -> None:
    folder = Path(copytree(tiny_corpus.train.parent, tmp_path / "corpus"))
    recordings = sorted(folder.rglob("*.wav"))
    foreign = write_csv(folder / "foreign.csv", [(recording, "語" * 5) for recording in recordings])
    characters, in_bytes = (measure([foreign], Normalizer(), unit) for unit in ("characters", "bytes"))
    assert in_bytes.labels_a_second == pytest.approx(characters.labels_a_second * 15 / 9)  # 4 blanks, and none
    arguments = ["--experiment=auto", f"--work={tmp_path}", f"--from={foreign}", "--output_unit=bytes"]
    options = parse(arguments)
    assert options is not None
    assert options.load_alphabet() == ByteAlphabet()
    assert options.model.settings.output_step == options_for(in_bytes).model.settings.output_step


def test_labels_are_counted_as_the_model_will_spell_them(tiny_corpus: TinyCorpus, tmp_path: Path) -> None:
    folder = Path(copytree(tiny_corpus.train.parent, tmp_path / "corpus"))
    recordings = sorted(folder.rglob("*.wav"))
    decomposed = write_csv(folder / "decomposed.csv", [(each, "\u1112\u1161\u11ab!... 0") for each in recordings])
    composed = write_csv(folder / "composed.csv", [(each, "\ud55c 0") for each in recordings])
    assert measure([decomposed], Normalizer()) == measure([composed], Normalizer())
    as_it_is = parse(["--experiment=auto", f"--work={tmp_path}", f"--from={decomposed}", "--nonormalize_transcripts"])
    assert as_it_is is not None
    needed = measure([decomposed], None).labels_a_second
    assert needed > 2 * measure([composed], Normalizer()).labels_a_second
    assert f"labels_a_second={needed}" in as_it_is.experiment.measured
    wrong = write_csv(folder / "wrong.csv", [(recordings[0], "0 " * 999), *((each, "\ud55c 0") for each in recordings)])
    assert measure([wrong], Normalizer()).labels_a_second == measure([composed], Normalizer()).labels_a_second


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


def test_recordings_that_begin_and_end_with_speech_are_given_silence(tmp_path: Path) -> None:
    tone = np.sin(np.arange(RATE) / 5).astype(np.float32) / 2
    quiet = np.random.default_rng(1).normal(0, 0.001, RATE // 4).astype(np.float32)
    chosen = []
    for name, samples in (("cut", tone), ("whole", np.concatenate([quiet, tone, quiet]))):
        recording = write_wav(tmp_path / name / "a.wav", samples)
        measured = measure([write_csv(tmp_path / name / "train.csv", [(recording, "a")])], None)
        experiment, choices = experiment_for(measured, MACHINE)
        chosen.append((measured.silence, "silence" in str(experiment.options.augmentation.written)))
        reasons = [reason for choice in choices for reason in choice.reasons]
        assert any(f"{measured.silence:.2f} s" in reason for reason in reasons) == (name == "cut")
    assert chosen == [(0, True), (pytest.approx(0.5, abs=0.05), False)]


def test_a_recording_of_many_parts_is_decoded_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    soundfile.write(tmp_path / "talk.flac", np.random.default_rng(0).normal(0, 0.1, 20 * 8000), 8000)
    rows = [f"talk.flac,a,{start / 10},0.5" for start in range(100)]
    (tmp_path / "train.csv").write_text("\n".join(["wav_filename,transcript,start,duration", *rows]))
    decoded = []

    def noted(path: str) -> AudioInfo:
        decoded.append(path)
        return inspect_audio(path)

    monkeypatch.setattr("deepspeech.util.checks.inspection.inspect_audio", noted)
    measured = measure([tmp_path / "train.csv"], None)
    assert (measured.seconds, measured.sample_rate) == (0.5, 8000)
    assert decoded == [str(tmp_path / "talk.flac")]


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
    assert all(words in text for words in ("37 min 30 s of speech", "16000 Hz", "16 labels a second", "70 speakers"))


def test_a_corpus_is_measured_by_its_training_set(tiny_corpus: TinyCorpus) -> None:
    measured = measure([tiny_corpus.train, tiny_corpus.dev, tiny_corpus.test], Normalizer())
    assert measured.utterances == len(tiny_corpus.train.read_text(encoding="utf-8").splitlines()) - 1
    assert 0 < measured.hours < 0.1 and measured.speakers == 0 and measured.sample_rate in (8000, 16000)


def test_sets_that_are_taken_from_the_training_set_are_not_counted(tiny_corpus: TinyCorpus, tmp_path: Path) -> None:
    folder = Path(copytree(tiny_corpus.train.parent, tmp_path / "corpus"))
    recordings = zip(SETS, sorted(folder.rglob("*.wav")), strict=False)
    train, dev, test = (write_csv(folder / f"{name}.csv", [(path, "a")] * 100) for name, path in recordings)
    assert measure([train, dev, test], None).utterances == 100
    assert measure([train, dev], None).utterances == 95
    assert measure([train], None).utterances == 90
    assert measure([train, dev], None, split=(1, 1, 2)).utterances == 50
    options = parse(["--experiment=auto", f"--work={tmp_path}", f"--from={train},{dev}", "--split=70:15:15"])
    assert options is not None and "utterances=140" in options.experiment.measured


def test_recordings_that_cannot_be_read_are_named_by_the_first(tmp_path: Path) -> None:
    lists = write_csv(tmp_path / "train.csv", [(tmp_path / f"{name}.wav", name) for name in "ab"])
    with pytest.raises(DeepSpeechError, match=r"train\.csv:2: .*a\.wav: No such file or directory"):
        measure([lists], None)


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
