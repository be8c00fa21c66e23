"""The libraries of the servers, which only the extra `cluster` installs."""

import importlib.util

from ...errors import ClusterError

SERVER_LIBRARIES = ("httptools", "prometheus_client", "pydantic", "starlette", "uvicorn")


def check_libraries(what: str) -> None:
    """Raise ClusterError, naming the extra, if a library is missing that `what`, a server in words, needs."""
    missing = [name for name in SERVER_LIBRARIES if importlib.util.find_spec(name) is None]
    if missing:
        raise ClusterError(
            f"{what} needs {', '.join(missing)}: install this package with its extra `cluster`, "
            "pip install '.[cluster]' in a checkout or pip install './deepspeech-….whl[cluster]' with a wheel file"
        )
