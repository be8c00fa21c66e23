"""How a cluster shuts down when training is over: the workers leave, then the parameter servers, then the chief."""

from .membership import ClusterSettings, Member, Members


class Shutdown:
    """Which nodes have heard that training is over, and which may stop."""

    def __init__(self, settings: ClusterSettings, members: Members) -> None:
        self._nodes = settings.workers + settings.parameter_servers
        self._members = members
        self._left: set[str] = set()
        self._servers_released = False

    def note_leave(self, member: Member) -> None:
        """Note that a member leaves because it has heard that training is over."""
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
        """Whether every node, also one that was missing, has heard that training is over and has left."""
        return len(self._left) == self._nodes and not len(self._members)
