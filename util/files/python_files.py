"""Python files that a user names on the command line, such as those that register networks."""

from __future__ import annotations

import hashlib
import importlib.util
import sys
from pathlib import Path
from types import ModuleType

from ..errors import PythonFileError
from .quiet_stderr import without_tensorflows_lines


def load_python_file(path: Path, flag: str) -> ModuleType:
    """Run a Python file, once per process, and return it as a module.

    Raise PythonFileError, naming its `flag`, if the file cannot be read or fails.
    """
    name = f"user_file_{hashlib.sha256(str(path.resolve()).encode()).hexdigest()[:16]}"
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
        del sys.modules[name]
        raise PythonFileError(f"{flag}: {path} cannot be run: {type(error).__name__}: {error}") from error
    return module
