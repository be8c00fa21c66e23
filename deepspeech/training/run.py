"""Training and testing on one machine: a coordinator and a JobRunner in one process."""

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from typing import Any

import numpy as np
import numpy.typing as npt

from ..checkpoints.identity import ModelIdentity
from ..checkpoints.lock import locked_for_training
from ..checkpoints.store import Checkpoints
from ..decoder.evaluation import Evaluation
from ..network.checks.own_layers import warn_of_own_layers
from ..network.layers.dropout import skip_dropout_seeds
from ..options import Options
from ..schedule.coordinator import TrainingCoordinator
from ..schedule.jobs import Job, SetName
from ..schedule.learning_rate import LearningRate
from ..schedule.snapshot import Publish, Snapshot
from ..util.features import front_end
from ..util.feeding import UNREADABLE, Batch
from ..util.monitoring.time_use import TimeUse
from ..util.signals import ended_by_signals
from ..util.storage.copies import named_for_all
from .data_set import open_sets, plans_of
from .features.statistics import fill_in_statistics
from .graph import Session, build_training_graph, prepare_process, session_config
from .inputs import Inputs
from .interruption import InterruptionWatch, PlainEnding
from .job_runner import JobRunner
from .lifecycle import RunLifecycle, restore_newest
from .reporting.epoch_progress import EpochProgress
from .reporting.summaries import Summaries
from .scoring import evaluator_of
from .session_errors import session_errors_in_words
from .towers import GraphSettings, compute_devices, padded_length_for

STARTING = PlainEnding("stopping before the first step", "stopped before the first step")


def train_and_test(
    options: Options, inputs: Inputs, publish: Publish | None = None, time_use: TimeUse | None = None
) -> None:
    """Train on the training set, if there is one, then test on the test set, if there is one.

    Resume from the newest checkpoint of the folder. Test with the best checkpoint of validation, or with the
    newest if there was no validation. A run that trains locks the folder. `publish` receives the status of the run, and
    `time_use` records how its time is used.
    Raise a DeepSpeechError for input that cannot be used, a folder that is locked, or a step that fails. Save a
    checkpoint and raise Interrupted after SIGINT or SIGTERM.
    """
    lock = locked_for_training(options.checkpoints.directory) if options.trains else nullcontext()
    with lock, session_errors_in_words():
        _train_and_test(options, inputs, publish, time_use or TimeUse())


def _train_and_test(options: Options, inputs: Inputs, publish: Publish | None, time_use: TimeUse) -> None:
    devices = compute_devices()
    title, corpus = named_for_all(options.checkpoint_folder), inputs.corpora.get(SetName.TEST)
    evaluation = Evaluation.of_test(inputs.decoder, options.test.files, corpus, options.report, title)
    prepare_process(options.session)
    with ended_by_signals():
        identity = ModelIdentity(inputs.alphabet, options.features, options.model)
        settings = GraphSettings.of(options, identity.network, trains=options.trains)
        warn_of_own_layers(identity.network, session_config(options.session))
        graph = build_training_graph(devices, settings)
        checkpoints = Checkpoints(options.checkpoint_folder, options.checkpoints, graph.graph, identity)
        if options.trains:
            checkpoints.prepare_folder()
    with Session(graph=graph.graph, config=session_config(options.session)) as session:
        with ended_by_signals():
            state = restore_newest(checkpoints, session, options)  # before caches are built, which can take hours
            step = int(session.run(graph.global_step))
            skip_dropout_seeds(session, step if graph.runs is None else int(session.run(graph.runs)))
        batches_per_step = len(devices) * graph.batches_per_step
        coordinator = TrainingCoordinator(
            options.schedule,
            plans_of(options, inputs),
            report_count=options.report.count,
            state=state,
            batches_per_step=batches_per_step,
        )
        cached = [SetName.TEST] if coordinator.training_is_over else list(SetName)
        lengths, towers = padded_length_for(devices), len(devices)
        with open_sets(options, inputs, front_end(options.features), lengths, cached, towers) as sets:
            fill_in_statistics(session, graph.graph, options.features, sets, skip_unreadable=options.bad_rows.skip)
            with (
                evaluator_of(options, inputs, identity.network, evaluation) as evaluator,
                Summaries(options, sets, graph.graph, step) as summaries,
                InterruptionWatch(STARTING) as watch,
            ):
                lifecycle = RunLifecycle(
                    options, sets, coordinator, session, checkpoints, summaries, evaluator.decoding
                )
                watch.ending = lifecycle
                progress = EpochProgress(
                    sets,
                    bar=options.report.show_progressbar,
                    shows_rate=not options.schedule.learning_rate.is_constant,
                )
                rate = LearningRate(options.optimizer.learning_rate, options.schedule.learning_rate, batches_per_step)
                run = _Run(coordinator, lifecycle, summaries, watch, progress, publish, rate, graph.learning_rate)
                report_count = options.report.count
                run.lead(
                    JobRunner(
                        graph, session, sets, evaluator, report_count=report_count, observer=run, time_use=time_use
                    )
                )
    evaluation.write(progress=options.report.show_progressbar)


