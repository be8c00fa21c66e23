"""What differs between the parameters of two runs."""

from __future__ import annotations

from collections.abc import Mapping

from .text import Value, format_value

ABSENT = "absent"
"""Stands for the value of a parameter that only the other run has; strings are in quotes, so it cannot be one."""


def differences(first: Mapping[str, Value], second: Mapping[str, Value]) -> list[str]:
    """Return a line `name : FIRST | SECOND` for each parameter whose values differ as text, sorted by name."""
    lines = []
    for name in sorted(first.keys() | second.keys()):
        values = [format_value(each[name]) if name in each else ABSENT for each in (first, second)]
        if values[0] != values[1]:
            lines.append(f"{name} : {values[0]} | {values[1]}")
    return lines
