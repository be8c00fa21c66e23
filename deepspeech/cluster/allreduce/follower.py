"""Carries out the chief's orders to the other workers about their copies of the weights."""

import logging
import threading
from collections.abc import Mapping
from typing import Any

from ...errors import ClusterError
from ..coordination.errors import CoordinatorError, NotMemberError
from ..http import routes
from ..http.client import POLL_SECONDS, Connection, Membership
from .replica import Replica
from .ring import RingBrokenError, RingPlace

logger = logging.getLogger(__name__)


class Follower:
    """Carries out orders on a thread while the process is a member."""

    def __init__(self, connection: Connection, membership: Membership, replica: Replica) -> None:
        """Begin without weights: the first order brings them."""
        self._connection = connection
        self._membership = membership
        self._replica = replica
        self._stopped = False
        self._at_work = threading.Lock()
        self._error: Exception | None = None
        self._forming: int | None = None
        replica.forget()
        self._thread = threading.Thread(target=self._follow, name="follower", daemon=True)
        self._thread.start()

    def await_weights(self, number: int) -> None:
        """Wait until this worker has the weights of a number; raises the error if it cannot get them."""
        if not self._replica.wait_for(number, self._goes_on):
            raise self._error or self._membership.error or NotMemberError("this worker has left")

    def stop(self) -> None:
        """Carry out no more orders, and leave the ring; return when the order that is being carried out has ended."""
        self._stopped = True
        self._replica.leave_ring()
        with self._at_work:  # else it could leave the next ring, or give later weights an old number
            pass

    def _goes_on(self) -> bool:
        return not self._stopped and self._membership.error is None and self._error is None

    def _follow(self) -> None:
        done, failed = 0, None
        while self._goes_on():
            try:
                body = {"member": self._membership.identity, "done": done, "failed": failed, "wait": POLL_SECONDS}
                status, order = self._connection.post(routes.NEXT_ORDER, body, POLL_SECONDS)
            except (ClusterError, CoordinatorError):
                return  # the membership's thread gets the same error
            failed = None
            with self._at_work:
                if status != routes.ASK_AGAIN and self._goes_on():
                    done = order["number"]
                    failed = None if self._succeeds(order) else done

    def _succeeds(self, order: Mapping[str, Any]) -> bool:
        """Carry out an order; return False if the ring is broken."""
        try:
            self._carry_out(order)
        except RingBrokenError as error:
            logger.info("The ring of the workers is broken: %s", error)
            return False
        except Exception as error:
            logger.debug("order %d has failed", order["number"], exc_info=True)
            self._error = error
            self._replica.leave_ring()  # so that the other workers notice at once
        return True

    def _carry_out(self, order: Mapping[str, Any]) -> None:
        if order["round"] is not None:
            self._replica.step(order["number"], order["round"], order["learning_rate"])
            return
        place = RingPlace(order["key"], order["rank"], order["size"], order["next"])
        self._forming = order["number"]
        try:
            self._replica.form(order["number"], place, self._is_current)
        finally:
            self._forming = None

    def _is_current(self) -> bool:
        """Return whether the ring is still needed; one that is being formed is not once there is a newer order."""
        newer = self._forming is not None and self._membership.order > self._forming
        return self._goes_on() and not newer
