"""The libraries that the HTTP servers need and only the extra `cluster` installs."""

from ...errors import ClusterError
from ...util.web import libraries

SERVER_LIBRARIES = ("httptools", "prometheus_client", "pydantic", "starlette", "uvicorn")


def check_libraries(what: str) -> None:
    """Raise ClusterError, which names the extra, if a library is missing; `what` names the server that needs it."""
    libraries.check_libraries(what, SERVER_LIBRARIES, "cluster", ClusterError)
