"""Training and testing on one machine: the coordinator, one worker and the checkpoints, brought together."""

import logging
import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import tensorflow as tf

from .checkpoints import Checkpoints, Kind, Meaning
from .coordinator.jobs import EpochReport, Job, SetName
from .coordinator.state import TrainingState
from .coordinator.training_coordinator import TrainingCoordinator
from .data_set import DataSet, open_sets
from .evaluation import Evaluator, make_decoder
from .findings import note
from .interruption import Interrupted, InterruptionWatch
from .options import Options
from .reports import TITLES, log_report
from .summaries import Summaries
from .towers import compute_devices
from .training_graph import build_training_graph, fix_threads, session_config
from .util.features import front_end
from .util.feeding import Batch
from .util.progress import Progress
from .util.text import Alphabet
from .worker import Worker

v1 = tf.compat.v1
logger = logging.getLogger(__name__)


def train_and_test(options: Options, devices: Sequence[str] | None = None) -> None:
    """Train on the training set, if there is one, then test on the test set, if there is one.

    Goes on from the newest checkpoint of the folder. Tests with the checkpoint of lowest validation loss, or with the
    newest if there was no validation. Raises a DeepSpeechError for input that cannot be used, and Interrupted, with a
    checkpoint saved, after SIGINT or SIGTERM.
    """
    fix_threads(options.session)
    alphabet = Alphabet.load(options.alphabet_path)
    decoder = make_decoder(alphabet, options.language_model)
    with open_sets(options, alphabet, front_end(options.features)) as sets, Evaluator(decoder) as evaluator:
        graph = build_training_graph(
            devices or compute_devices(),
            label_count=alphabet.size,
            feature_options=options.features,
            model_options=options.model,
            optimizer_options=options.optimizer if options.trains else None,
            random_seed=options.random_seed,
        )
        meaning = Meaning(alphabet, options.features, options.model)
        checkpoints = Checkpoints(options.checkpoints, graph.graph, meaning)
        if options.trains:
            checkpoints.check_writable()
        with v1.Session(graph=graph.graph, config=session_config(options.session)) as session:
            state = _restore_newest(checkpoints, session, options)
            step = int(session.run(graph.global_step))
            with Summaries(options.summaries, graph.graph, step) as summaries, InterruptionWatch() as watch:
                run = _Run(options, sets, state, session, checkpoints, summaries, watch)
                run.lead(Worker(graph, session, sets, evaluator, report_count=options.report.count, observer=run))


def _restore_newest(checkpoints: Checkpoints, session: Any, options: Options) -> TrainingState:
    """Load what training goes on from; without training, only make the variables (testing loads its own)."""
    newest = checkpoints.find(Kind.NEWEST) if options.trains else None
    if newest is None:
        checkpoints.initialize(session)
        return TrainingState()
    state = checkpoints.restore(session, newest)
    state = (state or TrainingState()).aimed_at(options.schedule.epoch)
    logger.info("Going on from checkpoint %s, %s", newest, _standing(state, options))
    return state


def _standing(state: TrainingState, options: Options) -> str:
    """How far training has come, in words."""
    if state.stopped_early and options.schedule.early_stopping.enabled:
        return f"which stopped early after epoch {state.epoch}: give a higher --epoch or --noearly_stop to train on"
    return f"{state.epoch} of {state.target_epoch} epochs done"


