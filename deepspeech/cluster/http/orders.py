"""The bodies by which workers that hold the weights themselves hear what to do next, and how they read an order."""

from pydantic import FiniteFloat

from ..coordination.group import Order
from .protocol import Body, HostAndPort, Name, Number, Seconds


class OrderBody(Body):
    """A worker asks for an order after that of the number `done`, and waits for one for up to `wait` seconds.

    If it could not carry out the order `failed`, it says so.
    """

    member: Name
    done: Number
    failed: Number | None = None
    wait: Seconds = 0.0


class OrderAnswer(Body):
    """What the worker does next, as one of `size` in a ring under a `key`, where `next` listens.

    With a round, it makes that round's step with the learning rate. Without one, it connects to the ring, and takes
    over the weights of the ring's first process.
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
