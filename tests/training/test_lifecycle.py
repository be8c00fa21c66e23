"""The files and figures that are saved between the jobs of a run."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from checkpoint_sessions import STATE, session_of, set_step, values
from program import Program

from deepspeech.checkpoints.model_figures import ModelFigures, keep_figures
from deepspeech.checkpoints.store import Kind
from deepspeech.cli.flags import parse
from deepspeech.schedule.jobs import EpochReport, SetName, Tally
from deepspeech.schedule.state import OpenEpoch, Plan, TrainingState
from deepspeech.training.lifecycle import RunLifecycle, restore_newest
from deepspeech.training.reporting.summaries import Summaries
from deepspeech.util.corpus import Corpus, read_corpus
from deepspeech.util.features import FeatureOptions, front_end
from deepspeech.util.figures.metrics import EditCounts
from deepspeech.util.text import Alphabet

v1 = tf.compat.v1


@dataclass
class Progress:
    state: TrainingState
    training_is_over: bool = False


class NoSummaries:
    def epoch_done(self, _report: EpochReport) -> None:
        pass


@dataclass
class Listed:
    corpus: Corpus


def double_weights(session: Any) -> None:
    with session.graph.as_default():
        session.run([v1.assign(each, 2 * each) for each in v1.trainable_variables()])


@pytest.mark.parametrize("already", [True, False], ids=["after", "before"])
def test_a_run_that_is_killed_as_it_goes_back_to_the_best_weights_goes_on_from_those(
    program: Program, already: bool
) -> None:
    given = ["--validation_step=1", "--reduce_lr_on_plateau", "--average_checkpoints=2", "--checkpoint_secs=600"]
    options = parse([*program.training(), *given])
    assert options is not None
    report = EpochReport(1, SetName.DEV, False, Tally(1, 2.0))
    with session_of(program.checkpoints, averaged=2) as (checkpoints, session):
        progress = Progress(replace(STATE, dev_losses=(2.0,)))
        run = RunLifecycle(options, {}, progress, session, checkpoints, NoSummaries())  # type: ignore[arg-type]
        set_step(session, 10)
        run.epoch_done(report, "")
        best = values(session)
        double_weights(session)
        set_step(session, 20)
        progress.state = replace(STATE, dev_losses=(2.0, 2.5), plateau_reductions=1)
        run.epoch_done(report, "")
    if not already:
        for path in (*program.checkpoints.glob("train-*"), program.checkpoints / "checkpoint"):
            path.unlink()
    with session_of(program.checkpoints, averaged=2) as (checkpoints, session):
        assert restore_newest(checkpoints, session, options) == progress.state
        found = values(session)
    assert found.pop("global_step") == 20
    assert all(np.array_equal(best[name], found[name]) for name in found)


@pytest.mark.parametrize(("named", "told"), [("train-10", True), ("train-20", False), ("best", False)])
def test_a_run_says_that_it_does_not_resume_an_older_checkpoint_that_is_named(
    program: Program, caplog: pytest.LogCaptureFixture, named: str, told: bool
) -> None:
    options = parse([*program.training(), f"--checkpoint={named}"])
    assert options is not None
    with session_of(program.checkpoints) as (checkpoints, session):
        for step in (10, 20):
            set_step(session, step)
            checkpoints.save(session, Kind.NEWEST, STATE)
    caplog.set_level("INFO")
    with session_of(program.checkpoints) as (checkpoints, session):
        restore_newest(checkpoints, session, options)
    assert ("--checkpoint=train-10 is tested and exported, not resumed: there is a newer one" in caplog.text) == told


def test_a_run_that_finds_nothing_left_to_train_leaves_what_is_told_of_the_training(program: Program) -> None:
    folder, front = program.checkpoints, front_end(FeatureOptions(feature_type="psf"))
    both = [program.corpus.train, program.corpus.test]
    whole = read_corpus(both, Alphabet.load(program.corpus.alphabet), front, progress=False)

    def run(corpus: Corpus, *flags: str, training_is_over: bool) -> tuple[bytes, ModelFigures]:
        options = parse([*program.training(), *flags])
        assert options is not None
        sets: Any = {SetName.TRAIN: Listed(corpus)}
        with session_of(folder) as (checkpoints, session):
            RunLifecycle(options, sets, Progress(STATE, training_is_over), session, checkpoints, NoSummaries())  # type: ignore[arg-type]
        return (folder / "params.txt").read_bytes(), ModelFigures.read(folder)

    folder.mkdir()
    part = replace(whole, utterances=whole.utterances[:2])
    first = run(part, training_is_over=True)
    assert first[1].train_utterances == len(part)
    assert run(whole, "--random_seed=5", training_is_over=True) == first
    parameters, figures = run(whole, "--random_seed=5", training_is_over=False)
    assert b"random_seed : 5" in parameters
    assert figures.train_utterances == len(whole)


def test_a_run_that_is_stopped_before_its_first_job_does_not_say_that_it_has_saved_anything(program: Program) -> None:
    options = parse(program.training())
    assert options is not None
    with session_of(program.checkpoints) as (checkpoints, session):
        progress = Progress(TrainingState())
        run = RunLifecycle(options, {}, progress, session, checkpoints, NoSummaries())  # type: ignore[arg-type]
        assert str(run.stop(15)) == "interrupted; nothing was trained yet: run the same command again to resume"
        progress.state = STATE
        assert str(run.stop(15)).startswith(f"interrupted; saved in {program.checkpoints}: run")


def test_a_checkpoint_is_not_told_to_be_tested_as_one_of_its_name_was_in_a_training_before(program: Program) -> None:
    options = parse([*program.training(), "--validation_step=1"])
    assert options is not None
    with session_of(program.checkpoints) as (checkpoints, session):
        progress = Progress(replace(STATE, dev_losses=(2.0,)))
        run = RunLifecycle(options, {}, progress, session, checkpoints, NoSummaries())  # type: ignore[arg-type]
        keep_figures(program.checkpoints, test_checkpoint="best_dev-20, best_dev-10", test_utterances=3, wer=0.5)
        for step, utterances in ((15, 3), (20, 0)):
            set_step(session, step)
            run.epoch_done(EpochReport(1, SetName.DEV, False, Tally(1, 2.0)), "")
            assert ModelFigures.read(program.checkpoints).test_utterances == utterances


def test_names_that_are_not_utf_8_go_into_checkpoints_and_summaries(program: Program) -> None:
    folder, name = program.folder / os.fsdecode(b"caf\xe9"), os.fsdecode(b"caf\xe9.wav")
    options = parse([*program.training(), "--summary_secs=1", f"--summary_dir={folder}"])
    assert options is not None
    tally = Tally.of_utterance(name, "said", "heard", 2.0)
    opened = OpenEpoch(SetName.DEV, Plan(2, 1, "fingerprint"), frozenset({0}), tally)
    with session_of(program.checkpoints) as (checkpoints, session):
        state = replace(STATE, open_epoch=opened)
        assert checkpoints.restore(session, checkpoints.save(session, Kind.NEWEST, state)) == state
        with Summaries(options, {}, session.graph, 0) as summaries:
            summaries.epoch_done(EpochReport(0, SetName.DEV, True, tally))
    (path,) = folder.glob("events.*")
    path = path.rename(program.folder / "events")
    values = [value for event in v1.train.summary_iterator(str(path)) for value in event.summary.value]
    (samples,) = (tf.make_ndarray(value.tensor) for value in values if value.tag == "dev/samples")
    assert samples[1][0] == b"`caf\\udce9.wav`"


def test_summaries_have_the_error_rates_that_validations_are_compared_by(program: Program) -> None:
    options = parse([*program.training(), "--summary_secs=1", f"--summary_dir={program.folder / 'summaries'}"])
    assert options is not None
    with Summaries(options, {}, tf.Graph(), 0) as summaries:
        summaries.epoch_done(EpochReport(0, SetName.DEV, False, Tally(1, 2.0)))
        for decoded in (False, True):
            counted = Tally(1, 2.0, EditCounts(0, 4, 0, 8), validation_edits=EditCounts(1, 4, 1, 8, 1))
            summaries.epoch_done(EpochReport(1 + decoded, SetName.DEV, decoded, counted))
    (path,) = (program.folder / "summaries").glob("events.*")
    written = [(event.step, value) for event in v1.train.summary_iterator(str(path)) for value in event.summary.value]
    rates = {(step, value.tag): value.simple_value for step, value in written if value.tag in ("dev/wer", "dev/cer")}
    assert rates == {(step, f"dev/{name}"): rate for step in (2, 3) for name, rate in (("wer", 0.25), ("cer", 0.125))}
