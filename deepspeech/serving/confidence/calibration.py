"""The probability that a word is right, from observations of it: a logistic function, fitted on a dev set.

    confidence = 1 / (1 + exp(-(bias + agreement * logit(agreement of hypotheses) + clarity * logit(clarity))))

This is Platt's scaling (Platt, 1999, "Probabilistic Outputs for Support Vector Machines") of two observations.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields

import numpy as np
import numpy.typing as npt

from ...errors import GraphError

SMALLEST_PROBABILITY = 1e-4
"""Observations are kept at least this far from 0 and 1."""
PENALTY = 1.0
"""When fitting, half the square of each weight's difference from the default, times this, is added to the loss."""
NEWTON_STEPS = 50
LARGEST_WEIGHT = 1e6
"""The largest weight that is read; fitted weights are a few units."""

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Observation:
    """The observations of a word, each between 0 and 1; see `words.observations`."""

    agreement: float
    clarity: float


@dataclass(frozen=True)
class Calibration:
    """The logistic function's weights."""

    bias: float
    agreement: float
    clarity: float

    def confidence(self, observation: Observation) -> float:
        """Return the probability, between 0 and 1, that a word with this observation is right."""
        weighted = self.agreement * _logit(observation.agreement) + self.clarity * _logit(observation.clarity)
        return (1 + math.tanh((self.bias + weighted) / 2)) / 2  # the logistic function, without an exp that overflows


@dataclass(frozen=True)
class Calibrations:
    """The calibrations of a model: for decoding without a language model, and with one.

    The defaults were fitted on dev sets of several models; see `docs/utterances.md`.
    """

    acoustic: Calibration = Calibration(-1.96, 0.20, 0.62)
    language_model: Calibration = Calibration(-1.27, 0.31, 0.38)

    def to_json(self) -> str:
        """Return them as JSON."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: bytes) -> Calibrations:
        """Return what `to_json` wrote; raise GraphError for anything else."""
        try:
            value = json.loads(text.decode())
            made = {field.name: _calibration(value[field.name]) for field in fields(cls)}
        except (ValueError, KeyError, TypeError, RecursionError):
            raise GraphError("the calibration of its confidences is damaged") from None
        return cls(**made)


def fitted(observations: Sequence[Observation], right: Sequence[bool], default: Calibration) -> Calibration:
    """Return the calibration of highest likelihood for words that are right or not, by Newton's method.

    A penalty pulls it to the default if there are few words or errors; without words, it is the default.
    """
    inputs = np.array([[1, _logit(each.agreement), _logit(each.clarity)] for each in observations], np.float64)
    inputs = inputs.reshape(-1, 3)  # also without any
    targets = np.asarray(right, np.float64)
    start = np.array([default.bias, default.agreement, default.clarity])
    weights = start.copy()
    for _ in range(NEWTON_STEPS):
        probabilities = 1 / (1 + np.exp(-(inputs @ weights)))
        gradient = inputs.T @ (probabilities - targets) + PENALTY * (weights - start)
        curvature = (inputs * (probabilities * (1 - probabilities))[:, None]).T @ inputs + PENALTY * np.eye(3)
        step = np.linalg.solve(curvature, gradient)
        weights = weights - step / max(1.0, float(np.abs(step).max()))
    return Calibration(*(round(float(weight), 4) for weight in weights))


def _calibration(value: Mapping[str, object]) -> Calibration:
    weights = [value[field.name] for field in fields(Calibration)]
    numbers = [float(each) for each in weights if isinstance(each, (int, float)) and abs(each) <= LARGEST_WEIGHT]
    if len(numbers) != len(weights):
        raise ValueError
    return Calibration(*numbers)


def _logit(probability: float) -> float:
    bounded = min(max(probability, SMALLEST_PROBABILITY), 1 - SMALLEST_PROBABILITY)
    return math.log(bounded / (1 - bounded))
