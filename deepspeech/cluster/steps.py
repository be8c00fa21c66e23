"""The steps of the weights: the chief applies or discards the gradients of each round that closes."""

import logging
from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from ..schedule.learning_rate import LearningRate, rate_for_workers
from ..training.reporting.epoch_progress import EpochProgress
from .coordination.rounds import RoundEnd
from .http.service import Service
from .node import gradients_per_step
from .watchdog import Watchdog
from .worker import WorkerContext

v1 = tf.compat.v1
traffic = logging.getLogger("deepspeech.traffic")

STEP_SECONDS = 45.0
"""Seconds that a round's step may take on the parameter servers."""

CANCELLING_SECONDS = 5.0
"""Seconds that TensorFlow may take to cancel a step."""


class ParameterServersLostError(Exception):
    """A parameter server was lost, and its weights with it: they must be loaded anew."""


class Steps:
    """Ends the coordinator's rounds on the parameter servers."""

    def __init__(self, context: WorkerContext, service: Service, watchdog: Watchdog, progress: EpochProgress) -> None:
        self._graph = context.graph
        self._service = service
        self._watchdog = watchdog
        self._progress = progress
        options, cluster = context.options, context.cluster
        self._least_workers = cluster.least_workers
        share = (self._least_workers or cluster.places) / cluster.places
        batches_per_step = round(gradients_per_step(options) * share) * len(context.graph.training.train_towers)
        course = options.schedule.learning_rate
        self._rate = LearningRate(options.optimizer.learning_rate, course, batches_per_step)

    def end_round(self, session: Any, end: RoundEnd) -> None:
        """Apply or discard a closed round's gradients, and let the coordinator count its batches accordingly.

        Raise ParameterServersLostError if what was applied is not what was counted.
        """
        graph = self._graph
        in_time = v1.RunOptions(timeout_in_ms=int(1000 * STEP_SECONDS))
        self._watchdog.expect(STEP_SECONDS + CANCELLING_SECONDS)
        fed = {graph.round_number: end.number}
        applied, begin = None, self._service.clock()
        if end.count:
            fed |= {graph.contributions: end.count, graph.training.learning_rate: self._rate_now()}
            _, applied = session.run([graph.apply, graph.applied], fed, options=in_time)
        else:
            session.run(graph.discard, fed, options=in_time)
        with self._service.locked() as coordinator:
            counted = coordinator.end_round(end)
        self._service.traces.ended(end.number, begin, self._service.clock(), end.count)
        self._service.changed()
        if applied is not None:
            check_applied(applied.tolist(), counted)

    def _rate_now(self) -> float:
        with self._service.locked() as coordinator:
            training = coordinator.training
            progress = training.progress if training else None
            assert training is not None and progress is not None
            _, _, done, count = progress
            rate = self._rate.at(training.state_without_epoch, done, count)
            workers = coordinator.members.workers
        if self._least_workers:
            rate = rate_for_workers(rate, workers, self._least_workers)
        self._progress.show_rate(rate)
        return rate


def check_applied(applied: Sequence[float], counted: int) -> None:
    """Raise ParameterServersLostError unless each server applied the gradients of the utterances that were counted.

    `applied` says of how many utterances each did.
    """
    traffic.info("applied: gradients of %s utterances", [int(utterances) for utterances in applied])
    if any(utterances != counted for utterances in applied):
        told = ", ".join(f"{utterances:.0f}" for utterances in applied)
        raise ParameterServersLostError(
            f"a step had the gradients of {told} utterances (by parameter server), of which {counted} were counted"
        )
