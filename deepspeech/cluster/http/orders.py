"""The bodies of requests for orders, and of orders, for workers that hold the weights themselves."""

from pydantic import FiniteFloat

from ..coordination.group import Order
from .protocol import Body, HostAndPort, Name, Number, Seconds


class OrderBody(Body):
    """A worker asks for an order with a number higher than `done`, and waits for one for up to `wait` seconds.

    `failed` is the number of an order that it could not carry out.
    """

    member: Name
    done: Number
    failed: Number | None = None
    wait: Seconds = 0.0


class OrderAnswer(Body):
    """The worker's next order; the worker has the `rank` in a ring of `size`, and the `next` one listens at an address.

    With a round, it makes that round's step with the learning rate. Without one, it connects to the ring with the
    `key`, and copies the weights of the ring's first process.
    """

    number: Number
    key: Name
    rank: Number
    size: Number
    next: HostAndPort
    round: Number | None
    learning_rate: FiniteFloat

    @staticmethod
    def of(order: Order, identity: str) -> "OrderAnswer":
        """Return the description of an order for one of its members."""
        rank, size = order.members.index(identity), len(order.members)
        return OrderAnswer(
            number=order.number,
            key=order.key,
            rank=rank,
            size=size,
            next=order.addresses[(rank + 1) % size],
            round=order.round_number,
            learning_rate=order.learning_rate,
        )
