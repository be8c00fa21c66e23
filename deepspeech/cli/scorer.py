"""The flags for the language model that a model decodes with."""

from __future__ import annotations

import argparse
import math
from pathlib import Path

from ..errors import FlagError
from ..serving.api import Model

WEIGHTS = ("lm_alpha", "lm_beta")


def add_scorer_flags(parser: argparse.ArgumentParser) -> None:
    """Add the flags."""
    add = parser.add_argument
    add("--scorer", type=Path, help="language model: a scorer package or a KenLM file")
    add("--lm_alpha", type=float, help="weight of the language model; default: the scorer's")
    add("--lm_beta", type=float, help="bonus for each word; default: the scorer's")


def check_scorer_flags(options: argparse.Namespace) -> None:
    """Raise FlagError for a weight that is no finite number, or that has no language model."""
    given = {name: value for name in WEIGHTS if (value := getattr(options, name)) is not None}
    for name, value in given.items():
        if not math.isfinite(value):
            raise FlagError(f"--{name}={value}: must be a finite number")
    for name in given if options.scorer is None else ():
        raise FlagError(f"--{name}: needs --scorer")


def enable_scorer(model: Model, options: argparse.Namespace) -> None:
    """Let a model decode with the language model, if there is one; raise ModelError if it cannot be used."""
    if options.scorer is None:
        return
    model.enableExternalScorer(options.scorer)
    given = (getattr(options, name) for name in WEIGHTS)
    weights = zip(given, model.scorer_weights, strict=True)
    model.setScorerAlphaBeta(*(own if value is None else value for value, own in weights))
