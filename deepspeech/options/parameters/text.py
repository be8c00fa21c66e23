"""Parameters as text, in the form of Lingvo's `params.txt`: lines `name : value`, sorted by name.

    corpus : 'fsdd'
    model.dropout_rates : (0.3, 0.3, 0.3, 0.2, 0.2, 0.3)
    optimizer.learning_rate : 0.0005

Values are written as Python literals, so that reading a text gives the same mapping, to the last bit of each number.
Nothing in a text is executed.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TypeAlias, Union

from ...util.errors import ParametersError
from ...util.files.whole_files import write_whole
from ...util.storage.copies import named_for_all

FILE_NAME = "params.txt"

SHOWN = 80
"""The characters of a line that an error quotes."""

Value: TypeAlias = Union[bool, int, float, str, "tuple[Value, ...]", None]

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.]*")
_NAMED_FLOATS = {"inf": math.inf, "nan": math.nan}


def write_parameters(path: Path, parameters: Mapping[str, Value]) -> None:
    """Write parameters to a file, atomically. Raise OSError, and the errors of `format_parameters`."""
    write_whole(path, format_parameters(parameters).encode())


def read_parameters(path: Path) -> dict[str, Value]:
    """Read the file that `write_parameters` wrote. Raise ParametersError if it is missing or malformed."""
    named = named_for_all(path)
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise ParametersError(
            f"{named}: cannot be read ({error.strerror}); name the params.txt of a run, or its folder, that of the "
            "run's checkpoints"
        ) from error
    except UnicodeDecodeError:
        raise ParametersError(f"{named}: not a file of parameters, it is not UTF-8 text") from None
    return parse_parameters(text, named)


def format_parameters(parameters: Mapping[str, Value]) -> str:
    """Return parameters as text, a line each, sorted by name.

    Raise ValueError for a name other than letters, digits, `_` and `.`, and TypeError for a value of another type.
    """
    for name in parameters:
        if not _NAME.fullmatch(name):
            raise ValueError(f"{name!r} is not a parameter's name: use letters, digits, '_' and '.'")
    return "".join(f"{name} : {format_value(parameters[name])}\n" for name in sorted(parameters))


def parse_parameters(text: str, source: str) -> dict[str, Value]:
    """Return the parameters of a text; empty lines are ignored.

    Raise ParametersError, which names `source` and the line, if a line is not `name : value` or a name occurs twice.
    """
    parameters: dict[str, Value] = {}
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        name, separator, value = line.partition(" : ")
        name = name.strip()
        if not separator or not _NAME.fullmatch(name):
            raise ParametersError(f"{source}:{number}: expected 'name : value', found {line.strip()[:SHOWN]!r}")
        if name in parameters:
            raise ParametersError(f"{source}:{number}: {name} is already there; remove one of the two lines")
        try:
            parameters[name] = parse_value(value)
        except ValueError as error:
            raise ParametersError(f"{source}:{number}: {name}: {error}") from None
    return parameters


def format_value(value: Value) -> str:
    """Return a value as text: None, a bool, a number, a string in quotes, or a tuple of them. Raise TypeError."""
    if value is None or type(value) in (bool, int, float, str):
        return repr(value)
    if type(value) is tuple:
        return f"({', '.join(map(format_value, value))}{',' if len(value) == 1 else ''})"
    raise TypeError(f"{value!r} is a {type(value).__name__}; a parameter is None, a bool, number, string or tuple")


def parse_value(text: str) -> Value:
    """Return the value that `format_value` wrote. Raise ValueError if the text is not one."""
    try:
        return _value_of(ast.parse(text.strip(), mode="eval").body)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        shown = text.strip()[:SHOWN]
        raise ValueError(
            f"{shown} is not a value: write None, True, False, a number, a string in quotes or a tuple of those"
        ) from None


def _value_of(node: ast.expr) -> Value:
    match node:
        case ast.Constant(value=None | bool() | int() | float() | str() as value):
            return value
        case ast.Tuple(elts=items):
            return tuple(_value_of(item) for item in items)
        case ast.Name(id=name) if name in _NAMED_FLOATS:
            return _NAMED_FLOATS[name]
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            number = _value_of(operand)
            if isinstance(number, (int, float)) and not isinstance(number, bool):
                return -number
    raise ValueError
