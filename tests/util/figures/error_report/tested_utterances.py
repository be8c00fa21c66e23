"""Invented results of tests, for reports."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from deepspeech.util.figures.error_report.results import UtteranceResult

DIGITS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]


FOLDER = Path("/wav")


def results(count: int, *, error_rate: float = 0.2, seed: int = 1, folder: Path = FOLDER) -> list[UtteranceResult]:
    """Return results of spoken digits by eight speakers; s7 has three times as many errors as the others.

    A seed always has the same references, whatever the error rate.
    """
    random = np.random.default_rng(seed)
    made = []
    for number in range(count):
        said = [str(word) for word in random.choice(DIGITS, random.integers(1, 8))]
        rate = error_rate * (3 if number % 8 == 7 else 1)
        heard = [wrong if draw < rate else right for right, wrong, draw in _draws(said, random)]
        made.append(
            UtteranceResult(
                csv_file="test.csv",
                line=number + 2,
                recording=str(folder / f"{number}.wav"),
                reference=" ".join(said),
                hypothesis=" ".join(filter(None, heard)),
                loss=float(number),
                seconds=0.5 * len(said) + float(random.random()),
                loudness=-30 + float(random.random()),
                signal_to_noise=20 + float(random.random()),
                columns={"speaker": f"s{number % 8}"},
            )
        )
    return made


def _draws(said: Sequence[str], random: np.random.Generator) -> list[tuple[str, str, float]]:
    wrong = [str(word) for word in random.choice([*DIGITS, ""], len(said))]
    return list(zip(said, wrong, random.random(len(said)).tolist(), strict=True))
