"""A worker that cannot carry out the chief's orders because of a local error."""

import threading

import pytest
import tensorflow as tf

from deepspeech.cluster.allreduce.follower import Follower
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

    def form(self, *_: object) -> None:
        raise NO_MEMORY

    def leave_ring(self) -> None:
        self.left.set()

    def wait_for(self, *_: object) -> bool:
        return False


def test_it_leaves_the_ring_at_once_so_that_the_others_do_not_wait_for_what_never_comes() -> None:
    coordinator = ClusterCoordinator(ClusterSettings(2, 0, 2, 2, 60.0, all_reduces=True), {})
    service, replica = Service(coordinator), FailingReplica()
    with Server(service, "127.0.0.1", 0, None) as server:
        connection = Connection(Address("127.0.0.1", server.port))
        with service.locked():
            coordinator.join(Applicant(Role.WORKER, 0, "chief", address="localhost:1"), service.clock())
        membership = join(connection, Applicant(Role.WORKER, 1, "other", address="localhost:2"))
        follower = Follower(connection, membership, replica)  # type: ignore[arg-type]
        with service.locked():
            order = coordinator.group.form()
        assert order is not None
        service.changed()
        assert replica.left.wait(30)
        with pytest.raises(tf.errors.ResourceExhaustedError):
            follower.await_weights(order.number)
        membership.close()