class _Run:
    """One run of the program: leads a worker through the coordinator's jobs and looks after what surrounds them."""

    def __init__(
        self,
        options: Options,
        sets: Mapping[SetName, DataSet],
        state: TrainingState,
        session: Any,
        checkpoints: Checkpoints,
        summaries: Summaries,
        watch: InterruptionWatch,
    ) -> None:
        self._options = options
        self._session = session
        self._checkpoints = checkpoints
        self._summaries = summaries
        self._watch = watch
        self._coordinator = TrainingCoordinator(
            options.schedule,
            {name: data_set.plan for name, data_set in sets.items()},
            report_count=options.report.count,
            state=state,
        )
        self._saved_state = self._coordinator.state
        self._next_save = self._save_time()
        self._progress: Progress | None = None
        self._training_ended = False
        if options.trains:
            corpus = sets[SetName.TRAIN].corpus
            self._note(train_utterances=len(corpus), train_hours=corpus.hours)

    def lead(self, worker: Worker) -> None:
        """Go through all epochs, then the test."""
        while True:
            if self._coordinator.training_is_over and not self._training_ended:
                self._end_training()
            job = self._coordinator.next_job()
            if not isinstance(job, Job):
                return
            with self._progress_of(job) as self._progress:
                reports = list(worker.work(job, self._coordinator, self._is_interrupted))
            for report in reports:
                self._finish_epoch(report)
            if self._watch.signal_number is not None:
                raise self._stop(self._watch.signal_number)
            if self._save_is_due():
                self._save()

    def run_arguments(self, job: Job) -> Mapping[str, Any]:
        """Extra arguments for the session's run of the next step."""
        return self._summaries.run_arguments(job)

    def step_done(self, job: Job, batches: Sequence[Batch], losses: npt.NDArray[np.float32]) -> None:
        """Count a step's batches on the progress bar and in the summaries."""
        if self._progress is not None:
            self._progress.advance(len(batches))
        self._summaries.step_done(job, batches, losses)

    def _progress_of(self, job: Job) -> Progress:
        opened = self._coordinator.current
        assert opened is not None
        title = TITLES[job.set_name]
        if job.set_name is not SetName.TEST:
            title += f" epoch {job.epoch + 1}"
        progress = Progress(title, opened.plan.batch_count, self._options.report.show_progressbar)
        progress.advance(len(opened.done))
        return progress

    def _finish_epoch(self, report: EpochReport) -> None:
        log_report(report, self._options.report)
        self._summaries.epoch_done(report)
        state = self._coordinator.state
        if report.set_name is SetName.TEST:
            self._note_test(report)
        if report.set_name is SetName.DEV:
            if report.tally.mean_loss <= state.best_dev_loss:
                best = self._checkpoints.save(self._session, Kind.BEST, state)
                logger.info("Best validation loss so far: saved as %s", best.name)
            if state.stopped_early:
                logger.info("Validation no longer improves: training stops early, after epoch %d", state.epoch)

    def _end_training(self) -> None:
        """Save the last weights, then load those to test with."""
        self._training_ended = True
        if self._options.trains:
            self._save()
        if self._options.tests:
            tested = self._checkpoints.choose("Testing")
            self._checkpoints.restore(self._session, tested)
            self._note(test_checkpoint=tested.name, test_utterances=0)

    def _note_test(self, report: EpochReport) -> None:
        edits = report.tally.edits
        self._note(
            test_files=tuple(str(path) for path in self._options.test.files),
            test_utterances=edits.utterances,
            wer=edits.wer,
            cer=edits.cer,
            test_loss=report.tally.mean_loss,
        )

    def _note(self, **found: object) -> None:
        """Keep figures for the card of an export; they are not worth stopping for."""
        try:
            note(self._options.checkpoints.directory, **found)
        except OSError as error:
            logger.warning("%s: findings cannot be kept (%s)", self._options.checkpoints.directory, error.strerror)

    def _is_interrupted(self) -> bool:
        return self._watch.signal_number is not None or self._save_is_due()

    def _save_is_due(self) -> bool:
        return self._options.trains and not self._coordinator.training_is_over and time.monotonic() >= self._next_save

    def _save_time(self) -> float:
        seconds = self._options.checkpoints.seconds
        return time.monotonic() + seconds if seconds else float("inf")

    def _save(self) -> None:
        """Save, unless nothing was done since the last time."""
        state = self._coordinator.state
        if state != self._saved_state:
            prefix = self._checkpoints.save(self._session, Kind.NEWEST, state)
            logger.info("Saved checkpoint %s", prefix.name)
            self._saved_state = state
        self._next_save = self._save_time()

    def _stop(self, signal_number: int) -> Interrupted:
        if not self._options.trains or self._coordinator.training_is_over:
            return Interrupted(signal_number, "interrupted while testing; nothing is lost, run the same command again")
        self._save()
        return Interrupted(
            signal_number,
            f"interrupted; saved in {self._options.checkpoints.directory}: the same command goes on from there",
        )
