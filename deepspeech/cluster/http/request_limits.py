"""The limits of requests and connections to the coordinator, and the answers to those that exceed them."""

from ...util.web.connections import ConnectionLimits
from ...util.web.limited_protocol import HEAD_TOO_LARGE, TOO_MANY, LimitedProtocol
from . import routes
from .protocol import ErrorBody

SLOWEST_REQUEST = 10.0
"""Seconds that a request may take to arrive, from its first byte, and a new connection to send its first request."""

LARGEST_HEAD = 1 << 16
"""Most bytes of a request's line and headers."""


class CoordinatorProtocol(LimitedProtocol):
    """HTTP over one connection, with refusals in the coordinator's format."""

    @property
    def slowest_request(self) -> float:  # type: ignore[override]
        """Seconds that a request may take to arrive."""
        return SLOWEST_REQUEST

    largest_head = LARGEST_HEAD

    def refusal(self, status: int, message: str) -> bytes:
        """Return the body of the answer."""
        known = {HEAD_TOO_LARGE: routes.HEAD_TOO_LARGE, TOO_MANY: routes.TOO_MANY}
        refused = known.get(status, routes.TOO_SLOW)
        return ErrorBody(kind=refused.kind, error=message).model_dump_json().encode()


def limited_to(limits: ConnectionLimits) -> type[CoordinatorProtocol]:
    """Return the protocol with limits on the number of connections."""
    return type("Protocol", (CoordinatorProtocol,), {"limits": limits})
