"""A worker that cannot carry out the chief's orders because of a local error."""

import queue
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
import tensorflow as tf

from deepspeech.cluster.allreduce.follower import Follower
from deepspeech.cluster.allreduce.ring import RingBrokenError, RingPlace
from deepspeech.cluster.coordination.coordinator import ClusterCoordinator
from deepspeech.cluster.coordination.membership import Applicant, ClusterSettings, Role
from deepspeech.cluster.http.client import Address, Connection, join
from deepspeech.cluster.http.server import Server
from deepspeech.cluster.http.service import Service

NO_MEMORY = tf.errors.ResourceExhaustedError(None, None, "OOM when allocating tensor")


class FailingReplica:
    """A copy of the weights in a ring, with too little memory for a step."""

    def __init__(self) -> None:
        self.left = threading.Event()

    def forget(self) -> None:
        pass

    def form(self, _number: int, _place: RingPlace, _is_current: Callable[[], bool], /) -> None:
        raise NO_MEMORY

    def leave_ring(self) -> None:
        self.left.set()

    def wait_for(self, *_: object) -> bool:
        return False


class WaitingReplica(FailingReplica):
    """A copy of the weights that waits for a neighbour as long as the ring is needed."""

    def __init__(self) -> None:
        super().__init__()
        self.formed: queue.Queue[int] = queue.Queue()

    def form(self, number: int, _place: RingPlace, is_current: Callable[[], bool], /) -> None:
        self.formed.put(number)
        while is_current():
            time.sleep(0.05)
        raise RingBrokenError("the group of workers has changed")


class SlowReplica(WaitingReplica):
    """A copy of the weights that needs time to notice that the ring is not needed."""

    has_ended = False

    def form(self, number: int, place: RingPlace, is_current: Callable[[], bool], /) -> None:
        try:
            super().form(number, place, is_current)
        finally:
            time.sleep(0.5)
            self.has_ended = True


class Orders:
    """The chief's orders to a worker that follows them."""

    def __init__(self, service: Service, follower: Follower) -> None:
        self.follower = follower
        self._service = service

    def form(self) -> int:
        """Order a new ring; return the number of the order."""
        with self._service.locked() as coordinator:
            order = coordinator.group.form()
        self._service.changed()
        assert order is not None
        return order.number


@contextmanager
def followed_by(replica: FailingReplica) -> Iterator[Orders]:
    service = Service(ClusterCoordinator(ClusterSettings(2, 0, 2, 2, 60.0, all_reduces=True), {}))
    with Server(service, "127.0.0.1", 0, None) as server:
        connection = Connection(Address("127.0.0.1", server.port))
        with service.locked() as coordinator:
            coordinator.join(Applicant(Role.WORKER, 0, "chief", address="localhost:1"), service.clock())
        membership = join(connection, Applicant(Role.WORKER, 1, "other", address="localhost:2"))
        yield Orders(service, Follower(connection, membership, replica))  # type: ignore[arg-type]
        membership.close()


def test_a_ring_that_is_being_formed_is_given_up_for_the_next_one_without_waiting_for_its_neighbours() -> None:
    replica = WaitingReplica()
    with followed_by(replica) as orders:
        for _ in range(2):
            number = orders.form()
            assert replica.formed.get(timeout=30) == number
        orders.follower.stop()


def test_a_worker_that_has_left_carries_out_no_order_after_that() -> None:
    replica = SlowReplica()
    with followed_by(replica) as orders:
        orders.form()
        assert replica.formed.get(timeout=30)
        orders.follower.stop()
        assert replica.has_ended


def test_it_leaves_the_ring_at_once_so_that_the_others_do_not_wait_for_what_never_comes() -> None:
    replica = FailingReplica()
    with followed_by(replica) as orders:
        number = orders.form()
        assert replica.left.wait(30)
        with pytest.raises(tf.errors.ResourceExhaustedError):
            orders.follower.await_weights(number)
