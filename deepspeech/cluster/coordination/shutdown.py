"""How a cluster shuts down when training is over: the workers leave, then the parameter servers, then the chief."""

from .membership import ClusterSettings, Member, Members

LATECOMERS_SECONDS = 10.0
"""Seconds for which missing nodes may still join and learn that training is over."""

LEAVING_SECONDS = 5.0
"""Seconds that parameter servers have to leave after the last worker has left or was declared lost."""


class Shutdown:
    """Which nodes have learned that training is over, and which may stop."""

    def __init__(self, settings: ClusterSettings, members: Members) -> None:
        self._longest = max(settings.lease_seconds, LATECOMERS_SECONDS) + LEAVING_SECONDS
        self._nodes = (settings.least_workers or settings.workers) + settings.parameter_servers
        self._members = members
        self._left: set[str] = set()
        self._servers_released = False

    def note_leave(self, member: Member) -> None:
        """Record that a member leaves because training is over."""
        self._left.add(member.applicant.name)

    def release_servers(self) -> None:
        """Let the parameter servers stop after the workers have left: the chief no longer needs the weights."""
        self._servers_released = True

    @property
    def servers_may_stop(self) -> bool:
        """Whether the parameter servers are no longer needed."""
        return self._servers_released and not any(member.works for member in self._members)

    @property
    def everyone_has_left(self) -> bool:
        """Whether every node, including missing ones, has learned that training is over and has left."""
        return len(self._left) >= self._nodes and not len(self._members)

    def is_complete(self, waited: float) -> bool:
        """Return whether the chief may end, after it has `waited` seconds.

        A worker that dies at the end stays a member until its lease is over, and the parameter servers wait for it.
        """
        nobody_is_left = waited > LATECOMERS_SECONDS and not len(self._members)
        return self.everyone_has_left or nobody_is_left or waited > self._longest
