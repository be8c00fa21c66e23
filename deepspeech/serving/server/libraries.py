"""The libraries of the server, which only the extra `server` installs."""

from ...errors import ServerError
from ...util.web import libraries

SERVER_LIBRARIES = (
    "httptools",
    "prometheus_client",
    "python_multipart",
    "starlette",
    "uvicorn",
    "websockets",
    "wyoming",
)


def check_libraries(what: str) -> None:
    """Raise ServerError, naming the extra, if a library is missing that `what` needs."""
    libraries.check_libraries(what, SERVER_LIBRARIES, "server", ServerError)
