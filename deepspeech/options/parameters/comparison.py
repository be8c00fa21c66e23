"""What differs between the parameters of two runs."""

from __future__ import annotations

from collections.abc import Mapping

from .text import Value, format_value

ABSENT = "absent"
"""The value shown for a parameter that only the other run has; it differs from any string, as those are in quotes."""


def differences(first: Mapping[str, Value], second: Mapping[str, Value]) -> list[str]:
    """Return a line `name : FIRST | SECOND` for each parameter whose values differ as text, sorted by name."""
    lines = []
    for name in sorted(first.keys() | second.keys()):
        values = [format_value(each[name]) if name in each else ABSENT for each in (first, second)]
        if values[0] != values[1]:
            lines.append(f"{name} : {values[0]} | {values[1]}")
    return lines
