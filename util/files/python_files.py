"""Python files that a user names on the command line, such as those that register networks."""

from __future__ import annotations

import hashlib
import importlib.util
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

from ..errors import DeepSpeechError, PythonFileError
from .quiet_stderr import without_tensorflows_lines

_PREFIX = "user_file_"
"""The beginning of the names of modules that are such files."""


def load_python_file(path: Path, flag: str) -> ModuleType:
    """Run a Python file, once per process, and return it as a module.

    Raise PythonFileError, naming its `flag`, if the file cannot be read or fails.
    """
    name = f"{_PREFIX}{hashlib.sha256(str(path.resolve()).encode()).hexdigest()[:16]}"
    if name in sys.modules:
        return sys.modules[name]
    if not path.exists():
        raise PythonFileError(f"{flag}: there is no file {path}")
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None or not path.is_file():
        raise PythonFileError(f"{flag}: {path} is not a Python file; give a file that ends with .py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        with without_tensorflows_lines():
            spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        place = [str(path), *_places_in_files(error)][-1]
        del sys.modules[name]
        raise PythonFileError(f"{flag}: {place} cannot be run: {_reason(error)}") from error
    return module


@contextmanager
def errors_of_code(what: str, kind: type[DeepSpeechError]) -> Iterator[None]:
    """Raise an error of this kind, in one line that begins with `what` and names the place, for any in the context.

    The place is the last one in such a file, or else outside of libraries, if there is one. Errors of this program say
    what is wrong themselves, and pass unchanged.
    """
    try:
        yield
    except DeepSpeechError:
        raise
    except (Exception, SystemExit) as error:
        frames = traceback.extract_tb(error.__traceback__)
        outside_libraries = [each for each in frames if "site-packages" not in each.filename]
        last = (outside_libraries or frames)[-1]
        place = (_places_in_files(error) or [f"{last.filename}:{last.lineno}"])[-1]
        raise kind(f"{what}: {place}: {_reason(error)}") from error


def _places_in_files(error: BaseException) -> list[str]:
    frames = traceback.extract_tb(error.__traceback__)
    files = {getattr(module, "__file__", "") for name, module in [*sys.modules.items()] if name.startswith(_PREFIX)}
    return [f"{each.filename}:{each.lineno}" for each in frames if each.filename in files]


def _reason(error: BaseException) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split()).rstrip(": ")
