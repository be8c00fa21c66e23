"""The optimizer's steps where every worker holds the weights: the chief orders them, and takes part."""

import logging
import time
from collections.abc import Sequence

from ...errors import ClusterError
from ...training.reporting.epoch_progress import EpochProgress
from ..coordination.group import Order
from ..coordination.rounds import RoundEnd
from ..http.client import RETRY_SECONDS
from ..http.service import Service
from ..steps import Steps
from ..watchdog import Watchdog
from ..worker import WorkerContext
from .ring import RingBrokenError, RingPlace

logger = logging.getLogger(__name__)


class AllReduceSteps(Steps):
    """Ends the coordinator's rounds in the ring of the workers, in which the chief is the first process.

    The watchdog does not limit exchanges in the ring: the ring itself detects a process that does not answer. A round
    is counted if the chief has made its step. When a ring is broken, the other workers copy the chief's weights in the
    next one. So no step is lost, and none is made twice.
    """

    def __init__(self, context: WorkerContext, service: Service, watchdog: Watchdog, progress: EpochProgress) -> None:
        super().__init__(context, service, watchdog, progress)
        assert context.replica is not None
        self._step = watchdog.apart_from(context.replica.step)
        self._form = watchdog.apart_from(context.replica.form)
        cluster = context.cluster
        self._patience = cluster.coordinator_retries * RETRY_SECONDS + cluster.lease_seconds
        self._broken_since: float | None = None

    def are_possible(self) -> bool:
        """Return whether all workers are in a ring and have the same weights; if not, first try to form a ring.

        Raise ClusterError if no ring could be formed for too long.
        """
        with self._service.locked() as coordinator:
            if coordinator.group.is_whole or coordinator.over:
                return True
            order = coordinator.group.form()
        if order is None:
            return False
        self._service.changed()
        try:
            self._form(order.number, _place_of_first(order), self._is_whole)
        except RingBrokenError as error:
            self._note_broken(error)
            return False
        self._broken_since = None
        logger.debug("%d workers have the same weights", len(order.members))
        return True

    def _begin_anew(self) -> None:
        """Have a new ring formed; gradients that the workers kept for other rounds are not used."""
        with self._service.locked() as coordinator:
            coordinator.group.dissolve()

    def _apply(self, end: RoundEnd, rate: float) -> Sequence[float] | None:
        with self._service.locked() as coordinator:
            order = coordinator.group.step(end.number, rate)
        self._service.changed()
        try:
            return [self._step(order.number, end.number, rate)]
        except RingBrokenError as error:
            self._note_broken(error)
            return None

    def _discard(self, _: RoundEnd) -> None:
        """Do nothing: gradients that a worker kept for another round are not used."""

    def _note_broken(self, error: RingBrokenError) -> None:
        """Have a new ring formed soon, unless training is over and the workers leave."""
        with self._service.locked() as coordinator:
            coordinator.group.dissolve()
            if coordinator.over:
                return
        now = time.monotonic()
        if self._broken_since is None:
            logger.warning("The ring of the workers is broken: %s", error)
            self._broken_since = now
        if now - self._broken_since > self._patience:
            raise ClusterError(f"the workers could not form a ring for {self._patience:.0f} s: {error}") from error
        time.sleep(RETRY_SECONDS / 2)

    def _is_whole(self) -> bool:
        with self._service.locked() as coordinator:
            return coordinator.group.is_whole


def _place_of_first(order: Order) -> RingPlace:
    size = len(order.members)
    return RingPlace(order.key, 0, size, order.addresses[1 % size])
