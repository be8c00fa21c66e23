"""The limits of a request to the coordinator, and the answers to those that exceed them."""

from ...util.web.limited_protocol import HEAD_TOO_LARGE, LimitedProtocol
from . import routes
from .protocol import ErrorBody

SLOWEST_REQUEST = 10.0
"""Seconds that a request may take to arrive, from its first byte; and that a new connection may take to send one."""

LARGEST_HEAD = 1 << 16
"""Bytes of a request's line and headers."""


class CoordinatorProtocol(LimitedProtocol):
    """HTTP over one connection, whose refusals are the coordinator's."""

    @property
    def slowest_request(self) -> float:  # type: ignore[override]
        """Seconds that a request may take to arrive."""
        return SLOWEST_REQUEST

    largest_head = LARGEST_HEAD

    def refusal(self, status: int, message: str) -> bytes:
        """Return the body of the answer."""
        refused = routes.HEAD_TOO_LARGE if status == HEAD_TOO_LARGE else routes.TOO_SLOW
        return ErrorBody(kind=refused.kind, error=message).model_dump_json().encode()
