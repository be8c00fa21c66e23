"""The optimizer's steps: the chief applies or discards the gradients of each round that closes."""

import logging
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import tensorflow as tf

from ..errors import ClusterError
from ..schedule.learning_rate import LearningRate, rate_for_workers
from ..training.reporting.epoch_progress import EpochProgress
from .coordination.rounds import NUMBERS_PER_ROUND, RoundEnd
from .graph import ClusterGraph
from .http.client import RETRY_SECONDS
from .http.service import Service
from .node import gradients_per_step
from .watchdog import Watchdog
from .worker import Trouble, WorkerContext

v1 = tf.compat.v1
traffic = logging.getLogger("deepspeech.traffic")

STEP_SECONDS = 45.0
"""Seconds that a round's step may take on the parameter servers."""

CANCELLING_SECONDS = 5.0
"""Seconds that TensorFlow may take to cancel a step."""


class ParameterServersLostError(Exception):
    """A parameter server was lost, and its weights with it: they must be loaded again."""


class Steps(ABC):
    """Ends the coordinator's rounds."""

    def __init__(self, context: WorkerContext, service: Service, watchdog: Watchdog, progress: EpochProgress) -> None:
        self._session: Any = None
        self._service = service
        self._watchdog = watchdog
        self._progress = progress
        self._trouble = Trouble()
        self._stand: tuple[int, frozenset[str]] | None = None
        options, cluster = context.options, context.cluster
        self._seconds_in_vain = cluster.coordinator_retries * RETRY_SECONDS
        self._least_workers = cluster.least_workers
        share = (self._least_workers or cluster.places) / cluster.places
        batches_per_step = round(gradients_per_step(options) * share) * len(context.graph.training.train_towers)
        course = options.schedule.learning_rate
        self._rate = LearningRate(options.optimizer.learning_rate, course, batches_per_step)

    def begin(self, session: Any) -> None:
        """Begin to make steps in a session, after discarding the gradients of rounds before the open one.

        Raise ClusterError if this was called again and again for too long with the same parameter servers, and no
        result came in between.
        """
        with self._service.locked() as coordinator:
            servers = frozenset(member.identity for member in coordinator.members if not member.works)
            stand = coordinator.counts.results, servers
        if stand != self._stand:
            self._stand = stand
            self._trouble.end()
        elif self._trouble.lasts() > self._seconds_in_vain:
            raise ClusterError(
                f"all nodes have joined, but nothing could be computed for {self._seconds_in_vain:.0f} s, for the "
                "reason in the chief's log; are --ps_hosts, --worker_hosts and --workers the same on every node?"
            )
        self._session = session
        self._begin_anew()

    @abstractmethod
    def are_possible(self) -> bool:
        """Return whether a step can be made now; first prepare it if necessary."""

    def end_round(self, end: RoundEnd) -> None:
        """Apply or discard a closed round's gradients, and let the coordinator count its batches accordingly.

        Raise ParameterServersLostError if the applied gradients are not those that were counted.
        """
        begin = self._service.clock()
        with self._watchdog.expecting(STEP_SECONDS + CANCELLING_SECONDS):
            applied = self._apply(end, self._rate_now()) if end.count else None
            if applied is None:
                end = replace(end, count=0)
                self._discard(end)
        with self._service.locked() as coordinator:
            counted = coordinator.end_round(end)
        self._service.traces.ended(end.number, begin, self._service.clock(), end.count)
        self._service.changed()
        if applied is not None:
            check_applied(applied, counted)

    @abstractmethod
    def _begin_anew(self) -> None:
        """Discard the gradients of all rounds before the open one."""

    @abstractmethod
    def _apply(self, end: RoundEnd, rate: float) -> Sequence[float] | None:
        """Make a step with a round's gradients; return how many utterances' gradients each copy of the weights applied.

        Return None if the weights have not changed.
        """

    @abstractmethod
    def _discard(self, end: RoundEnd) -> None:
        """Discard a round's gradients."""

    def _rate_now(self) -> float:
        with self._service.locked() as coordinator:
            training = coordinator.training
            progress = training.progress if training else None
            assert training is not None and progress is not None
            _, _, done, count = progress
            rate = self._rate.at(training.state_without_epoch, done, count)
            workers = max(coordinator.members.workers, 1)  # all contributors may have left since
        if self._least_workers:
            rate = rate_for_workers(rate, workers, self._least_workers)
        self._progress.show_rate(rate)
        return rate


class ServedSteps(Steps):
    """Ends the coordinator's rounds on the parameter servers."""

    def __init__(self, context: WorkerContext, service: Service, watchdog: Watchdog, progress: EpochProgress) -> None:
        super().__init__(context, service, watchdog, progress)
        assert isinstance(context.graph, ClusterGraph)
        self._graph = context.graph
        self._in_time = v1.RunOptions(timeout_in_ms=int(1000 * STEP_SECONDS))

    def are_possible(self) -> bool:
        """Return True: if a parameter server is gone, the step fails."""
        return True

    def _begin_anew(self) -> None:
        with self._service.locked() as coordinator:
            before = coordinator.round_number - NUMBERS_PER_ROUND
        if self._graph.discard is not None:
            self._session.run(self._graph.discard, {self._graph.round_number: before})

    def _apply(self, end: RoundEnd, rate: float) -> Sequence[float]:
        graph = self._graph
        fed = {graph.round_number: end.number, graph.contributions: end.count, graph.training.learning_rate: rate}
        _, applied = self._session.run([graph.apply, graph.applied], fed, options=self._in_time)
        return list(applied.tolist())

    def _discard(self, end: RoundEnd) -> None:
        self._session.run(self._graph.discard, {self._graph.round_number: end.number}, options=self._in_time)


def check_applied(applied: Sequence[float], counted: int) -> None:
    """Raise ParameterServersLostError unless each server applied the gradients of the utterances that were counted.

    `applied` is the number of utterances for each server.
    """
    traffic.info("applied: gradients of %s utterances", [int(utterances) for utterances in applied])
    if any(utterances != counted for utterances in applied):
        told = ", ".join(f"{utterances:.0f}" for utterances in applied)
        raise ParameterServersLostError(
            f"a step applied the gradients of {told} utterances (by parameter server), but {counted} were counted"
        )
