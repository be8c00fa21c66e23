"""The values of flags: their types, and how they are read from texts. See `deepspeech.options.rows.flag`."""

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ...util.errors import FlagError
from ...util.files.user_paths import user_path

Value = str | int | float | bool | Path | None | tuple[Path, ...] | tuple[str, ...]

NAME_IN_FILE = re.compile(r".+\.py:[^:\s]+")
"""A name in a Python file, which `--network` and `--experiment` accept."""

_COMMA_OUTSIDE_BRACKETS = r",(?![^\[]*\])"
_COMMA_BETWEEN, _COMMA_INSIDE = r"(?<!\\),", r"\,"


def _text(text: str) -> str:
    return str(user_path(text)) if NAME_IN_FILE.fullmatch(text) else text


_FROM_TEXT: Mapping[type, Callable[[str], Value]] = {
    str: _text,
    int: int,
    float: float,
    bool: {"True": True, "False": False}.__getitem__,
}

_IN_WORDS: Mapping[Any, str] = {
    int: "a whole number",
    float: "a number",
    bool: "True or False",
    str: "a text",
    Path | None: "a path",
    tuple[Path, ...]: "a tuple of paths",
    tuple[str, ...]: "a tuple of texts",
}


def value_of_text(name: str, kind: Any, text: str, *, repeated: bool) -> Value:
    """Return the value of type `kind` of a text; raise FlagError, naming the flag, if the text is not such a value.

    In the values of a flag that may be `repeated`, commas inside brackets do not separate values.
    """
    if kind in _FROM_TEXT:
        try:
            return _FROM_TEXT[kind](text)
        except (KeyError, ValueError):
            raise FlagError(f"--{name}={' '.join(text.split())}: must be {_IN_WORDS[kind]}") from None
    if kind == Path | None:
        return user_path(text) if text else None
    parts = _parts(_COMMA_OUTSIDE_BRACKETS, text) if repeated else listed(text)
    return tuple(map(user_path, parts)) if kind == tuple[Path, ...] else parts


def value_of_type(name: str, kind: Any, value: Any) -> Value:
    """Return a value that Python code gives, as type `kind`: lists become tuples, and texts in tuples of paths paths.

    Raise FlagError, naming the flag, for a value of another type.
    """
    if isinstance(value, list | tuple):
        value = tuple(user_path(each) if kind == tuple[Path, ...] and isinstance(each, str) else each for each in value)
    if not _is_of(kind, value):
        raise FlagError(f"--{name}={value!r}: must be {_IN_WORDS[kind]}")
    typed: Value = value
    return typed


def _is_of(kind: Any, value: Any) -> bool:
    if kind in (tuple[Path, ...], tuple[str, ...]):
        return isinstance(value, tuple) and all(isinstance(each, kind.__args__[0]) for each in value)
    if kind in (int, float) and isinstance(value, bool):
        return False
    return isinstance(value, int | float if kind is float else kind)


def listed(text: str) -> tuple[str, ...]:
    """Return the items of a text between commas, without the spaces around them; `\\,` is a comma inside an item."""
    return tuple(part.replace(_COMMA_INSIDE, ",") for part in _parts(_COMMA_BETWEEN, text))


def with_commas_inside(value: object) -> str:
    """Return a value as an item for `listed`."""
    return str(value).replace(",", _COMMA_INSIDE)


def _parts(between: str, text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in re.split(between, text) if part.strip())
