"""Kinds of arguments of the benchmarks, for `argparse`, which reports a wrong value in one line. Needs no package."""

from __future__ import annotations

import math
import shutil
from argparse import ArgumentTypeError
from collections.abc import Callable
from pathlib import Path


def at_least(least: int) -> Callable[[str], int]:
    """Return the function that reads a whole number of `least` or more."""

    def number(text: str) -> int:
        value = int(text)
        if value < least:
            raise ArgumentTypeError(f"must be {least} or more, not {text}")
        return value

    return number


def above_zero(text: str) -> float:
    """Read a finite number above 0."""
    value = float(text)
    if not 0 < value < math.inf:
        raise ArgumentTypeError(f"must be above 0, not {text}")
    return value


def file(text: str) -> Path:
    """Read the path of a file that there is."""
    if not Path(text).is_file():
        raise ArgumentTypeError(f"there is no file {text}")
    return Path(text)


def program(text: str) -> str:
    """Read the name or path of a program that there is."""
    if shutil.which(text) is None:
        raise ArgumentTypeError(f"there is no program {text}")
    return text
