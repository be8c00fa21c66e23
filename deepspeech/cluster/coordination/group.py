"""The group of workers that hold the same weights, where there are no parameter servers.

The chief forms a group of the workers that have joined: they connect to a ring, and take over its weights. From then
on each step of the weights is made by all of them. When a worker joins or is lost, when a ring is broken, or when the
chief loads other weights, the group is no longer whole, nobody begins a step, and the chief forms a new one. What the
workers are to do next is an order; their numbers grow, and name the weights that there are when the order is done.
"""

import secrets
from dataclasses import dataclass, replace

from .membership import ClusterSettings, Members


@dataclass(frozen=True)
class Order:
    """What the `members`, in the ring's order and the chief first, do next.

    They make the step of the round, with this learning rate; without a round, they connect to a ring under the key and
    take over the chief's weights. `addresses` are where they listen, as HOST:PORT.
    """

    number: int
    key: str
    members: tuple[str, ...]
    addresses: tuple[str, ...]
    round_number: int | None = None
    learning_rate: float = 0.0


class Group:
    """The newest order, and whether the workers that it is for are those that there are."""

    def __init__(self, members: Members, settings: ClusterSettings) -> None:
        """Begin without a group of the members; with parameter servers there is none ever."""
        self.order = Order(0, "", (), ())
        self._members = members
        self._settings = settings
        self._holds = False

    @property
    def is_whole(self) -> bool:
        """Whether all workers have the weights that the newest order leads to, as far as is known."""
        known = self.order.members
        return self._holds and len(known) == self._members.workers and all(one in self._members for one in known)

    def form(self) -> Order | None:
        """Order the workers to form a ring and return the order; None if the chief's own worker is not among them."""
        workers = sorted((member for member in self._members if member.works), key=lambda each: each.applicant.task)
        if not workers or workers[0].applicant.task != 0:
            return None
        identities = tuple(worker.identity for worker in workers)
        addresses = tuple(worker.applicant.address for worker in workers)
        self.order = Order(self.order.number + 1, secrets.token_hex(16), identities, addresses)
        self._holds = True
        return self.order

    def step(self, round_number: int, learning_rate: float) -> Order:
        """Order the workers to make the step of a round, and return the order."""
        order = replace(self.order, number=self.order.number + 1)
        self.order = replace(order, round_number=round_number, learning_rate=learning_rate)
        return self.order

    def dissolve(self, number: int | None = None) -> None:
        """Note that the workers' weights may differ; with a number, only if that is the newest order's."""
        if number is None or number == self.order.number:
            self._holds = False

    def may_work(self, identity: str) -> bool:
        """Tell whether a worker may begin a step or do a job: it has the weights for that, or will."""
        return not self._settings.all_reduces or (identity in self.order.members and self.is_whole)

    def order_after(self, number: int, identity: str) -> Order | None:
        """Return the newest order, if it is for this worker and newer than one that it has had."""
        return self.order if self.order.number > number and identity in self.order.members and self.is_whole else None
