"""The chief: the first worker's process also leads the training.

It loads the weights into the parameter servers, ends the coordinator's rounds, saves checkpoints and reports progress.
When a parameter server is lost, both the weights and the coordinator go back to the last checkpoint.
"""

import logging
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import tensorflow as tf

from ..checkpoints.identity import ModelIdentity
from ..checkpoints.store import Checkpoints
from ..errors import CheckpointError, ClusterError
from ..schedule.coordinator import TrainingCoordinator
from ..schedule.jobs import SetName, Tally
from ..training.features.statistics import fill_in_statistics
from ..training.interruption import Interrupted, InterruptionWatch
from ..training.lifecycle import RunLifecycle, restore_newest
from ..training.reporting.epoch_progress import EpochProgress
from ..training.reporting.summaries import Summaries
from ..training.session_errors import session_errors_in_words, summary
from ..util.feeding import UNREADABLE
from ..util.monitoring.waiting import Waiting
from ..util.storage.folders import try_to_send
from .addresses.reachability import ServersReached
from .allreduce.steps import AllReduceSteps
from .coordination.membership import Role
from .http.client import RETRY_SECONDS
from .http.service import Service
from .locked_progress import LockedProgress
from .monitoring.node_record import NodeState
from .node import GRACE_SECONDS, SERVERS_LOST, end_hard_later, is_of_a_server
from .steps import ParameterServersLostError, ServedSteps
from .watchdog import HELD_UP_SECONDS, Watchdog
from .worker import CLOSING_SECONDS, WorkerContext
from .worker_thread import WorkerThread

v1 = tf.compat.v1
logger = logging.getLogger(__name__)

WAKE_SECONDS = 0.25
"""Seconds between checks of the clock and of signals while nothing happens."""

GATHERING_SECONDS = 15.0
"""Seconds that the chief waits for all workers before it begins with those that have joined."""

FAILURE_NOTICE_SECONDS = 3.0
"""Seconds for which the chief keeps running after a failure, so that every node learns why training has failed."""

SAVING_SECONDS = 600.0
"""Seconds that a checkpoint may take to be saved or loaded."""

WAITED = "interrupted while waiting for other nodes; the same command goes on from the last checkpoint"


