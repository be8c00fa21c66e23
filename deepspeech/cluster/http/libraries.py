"""The libraries of the servers, which only the extra `cluster` installs."""

from ...errors import ClusterError
from ...util.web import libraries

SERVER_LIBRARIES = ("httptools", "prometheus_client", "pydantic", "starlette", "uvicorn")


def check_libraries(what: str) -> None:
    """Raise ClusterError, naming the extra, if a library is missing that `what`, a server in words, needs."""
    libraries.check_libraries(what, SERVER_LIBRARIES, "cluster", ClusterError)
