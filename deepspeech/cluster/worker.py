"""A cluster's worker: joins, does jobs, and joins again after it was declared lost or the weights were reloaded."""

import logging
import signal
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import tensorflow as tf

from ..errors import ClusterError, TrainingError
from ..options import ClusterOptions, Options
from ..schedule.coordinator import NoJob
from ..schedule.jobs import Job, SetName
from ..training.data_set import DataSet
from ..training.graph import Session
from ..training.job_runner import JobRunner
from ..training.reporting.epoch_progress import EpochProgress
from ..training.scoring import Evaluator
from ..training.session_errors import summary
from ..util.feeding import UNREADABLE, Batch
from ..util.monitoring.time_use import Activity, TimeUse
from .addresses.reachability import ServersReached
from .allreduce.follower import Follower
from .allreduce.graph import AllReduceGraph
from .allreduce.replica import Replica
from .coordination.errors import CoordinatorError, JobLostError, NotMemberError, TrainingStoppedError
from .coordination.membership import Applicant
from .graph import ClusterGraph
from .http.client import POLL_SECONDS, RETRY_SECONDS, Connection, Membership, RemoteCoordinator
from .monitoring.node_record import NodeRecord, NodeState
from .monitoring.spans import Spans
from .monitoring.step_traces import write_step
from .node import SERVERS_LOST, cluster_session_config, end_hard_later, join_or_explain, stopped_with_all

logger = logging.getLogger(__name__)

CLOSING_SECONDS = 2.0
"""Seconds to wait for a session to close: TensorFlow waits longer, at times for good, for a server that is gone."""


@dataclass(frozen=True)
class WorkerContext:
    """What a worker needs for its work; `target` is the address of its TensorFlow server.

    A worker that holds the weights itself has a `replica` of them, and no TensorFlow server.
    """

    options: Options
    cluster: ClusterOptions
    applicant: Applicant
    connection: Connection
    target: str
    graph: ClusterGraph | AllReduceGraph
    sets: Mapping[SetName, DataSet]
    evaluator: Evaluator
    record: NodeRecord
    spans: Spans | None = None
    replica: Replica | None = None

    def session(self) -> Any:
        """Return a new session over the parameter servers and this worker, or the replica's session."""
        if self.replica is not None:
            return self.replica.session
        config = cluster_session_config(self.options, self.cluster)
        return Session(self.target, graph=self.graph.training.graph, config=config)

    def begin_to_close(self, session: Any) -> threading.Thread:
        """Close a session, unless it is the replica's, on the thread that this returns.

        The thread does not keep the process from ending.
        """
        thread = threading.Thread(target=self._close, args=(session,), name="closing", daemon=True)
        thread.start()
        return thread

    def _close(self, session: Any) -> None:
        if self.replica is None:
            with suppress(tf.errors.OpError):
                session.close()


def work_until_over(
    context: WorkerContext, interrupted: Callable[[], bool], joined: Callable[[Membership], object] = lambda _: None
) -> None:
    """Do jobs until training is over or `interrupted`; call `joined` with each membership.

    Raises TrainingError for a loss that isn't finite, after reporting it to every node; AudioError, FeatureCacheError
    or StorageError for an utterance that cannot be read here; ClusterError if the worker cannot continue; Interrupted
    if the chief was told to stop.
    """
    trouble = Trouble()
    seconds = context.cluster.coordinator_retries * RETRY_SECONDS
    reached = ServersReached(context.cluster.parameter_servers, seconds)
    while not interrupted():
        membership = join_or_explain(context.connection, context.applicant, context.record)
        joined(membership)
        try:
            _work_as_member(context, membership, interrupted, reached, trouble)
            membership.leave()
            context.record.state = NodeState.ENDING
            return
        except NotMemberError:
            if interrupted():
                return  # it has left
            logger.warning("The coordinator has declared this worker lost or was restarted: joining again")
            trouble.end()
        except SERVERS_LOST as error:
            logger.warning("A step failed; is a parameter server gone? (%s)", summary(error))
            membership.leave()
            if trouble.lasts() > seconds:
                raise ClusterError(f"steps have failed for {seconds:.0f} s: {summary(error)}") from error
            time.sleep(RETRY_SECONDS)
        except tf.errors.OpError as error:
            membership.leave()
            raise ClusterError(f"{context.applicant.name}: a step failed: {summary(error)}") from error
        except TrainingError as error:
            membership.leave(str(error))
            raise
        except (*UNREADABLE, ClusterError):
            membership.leave()
            raise
        except TrainingStoppedError as error:
            end_hard_later(f"training was stopped: {error}", code=128 + signal.SIGTERM)
            raise stopped_with_all(error) from error
        except CoordinatorError as error:
            raise ClusterError(str(error)) from error
        finally:
            membership.close()


