"""Checks of the arguments of the Python interface: each returns its argument, or raises an error that names it."""

from __future__ import annotations

import math
import operator
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any, TypeVar

from ...errors import DeepSpeechError, ModelError
from ...util.storage.addresses import address_of

LARGEST_COUNT = (1 << 31) - 1

Kind = TypeVar("Kind")


def count(value: Any, name: str) -> int:
    """Return a whole number from 1 to LARGEST_COUNT."""
    try:
        number = operator.index(value)
    except TypeError:
        raise ModelError(f"{name} must be a whole number, not {type(value).__name__}") from None
    if not 1 <= number <= LARGEST_COUNT:
        raise ModelError(f"{name} is {number}, but must be from 1 to {LARGEST_COUNT}")
    return number


def finite_number(value: Any, name: str) -> float:
    """Return a number that is neither infinite nor NaN."""
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        raise ModelError(f"{name} must be a number, not {value!r}") from None
    if not math.isfinite(number):
        raise ModelError(f"{name} is {number}, but must be a finite number")
    return number


def text(value: Any, name: str) -> str:
    """Return a text."""
    if not isinstance(value, str):
        raise ModelError(f"{name} must be a text, not {type(value).__name__}")
    return value


def of_kind(value: Any, kind: type[Kind], name: str) -> Kind:
    """Return an object of a class."""
    if not isinstance(value, kind):
        raise ModelError(f"{name} must be of the class {kind.__name__}, not {type(value).__name__}")
    return value


def several(value: Iterable[Any], name: str) -> Iterable[Any]:
    """Return an iterable of values; raise for a single path, whose letters would be treated as the values."""
    if isinstance(value, str | bytes | os.PathLike):
        raise ModelError(f"{name} is a single path, {os.fsdecode(value)}; give a list of paths")
    return value


def file_path(value: Any, name: str, error: type[DeepSpeechError] = ModelError) -> Path:
    """Return the path of a file on this machine, given as text, as bytes or as a path, or raise `error`."""
    try:
        path = os.fsdecode(value)
    except TypeError:
        raise error(f"{name} must be the path of a file, not {type(value).__name__}") from None
    if (address := address_of(path)) is not None:
        raise error(f"{name} is an address, {address}; download it, and give the path of the file")
    return Path(path)
