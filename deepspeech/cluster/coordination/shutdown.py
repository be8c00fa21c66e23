"""How a cluster parts when training is over: first the workers go, then the parameter servers, then the chief."""

from .membership import ClusterSettings, Member, Members


class Shutdown:
    """Who has heard that training is over, and who may go."""

    def __init__(self, settings: ClusterSettings, members: Members) -> None:
        self._nodes = settings.workers + settings.parameter_servers
        self._members = members
        self._left: set[str] = set()
        self._servers_released = False

    def note_leave(self, member: Member) -> None:
        """A member has heard that training is over, and goes."""
        self._left.add(member.applicant.name)

    def release_servers(self) -> None:
        """Let the parameter servers go, once the workers have gone: the chief needs the weights no more."""
        self._servers_released = True

    @property
    def servers_may_stop(self) -> bool:
        """Whether nobody needs the parameter servers any more."""
        return self._servers_released and not any(member.works for member in self._members)

    @property
    def everyone_has_left(self) -> bool:
        """Whether every node, those that were missing too, has heard that training is over."""
        return len(self._left) == self._nodes and not len(self._members)
