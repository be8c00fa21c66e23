"""Checks of the values of flags; each returns the error message for the user."""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any


class Check(ABC):
    """One rule for the value of a flag."""

    @abstractmethod
    def complaint(self, name: str, value: Any) -> str:
        """Return a line that says what is wrong with the value of the flag `name`, or an empty text if nothing is."""


@dataclass(frozen=True)
class Range(Check):
    """A number of at least `low`, or above `low` if `excluded`, and below `high`; `allowed` is the range in words."""

    allowed: str
    low: float = -math.inf
    high: float = math.inf
    excluded: bool = False

    def complaint(self, name: str, value: Any) -> str:
        """Return what is wrong with a number; NaN is outside every range."""
        inside = (self.low < value if self.excluded else self.low <= value) and value < self.high
        return "" if inside else f"--{name}={value}: must be {self.allowed}"


@dataclass(frozen=True)
class OneOf(Check):
    """One of a few words or numbers."""

    choices: tuple[str, ...] | tuple[int, ...]

    def complaint(self, name: str, value: Any) -> str:
        """Return what is wrong with a word or a number."""
        choices = ", ".join(str(each) for each in self.choices if each != "")
        return "" if value in self.choices else f"--{name}={value}: must be one of {choices}"


FINITE = Range("a finite number", excluded=True)


def at_least(low: int) -> Range:
    """Return the check of a finite number of at least `low`."""
    return Range(f"{low} or more", low)


def more_than(low: int) -> Range:
    """Return the check of a finite number above `low`."""
    return Range(f"a finite number greater than {low}", low, excluded=True)


def between(low: int, high: int) -> Range:
    """Return the check of a number of at least `low` and below `high`."""
    return Range(f"at least {low} and less than {high}", low, high)


def up_to(highest: int, allowed: str) -> Range:
    """Return the check of a whole number from 0 to `highest`."""
    return Range(allowed, 0, highest + 1)


def one_to(highest: int) -> Range:
    """Return the check of a whole number from 1 to `highest`."""
    return Range(f"1 to {highest}", 1, highest + 1)
