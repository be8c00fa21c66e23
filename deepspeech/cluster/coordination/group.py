"""The group of workers that hold the same weights, where there are no parameter servers.

The chief forms a group of the workers that have joined: they connect to a ring, and copy the chief's weights. From then
on, all of them make each step of the weights together. When a worker joins or is lost, when a ring is broken, or when
the chief loads other weights, the group is no longer whole. Then no worker begins a step until the chief has formed a
new group.

An order tells the workers what to do next. The numbers of orders grow, and are also the numbers of the weights that the
orders lead to.
"""

import secrets
from dataclasses import dataclass, replace

from .membership import ClusterSettings, Members


@dataclass(frozen=True)
class Order:
    """What the `members` do next; they are in the ring's order, the chief first.

    They make the step of the round, with this learning rate. Without a round, they connect to a ring with this key and
    copy the chief's weights. They listen at `addresses`, each HOST:PORT.
    """

    number: int
    key: str
    members: tuple[str, ...]
    addresses: tuple[str, ...]
    round_number: int | None = None
    learning_rate: float = 0.0


class Group:
    """The newest order, and whether it is for exactly the workers that are members now."""

    def __init__(self, members: Members, settings: ClusterSettings) -> None:
        """Begin without a group; with parameter servers there is never one."""
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
        """Record that the workers' weights may differ; with `number`, only if that is the newest order's."""
        if number is None or number == self.order.number:
            self._holds = False

    def may_work(self, identity: str) -> bool:
        """Return whether a worker may begin a step or do a job: it has the weights for that, or gets them."""
        return not self._settings.all_reduces or (identity in self.order.members and self.is_whole)

    def order_after(self, number: int, identity: str) -> Order | None:
        """Return the newest order if it is for this worker and has a higher number; else None."""
        return self.order if self.order.number > number and identity in self.order.members and self.is_whole else None
