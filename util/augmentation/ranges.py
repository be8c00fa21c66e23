"""The ranges of augmentations' parameters, in the notation of DeepSpeech 0.9.

1.5        always 1.5
1.0~0.2    between 0.8 and 1.2
0:5        0 at the beginning of training, 5 at its end, linear between them
0:5~1      within 1 of that line
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Range:
    """A centre that moves from `start` to `end` (None: stays) during training, and the largest distance from it.

    Raise ValueError for numbers that are not finite, and for a negative `spread`.
    """

    start: float
    end: float | None = None
    spread: float = 0.0

    def __post_init__(self) -> None:
        """Check the numbers."""
        numbers = (self.start, self.start if self.end is None else self.end, self.spread)
        if not all(map(math.isfinite, numbers)) or self.spread < 0:
            raise ValueError(f"{self} is not a range of finite numbers with a spread of 0 or more")

    def __str__(self) -> str:
        end = "" if self.end is None else f":{_text(self.end)}"
        return f"{_text(self.start)}{end}" + (f"~{_text(self.spread)}" if self.spread else "")

    @property
    def lowest(self) -> float:
        """The lowest value that is ever drawn."""
        return min(self.start, self.start if self.end is None else self.end) - self.spread

    @property
    def highest(self) -> float:
        """The highest value that is ever drawn."""
        return max(self.start, self.start if self.end is None else self.end) + self.spread

    def draw(self, random: np.random.Generator, clock: float) -> float:
        """Return a random value, uniform within `spread` of the centre.

        `clock` is 0 at the beginning of training and 1 at its end.
        """
        return float(random.uniform(*self.limits(clock)))

    def limits(self, clock: float) -> tuple[float, float]:
        """Return the lowest and the highest value that can be drawn at `clock`."""
        centre = self.start if self.end is None else self.start + clock * (self.end - self.start)
        return centre - self.spread, centre + self.spread

    def draw_whole(self, random: np.random.Generator, clock: float) -> int:
        """Return the result of `draw` rounded to the nearest whole number, halves up."""
        return math.floor(self.draw(random, clock) + 0.5)


def parse_range(text: str) -> Range:
    """Parse a range. Raise ValueError if the text is none."""
    centre, spread_sign, spread = text.partition("~")
    start, end_sign, end = centre.partition(":")
    try:
        return Range(float(start), float(end) if end_sign else None, float(spread) if spread_sign else 0.0)
    except ValueError:
        raise ValueError(f"{text} is not a number or a range, such as 1, 1~0.2, 0:5 or 0:5~1") from None


def _text(number: float) -> str:
    return str(int(number)) if abs(number) < 1e15 and number == int(number) else repr(float(number))