def _work_as_member(
    context: WorkerContext,
    membership: Membership,
    interrupted: Callable[[], bool],
    reached: ServersReached,
    trouble: "Trouble",
) -> None:
    time_use = context.record.time_use
    coordinator = RemoteCoordinator(context.connection, membership, time_use)
    step_timeout = _StepTimeout(context.cluster.coordinator_retries * RETRY_SECONDS, time_use)
    membership.on_error(step_timeout.start)
    follower = _follower(context, membership)
    if follower is not None:
        coordinator.await_weights = follower.await_weights
    session = context.session()
    steps = _Rounds(coordinator, context, session, trouble)
    try:
        runner = JobRunner(
            context.graph.training,
            session,
            context.sets,
            context.evaluator,
            report_count=context.options.report.count,
            observer=steps,
            time_use=time_use,
        )
        _do_jobs(runner, coordinator, interrupted, reached)
        steps.ended()
    finally:
        closing = context.begin_to_close(session)  # other nodes wait for this one, which may have lost a server
        step_timeout.stop()
        if follower is not None:
            follower.stop()
    closing.join(CLOSING_SECONDS)  # the parameter servers end when this worker has left


def _do_jobs(
    runner: JobRunner, coordinator: RemoteCoordinator, interrupted: Callable[[], bool], reached: ServersReached
) -> None:
    """Do jobs until there are none left, or until `interrupted`; wait with the first until the servers are reached."""
    while not interrupted():
        job = coordinator.next_job(POLL_SECONDS)
        if job is NoJob.OVER:
            return
        if isinstance(job, Job) and not reached.look():
            coordinator.give_back_all()  # the others' rounds would wait for it
            while not interrupted() and not reached.look():
                time.sleep(RETRY_SECONDS)
        elif isinstance(job, Job):
            try:
                list(runner.work(job, coordinator, interrupted))
            except JobLostError as error:
                logger.info("%s", error)
                coordinator.give_back_all()


def _follower(context: WorkerContext, membership: Membership) -> Follower | None:
    """Return the follower that carries out the chief's orders; None for the chief, or if this worker has no weights."""
    if context.replica is None or context.cluster.is_chief:
        return None
    return Follower(context.connection, membership, context.replica)


class Trouble:
    """The time since the first failed step after the last successful one."""

    def __init__(self) -> None:
        self._since: float | None = None

    def end(self) -> None:
        """Note that a step succeeded, or failed for a reason other than the servers."""
        self._since = None

    def lasts(self) -> float:
        """Note that a step failed; return how many seconds ago the first of these failures was."""
        now = time.monotonic()
        self._since = now if self._since is None else self._since
        return now - self._since


class _StepTimeout:
    """Ends the process if its membership has ended and its step does not return.

    It does not end a worker that waits for recordings from a store or for the decoder: no step is running then.
    """

    def __init__(self, patience: float, time_use: TimeUse) -> None:
        """Allow `patience` seconds to join again; parameter servers may be unreachable for that long."""
        self._patience = patience
        self._time_use = time_use
        self._stopped = False
        self._timer: threading.Timer | None = None

    def start(self, error: Exception) -> None:
        """Start the timer: the membership has ended, for good or, after NotMemberError, until the node joins again."""
        if isinstance(error, NotMemberError):
            self._look_after(self._patience)
        elif isinstance(error, TrainingStoppedError):
            end_hard_later(f"training was stopped: {error}", code=128 + signal.SIGTERM)
        else:
            end_hard_later(str(error))

    def stop(self) -> None:
        """Stop the timer: the step has returned, so the process can join again."""
        self._stopped = True
        if self._timer is not None:
            self._timer.cancel()

    def _look_after(self, seconds: float) -> None:
        self._timer = threading.Timer(seconds, self._look)
        self._timer.daemon = True
        self._timer.start()

    def _look(self) -> None:
        activity, seconds = self._time_use.present()
        if activity is Activity.COMPUTING and seconds >= self._patience:
            reason = f"the parameter servers have not answered for {self._patience:.0f} s; are they still reachable?"
            end_hard_later(reason, 0.0)
        elif not self._stopped:
            self._look_after(RETRY_SECONDS)


class _Rounds:
    """Enters the worker's steps into the coordinator's rounds, and logs this worker's share of each epoch.

    The chief's worker does not log its share, because the chief shows the progress of the whole epoch.
    """

    def __init__(self, coordinator: RemoteCoordinator, context: WorkerContext, session: Any, trouble: Trouble) -> None:
        self._coordinator = coordinator
        self._context = context
        self._session = session
        self._trouble = trouble
        self._progress = None if context.cluster.is_chief else EpochProgress(context.sets, bar=False, share=True)

    def step_arguments(self, _job: Job) -> Mapping[str, Any]:
        return {}

    def step_feeds(self, job: Job, _batch: int) -> Mapping[Any, Any]:
        return {self._context.graph.round_number: self._coordinator.begin_step(job)}

    def step_done(
        self, job: Job, _batches: Sequence[Batch], losses: npt.NDArray[np.float32], _gradient_norm: float
    ) -> None:
        self._trouble.end()
        graph = self._context.graph
        if graph.send is not None and job.set_name is SetName.TRAIN:
            offered = {graph.round_number: self._coordinator.offer_gradient(job)}
            with self._context.record.time_use.during(Activity.COMPUTING):
                self._session.run(graph.send, offered)
        self._trace(job)
        if self._progress is not None:
            self._progress.show(job.set_name, job.epoch)
            self._progress.advance(losses)

    def _trace(self, job: Job) -> None:
        record, spans, parent = self._context.record, self._context.spans, self._coordinator.trace
        intervals = record.time_use.take_intervals()
        if spans is not None and parent is not None and job.set_name is SetName.TRAIN:
            write_step(spans, record.name, parent, intervals)

    def ended(self) -> None:
        if self._progress is not None:
            self._progress.log_end()
