"""Utterances made louder or quieter."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..augmentation import DECIBELS, Array, Augmentation, Occasion
from ..levels import FULL_SCALE, ratio_of
from ..ranges import Range


@dataclass(frozen=True, kw_only=True)
class Volume(Augmentation):
    """A gain that is the same for the whole utterance."""

    kind: ClassVar[str] = "volume"
    summary: ClassVar[str] = "brings the loudest sample to `dbfs`; 3.0103 is the most that 16 bits can hold"
    bounds: ClassVar[Mapping[str, tuple[float, float]]] = {"dbfs": DECIBELS}
    dbfs: Range = Range(3.0103)

    def augment(self, array: Array, occasion: Occasion) -> Array:
        """Return float32 [samples]."""
        peak = float(np.abs(array).max())
        return array * np.float32(ratio_of(occasion.draw(self.dbfs) - FULL_SCALE) / peak) if peak else array
