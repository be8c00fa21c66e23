"""A check that weights are finite: a training that diverged leaves infinities and NaN, which make a model useless."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ...errors import CheckpointError


def check_finite(origin: Path | str, values: Mapping[str, npt.NDArray[Any]]) -> None:
    """Raise CheckpointError for the first weight, by its name, that holds infinite numbers or NaN.

    The error names the file of the weights `origin`.
    """
    for name, value in values.items():
        wrong = value.size - np.count_nonzero(np.isfinite(value))
        if wrong:
            raise CheckpointError(
                f"{origin}: {name} holds numbers that are not finite, {wrong:,} of {value.size:,}; use earlier "
                "weights, such as those of an older checkpoint"
            )