class Chief:
    """Leads a cluster's training from the coordinator's process."""

    def __init__(
        self, context: WorkerContext, service: Service, identity: ModelIdentity, watch: InterruptionWatch
    ) -> None:
        self._context = context
        self._options = context.options
        self._service = service
        self._watch = watch
        self._ending_without_weights = watch.ending
        self._patience = context.cluster.coordinator_retries * RETRY_SECONDS
        bar, course = self._options.report.show_progressbar, self._options.schedule.learning_rate
        self._progress = EpochProgress(context.sets, bar=bar, shows_rate=not course.is_constant)
        self._watchdog = Watchdog(service, context.cluster.parameter_servers, self._patience)
        kind = ServedSteps if context.replica is None else AllReduceSteps
        self._steps = kind(context, service, self._watchdog, self._progress)
        self._send = self._watchdog.apart_from(try_to_send)
        graph, here = context.graph.training.graph, "/job:worker/task:0" if context.replica is None else ""
        with graph.as_default(), v1.device(f"{here}/cpu:0"):
            folder, kept = self._options.checkpoint_folder, self._options.checkpoints
            self._checkpoints = Checkpoints(folder, kept, graph, identity, self._send)
        if self._options.trains:
            self._checkpoints.prepare_folder()

    def lead(self, work: Callable[[Callable[[], bool]], None]) -> None:
        """Lead until training is over, while `work` runs on a thread.

        Raises a DeepSpeechError, after reporting it to every node.
        """
        self._watch.when_signalled = self._end_if_nothing_can_be_saved
        ended = threading.Event()
        worker = WorkerThread(work, ended, self._service)
        try:
            worker.start()
            with self._watchdog, session_errors_in_words():
                while not self._lead_until_servers_are_lost(worker):
                    pass
        except BaseException as error:
            self._progress.break_off()
            self._announce_end(error)
            raise
        finally:
            ended.set()
        self._wait_for_shutdown()

    def _lead_until_servers_are_lost(self, worker: WorkerThread) -> bool:
        """Load the weights and lead; return True when training is over, False when a parameter server was lost."""
        session = None
        self._watch.ending = self._ending_without_weights
        try:
            self._gather(worker)
            session = self._context.session()
            graph = self._context.graph.training.graph
            with graph.as_default(), Summaries(self._options, self._context.sets, graph, 0, self._send) as summaries:
                lifecycle = self._open(session, summaries)
                while not self._is_over():
                    self._do_what_is_due(lifecycle, worker)
            return True
        except (ParameterServersLostError, *SERVERS_LOST) as error:
            self._suspend(error)
            return False
        except CheckpointError as error:
            if not is_of_a_server(error.__cause__):
                raise
            self._suspend(error.__cause__)
            return False
        finally:
            if session is not None:
                self._context.begin_to_close(session).join(CLOSING_SECONDS)

    def _suspend(self, error: BaseException | None) -> None:
        """Discard the progress since the last checkpoint, because a parameter server was lost."""
        reason = summary(error) if isinstance(error, tf.errors.OpError) else str(error)
        self._progress.break_off()
        logger.warning("Back to the last checkpoint, or to the beginning if there is none: %s", reason)
        with self._service.locked() as coordinator:
            coordinator.suspend()
            coordinator.chronicle.note_restart(self._service.clock(), reason)
        self._service.changed()
        time.sleep(RETRY_SECONDS)

    def _gather(self, worker: WorkerThread) -> None:
        """Wait for the parameter servers, and up to GATHERING_SECONDS for missing workers."""
        waiting = Waiting(HELD_UP_SECONDS, self._service.clock)
        reached = ServersReached(self._context.cluster.parameter_servers, self._patience)
        while True:
            waited = waiting.seconds()
            self._watchdog.expect(SAVING_SECONDS)
            self._check(worker)
            with self._service.locked() as coordinator:
                missing = coordinator.members.missing(Role.PARAMETER_SERVER)
                workers_missing = coordinator.members.missing(Role.WORKER)
                go_on_without = not coordinator.members.are_too_few
            if not missing and (not workers_missing or waited > GATHERING_SECONDS) and reached.look():
                if workers_missing and go_on_without:
                    absent = ", ".join(f"worker {task}" for task in workers_missing)
                    logger.warning("Training begins without %s, which can join at any time", absent)
                return
            if self._watch.signal_number is not None:
                raise Interrupted(self._watch.signal_number, WAITED)
            reason = self._watchdog.trouble(self._service.clock() - waited)
            if reason is not None:
                raise ClusterError(reason)
            self._service.wait(WAKE_SECONDS)

    def _open(self, session: Any, summaries: Summaries) -> RunLifecycle:
        graph = self._context.graph
        self._steps.begin(session)
        state = restore_newest(self._checkpoints, session, self._options)
        self._fill_in_statistics(session)
        training = TrainingCoordinator(
            self._options.schedule,
            {name: data_set.plan for name, data_set in self._context.sets.items()},
            report_count=self._options.report.count,
            state=state,
            batches_per_step=len(graph.training.evaluate_towers),
        )
        self._progress.resume(training.current)
        progress, decoding = LockedProgress(self._service, training), self._context.evaluator.decoding
        lifecycle = RunLifecycle(
            self._options, self._context.sets, progress, session, self._checkpoints, summaries, decoding
        )
        self._watch.ending = lifecycle
        with self._service.locked() as coordinator:
            coordinator.open(training, self._service.clock())
            coordinator.chronicle.note_start(self._service.clock(), state)
        self._service.changed()
        return lifecycle

    def _fill_in_statistics(self, session: Any) -> None:
        options, sets = self._options, self._context.sets
        graph, skips = self._context.graph.training.graph, options.bad_rows.skip
        fill_in = self._watchdog.apart_from(fill_in_statistics)  # recordings may come from a store
        fill_in(session, graph, options.features, sets, skip_unreadable=skips)

    def _do_what_is_due(self, lifecycle: RunLifecycle, worker: WorkerThread) -> None:
        self._watchdog.expect(SAVING_SECONDS)
        if isinstance(worker.error, UNREADABLE):
            raise lifecycle.fail(worker.error)
        self._check(worker)
        if self._watch.signal_number is not None and not self._is_over():
            raise lifecycle.stop(self._watch.signal_number)
        possible = self._steps.are_possible()
        with self._service.locked() as coordinator:
            trouble, leaving = coordinator.trouble, coordinator.members.that_must_go
            training = coordinator.training
            progress, tally = (training.progress, training.tally) if training else (None, None)
            reports = coordinator.take_reports()
            end = coordinator.close_round(self._service.clock()) if possible and not reports else None
            coordinator.chronicle.checkpoint_at = lifecycle.saved_at
        if trouble is not None:
            raise ParameterServersLostError(trouble)
        for report in reports:
            self._show_progress(report.set_name, report.epoch, report.tally)
            if report.set_name is SetName.DEV and self._options.schedule.learning_rate.on_plateau:
                self._spoil_round()
            lifecycle.epoch_done(report, self._progress.end())
        if leaving:
            self._save_before_servers_go(lifecycle, leaving)
        if progress is not None and tally is not None:
            self._show_progress(*progress[:2], tally)
        if end is not None:
            self._steps.end_round(end)
        if lifecycle.save_is_due():
            self._progress.make_room()
        lifecycle.save_if_due()
        if end is not None or reports:
            return
        if lifecycle.end_training_if_over():
            with self._service.locked() as coordinator:
                if self._options.tests:
                    coordinator.group.dissolve()  # testing uses other weights
                coordinator.allow_testing()
            self._service.changed()
        self._service.wait(WAKE_SECONDS)

    def _save_before_servers_go(self, lifecycle: RunLifecycle, names: Sequence[str]) -> NoReturn:
        """Save the weights of parameter servers that were told to stop, and let them go."""
        lifecycle.save_what_would_be_lost()
        with self._service.locked() as coordinator:
            coordinator.members.let_go()
        raise ParameterServersLostError(f"{', '.join(names)} was told to stop")

    def _show_progress(self, set_name: SetName, epoch: int, tally: Tally) -> None:
        self._progress.show(set_name, epoch)
        self._progress.reach(tally.utterances, tally.loss_sum)

    def _spoil_round(self) -> None:
        """Discard the gradients of the open round: the best weights may replace those that it began with."""
        with self._service.locked() as coordinator:
            coordinator.spoil_round()
            coordinator.group.dissolve()

    def _check(self, worker: WorkerThread) -> None:
        with self._service.locked() as coordinator:
            failure = coordinator.failure
        if worker.error is not None:
            raise worker.error
        if failure is not None and self._watch.signal_number is not None:
            raise Interrupted(self._watch.signal_number, failure)
        if failure is not None:
            raise ClusterError(failure)

    def _is_over(self) -> bool:
        with self._service.locked() as coordinator:
            return coordinator.over and not coordinator.has_reports

    def _end_if_nothing_can_be_saved(self, number: int) -> None:
        """End the process after a signal if no weights are loaded: TensorFlow may wait for servers that are gone."""
        self._context.record.state = NodeState.ENDING
        with self._service.locked() as coordinator:
            if coordinator.training is not None:
                return
            coordinator.stop(WAITED)
        self._service.changed()
        end_hard_later(WAITED, FAILURE_NOTICE_SECONDS + GRACE_SECONDS, 128 + number)

    def _announce_end(self, error: BaseException) -> None:
        """Report to every member that training has failed or was stopped."""
        reason, number = str(error), error.signal_number if isinstance(error, Interrupted) else None
        end_hard_later(reason, code=1 if number is None else 128 + number)
        with self._service.locked() as coordinator:
            if number is None:
                coordinator.fail(reason)
            else:
                coordinator.stop(reason)
        self._service.changed()
        time.sleep(FAILURE_NOTICE_SECONDS)

    def _wait_for_shutdown(self) -> None:
        """Wait until every node has learned that training is over and has left, or until the wait has timed out."""
        start = time.monotonic()
        with self._service.locked() as coordinator:
            coordinator.shutdown.release_servers()
        while True:
            with self._service.locked() as coordinator:
                if coordinator.shutdown.is_complete(time.monotonic() - start):
                    return
            time.sleep(0.1)
