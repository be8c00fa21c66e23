"""The libraries that an extra of this package installs."""

import importlib.util
from collections.abc import Sequence

from ..errors import DeepSpeechError


def check_libraries(what: str, libraries: Sequence[str], extra: str, error: type[DeepSpeechError]) -> None:
    """Raise `error`, naming the extra, if a library that `what` needs is missing."""
    missing = [name for name in libraries if not _is_installed(name)]
    if missing:
        raise error(needs(what, missing, extra))


def needs(what: str, missing: Sequence[str], extra: str) -> str:
    """Return the message that `what` needs libraries that are missing, with the ways to install their extra."""
    return (
        f"{what} needs {', '.join(missing)}: install this package with its extra `{extra}`, "
        f"pip install '.[{extra}]' in a checkout or pip install './deepspeech-….whl[{extra}]' with a wheel file"
    )


def _is_installed(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:  # there is not even the package that holds it
        return False
