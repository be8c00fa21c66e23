"""The checkpoints, summaries and reports of a run between its jobs, on one machine and in a cluster."""

import logging
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

from ..checkpoints.choice import choose_to_begin
from ..checkpoints.model_figures import ModelFigures, keep_figures
from ..checkpoints.store import Checkpoints, Kind
from ..errors import AudioError, CheckpointError, DeepSpeechError
from ..options import CheckpointOptions, Options
from ..options.checkpoints import AUTOMATIC, BEST, LAST
from ..options.training.epochs import LOSS, in_words
from ..schedule.jobs import EpochReport, SetName
from ..schedule.state import TrainingState
from ..util.figures.counted import counted
from ..util.storage.copies import named_for_all
from .data_set import DataSet
from .interruption import Interrupted
from .reporting.remaining_time import RemainingTime
from .reporting.reports import log_report
from .reporting.summaries import Summaries
from .run_record import has_run_record, write_run_record

logger = logging.getLogger(__name__)


class ProgressSource(Protocol):
    """The part of the coordinator that a RunLifecycle reads."""

    @property
    def state(self) -> TrainingState:
        """Progress of training so far."""

    @property
    def training_is_over(self) -> bool:
        """Whether no training or validation is left, only testing."""


class RunLifecycle:
    """Saves, restores and reports at the ends of a run's epochs and when a checkpoint is due.

    The coordinator's state must agree with the session's weights when a method is called.
    """

    def __init__(
        self,
        options: Options,
        sets: Mapping[SetName, DataSet],
        coordinator: ProgressSource,
        session: Any,
        checkpoints: Checkpoints,
        summaries: Summaries,
        decoding: str = "",
    ) -> None:
        """Store the parts of the run; `decoding` describes how its test is decoded, as part of a sentence."""
        self._options = options
        self._decoding = decoding
        self._coordinator = coordinator
        self._session = session
        self._checkpoints = checkpoints
        self._summaries = summaries
        self._saved_state = None if checkpoints.restored_from_elsewhere else coordinator.state
        self._lost_if_stopped = f"this run began, at {_clock()},"
        state = coordinator.state
        self._best = checkpoints.best_figure(state) if options.trains else float("inf")
        self._next_save = self._save_time()
        self.saved_at = checkpoints.last_saved_at
        """The time, as of `time.monotonic`, when the newest checkpoint was saved; None if there is none."""
        self._training_ended = False
        self._keeps_figures = True
        self._reductions = state.plateau_reductions
        stops_early = state.validates and options.schedule.early_stopping.enabled
        self._remaining_time = RemainingTime(may_stop_early=stops_early)
        if options.trains and not (coordinator.training_is_over and has_run_record(options)):
            write_run_record(options, checkpoints.network, session.graph)
            if SetName.TRAIN in sets:
                corpus = sets[SetName.TRAIN].corpus
                self._note(train_utterances=len(corpus), train_hours=corpus.hours)

    def epoch_done(self, report: EpochReport, pace: str) -> None:
        """Report an epoch, and save the weights if their validation is the best so far.

        `pace` is the number of utterances and their seconds, in words. Raise CheckpointError if they cannot be saved.
        """
        log_report(report, self._options.report, pace, self._options.test.files)
        self._summaries.epoch_done(report)
        state = self._coordinator.state
        is_training = report.set_name is SetName.TRAIN
        if is_training and (told := self._remaining_time.epoch_done(state.target_epoch - state.epoch)):
            logger.info(told)
        if report.set_name is SetName.TEST:
            self._note_test(report)
        if report.set_name is SetName.DEV:
            goes_back = state.plateau_reductions > self._reductions
            self._keep_if_best(replace(state, goes_back=goes_back))
            if state.stopped_early:
                logger.info("Validation no longer improves: training stops early, after epoch %d", state.epoch)
            elif goes_back:
                self._go_back_to_best()
            self._reductions = state.plateau_reductions

    def _keep_if_best(self, state: TrainingState) -> None:
        figure, name = state.dev_figures[-1], in_words(state.best_by)
        if state.best_by != LOSS:
            logger.info("Validation of epoch %d: %s without a language model %.2f%%", state.epoch, name, 100 * figure)
        is_best = figure <= self._best
        if not (is_best or self._checkpoints.is_among_best(state)):
            return
        saved = self._checkpoints.save(self._session, Kind.BEST, state)
        self._note_saved(saved)
        if is_best:
            self._best = figure
            logger.info("Best validation %s so far: saved as %s", name, saved.name)
        else:
            logger.info("Saved as %s, which is among the %d best", saved.name, self._options.checkpoints.averaged)

    def _go_back_to_best(self) -> None:
        best = self._checkpoints.go_back_to_best(self._session)
        logger.info(
            "Validation no longer improves: the learning rate is multiplied by %g%s",
            self._options.schedule.learning_rate.plateau_reduction,
            f", and the weights are those of {best.name} again" if best is not None else "",
        )
        if best is not None:
            self._save()  # later checkpoints, which are among the best, have other weights

    def end_training_if_over(self) -> bool:
        """After training, save the last weights and load those to test with; return whether this call did so."""
        if self._training_ended or not self._coordinator.training_is_over:
            return False
        self._training_ended = True
        if self._options.trains:
            self._save()
        if self._options.tests:
            tested = self._checkpoints.choose("Testing", trained=self._options.trains)
            self._checkpoints.restore(self._session, tested, to_use=True)
            self._note(test_checkpoint=", ".join(self._checkpoints.restored_names), test_utterances=0)
        return True

    def save_is_due(self) -> bool:
        """Return whether a checkpoint is due."""
        return self._options.trains and time.monotonic() >= self._next_save and not self._coordinator.training_is_over

    def save_if_due(self) -> None:
        """Save a checkpoint if one is due."""
        if self.save_is_due():
            self._save()

    def save_what_would_be_lost(self) -> None:
        """Save a checkpoint before the session's weights are lost."""
        if not self._only_tests:
            self._save()

    def after_this_step(self) -> str:
        """Return what the program does after a first signal."""
        return "finishing this step" if self._only_tests else "finishing this step, then saving a checkpoint"

    def if_stopped_at_once(self) -> str:
        """Return what is lost by stopping without a checkpoint."""
        if self._only_tests:
            return "stopped while testing; nothing is lost, run the same command again"
        return f"stopped without saving: what was trained since {self._lost_if_stopped} is lost"

    def stop(self, signal_number: int) -> Interrupted:
        """Save a checkpoint after a signal; return the exception to raise."""
        if self._only_tests:
            return Interrupted(signal_number, "interrupted while testing; nothing is lost, run the same command again")
        self._save()
        done = "nothing was trained yet" if self.saved_at is None else f"saved in {self._saved_in}"
        return Interrupted(signal_number, f"interrupted; {done}: run the same command again to resume")

    def fail(self, error: DeepSpeechError) -> DeepSpeechError:
        """Save a checkpoint after an error such as an unreadable utterance; return the error to raise."""
        if not self._only_tests:
            self._save()
            error = type(error)(f"{error}; what was trained before is saved in {self._saved_in}")
        if not isinstance(error, AudioError):
            return error
        advice = "restore the recording and run the same command again, or continue without it with --skip_bad_rows"
        return AudioError(f"{error}; {advice}")

    @property
    def _only_tests(self) -> bool:
        return self._training_ended or not self._options.trains

    def _note_test(self, report: EpochReport) -> None:
        edits = report.tally.edits
        self._note(
            test_files=tuple(named_for_all(path) for path in self._options.test.files),
            test_limit=self._options.test.limit,
            language_model=self._decoding,
            test_utterances=edits.utterances,
            wer=edits.wer,
            cer=edits.cer,
            test_loss=report.tally.mean_loss,
        )

    def _note(self, **figures: object) -> None:
        """Store figures for the model card of an export; if that fails, warn and continue training.

        Send them, too: else a run that is killed would leave files without them at the folder's address.
        """
        if not self._keeps_figures:
            return
        try:
            keep_figures(self._options.checkpoint_folder, **figures)
        except OSError as error:
            self._keeps_figures = False
            logger.warning(
                "%s: the model's figures cannot be saved (%s)", self._options.checkpoint_folder, error.strerror
            )
        if self._options.trains:
            self._checkpoints.send()

    def _save_time(self) -> float:
        seconds = self._options.checkpoints.seconds
        return time.monotonic() + seconds if seconds else float("inf")

    @property
    def _saved_in(self) -> str:
        return named_for_all(self._options.checkpoints.directory)

    def _save(self) -> None:
        """Save a checkpoint if the state has changed since the last one."""
        state = self._coordinator.state
        if state != self._saved_state:
            prefix = self._checkpoints.save(self._session, Kind.NEWEST, state)
            logger.info("Saved checkpoint %s", prefix.name)
            self._saved_state = state
            self._note_saved(prefix)
        self._next_save = self._save_time()

    def _note_saved(self, prefix: Path) -> None:
        self.saved_at = time.monotonic()
        self._lost_if_stopped = f"the checkpoint {prefix.name} of {_clock()}"
        if prefix.name in ModelFigures.read(self._options.checkpoint_folder).test_checkpoint.split(", "):
            self._note(test_checkpoint="", test_utterances=0)  # that was another one, of a training before this


