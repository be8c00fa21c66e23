"""The libraries that an extra of this package installs."""

import importlib.util
from collections.abc import Sequence

from ..errors import DeepSpeechError


def check_libraries(what: str, libraries: Sequence[str], extra: str, error: type[DeepSpeechError]) -> None:
    """Raise `error`, naming the extra, if a required library is missing; `what` names the server for the message."""
    missing = [name for name in libraries if importlib.util.find_spec(name) is None]
    if missing:
        raise error(
            f"{what} needs {', '.join(missing)}: install this package with its extra `{extra}`, "
            f"pip install '.[{extra}]' in a checkout or pip install './deepspeech-….whl[{extra}]' with a wheel file"
        )