class _Run:
    """One run of the program: passes the coordinator's jobs to a JobRunner."""

    def __init__(
        self,
        coordinator: TrainingCoordinator,
        lifecycle: RunLifecycle,
        summaries: Summaries,
        watch: InterruptionWatch,
        progress: EpochProgress,
        publish: Publish | None,
        rate: LearningRate,
        fed_rate: Any,
    ) -> None:
        self._coordinator = coordinator
        self._lifecycle = lifecycle
        self._summaries = summaries
        self._watch = watch
        self._progress = progress
        self._publish = publish
        self._rate = rate
        self._fed_rate = fed_rate

    def lead(self, runner: JobRunner) -> None:
        """Run all epochs, then the test."""
        self._progress.resume(self._coordinator.current)
        self._tell()
        try:
            self._run_epochs(runner)
        finally:
            self._progress.break_off()

    def _run_epochs(self, runner: JobRunner) -> None:
        while True:
            self._lifecycle.end_training_if_over()
            job = self._coordinator.next_job()
            if not isinstance(job, Job):
                return
            self._progress.show(job.set_name, job.epoch)
            try:
                reports = list(runner.work(job, self._coordinator, self._is_interrupted))
            except UNREADABLE as error:
                self._progress.break_off()
                raise self._lifecycle.fail(error) from error
            self._tell()
            for report in reports:
                self._lifecycle.epoch_done(report, self._progress.end())
            if self._watch.signal_number is not None:
                self._progress.break_off()
                raise self._lifecycle.stop(self._watch.signal_number)
            if self._lifecycle.save_is_due():
                self._progress.make_room()
                self._lifecycle.save_if_due()

    def step_arguments(self, job: Job) -> Mapping[str, Any]:
        """Return extra arguments for the session's run of the next step."""
        return self._summaries.run_arguments(job)

    def step_feeds(self, job: Job, batch: int) -> Mapping[Any, Any]:
        """Return the learning rate of the step; on one machine, the batches of an epoch are processed in order."""
        plan = self._coordinator.plan_of(job.set_name)
        assert plan is not None
        rate = self._rate.at(self._coordinator.state_without_epoch, batch, plan.batch_count)
        self._progress.show_rate(rate)
        self._summaries.show_rate(rate)
        return {self._fed_rate: rate}

    def step_done(
        self, job: Job, batches: Sequence[Batch], losses: npt.NDArray[np.float32], gradient_norm: float
    ) -> None:
        """Count a step in the progress and in the summaries."""
        self._progress.advance(losses)
        self._summaries.step_done(job, batches, losses, gradient_norm)
        self._tell()

    def _tell(self) -> None:
        if self._publish is not None:
            self._publish(Snapshot.of(self._coordinator), self._progress.rate, self._lifecycle.saved_at)

    def _is_interrupted(self) -> bool:
        return self._watch.signal_number is not None or self._lifecycle.save_is_due()