def _clock() -> str:
    return time.strftime("%H:%M")


def restore_newest(checkpoints: Checkpoints, session: Any, options: Options) -> TrainingState:
    """Load the newest checkpoint, if there is one to resume from; return its training progress.

    Else, set all variables to their initial values, which may be those of another folder's checkpoint; a test loads its
    own checkpoint later. Raise CheckpointError.
    """
    wanted = options.checkpoints
    newest = checkpoints.find_newest() if options.trains else None
    if newest is None and options.trains and checkpoints.last_here is not None:
        raise CheckpointError(
            f"--checkpoint_dir={named_for_all(wanted.directory)}: "
            f"{checkpoints.last_here.name}, to resume from, is gone; "
            "restore the folder, or restart all nodes to train from the beginning"
        )
    if newest is not None:
        state = checkpoints.restore(session, newest) or TrainingState()
        logger.info("Resuming from checkpoint %s, %s", named_for_all(newest), _progress(state, options))
        best = checkpoints.go_back_to_best(session) if state.goes_back else None
        if best is not None:  # the previous run was killed after it saved this one, before it returned to the best
            logger.info("The weights are those of %s, as validation no longer improves", best.name)
        _tell_unused(wanted, newest)
        return replace(state, goes_back=False)
    if not (options.trains and wanted.begins_elsewhere):
        checkpoints.initialize(session)
        return TrainingState()
    if wanted.only_weights:
        checkpoints.initialize_from(session, choose_to_begin(wanted, AUTOMATIC))
        return TrainingState()
    prefix = choose_to_begin(wanted, LAST)
    state = (checkpoints.restore(session, prefix) or TrainingState()).as_beginning()
    logger.info("Training continues, %s, and saves to %s", _progress(state, options), named_for_all(wanted.directory))
    return state


def _tell_unused(wanted: CheckpointOptions, resumed: Path) -> None:
    """Log which flags do not decide what training begins with, as it resumes."""
    by_file = "initialize_from_weights" if wanted.initial_weights else "initialize_from_frozen_model"
    flag = "load_checkpoint_dir" if wanted.begins_elsewhere else by_file
    if wanted.begins_elsewhere or wanted.initial_file is not None:
        logger.info("--%s is not used: there is a checkpoint to resume from", flag)
    if not wanted.begins_elsewhere and wanted.wanted not in (AUTOMATIC, BEST, LAST, resumed.name):
        logger.info("--checkpoint=%s is tested and exported, not resumed: there is a newer one", wanted.wanted)


def _progress(state: TrainingState, options: Options) -> str:
    """Return the training progress in words."""
    wanted = state.aimed_at(options.schedule.epoch).target_epoch
    return (
        f"{state.epoch} of {wanted} epochs done" if state.epoch <= wanted else f"{counted(state.epoch, 'epoch')} done"
    )
