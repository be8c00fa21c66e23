"""The rows of the last layer that another alphabet keeps, because both alphabets have their labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Indices = npt.NDArray[np.intp]


@dataclass(frozen=True)
class LabelMapping:
    """Outputs with the same meaning in two models: the shared labels in the order of `ours`, and the blank at the end.

    Both are indices, [shared + 1].
    """

    theirs: Indices
    ours: Indices

    @property
    def shared(self) -> int:
        """The number of labels that both have; the blank is not counted."""
        return len(self.ours) - 1

    @property
    def their_outputs(self) -> int:
        """The number of outputs of the other model, of which the blank is the last."""
        return int(self.theirs[-1]) + 1

    def mapped(self, values: npt.NDArray[Any], initial: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return `initial`, [..., our outputs], with the rows of `values`, [..., their outputs], for shared outputs."""
        result = initial.copy()
        result[..., self.ours] = values[..., self.theirs]
        return result


def shared_labels(theirs: Sequence[str], ours: Sequence[str]) -> LabelMapping:
    """Return the mapping between the outputs of models with these labels; the blank comes after the last label."""
    place = {label: index for index, label in enumerate(theirs)}
    pairs = [(place[label], index) for index, label in enumerate(ours) if label in place]
    pairs.append((len(theirs), len(ours)))
    return LabelMapping(*(np.array(side, np.intp) for side in zip(*pairs, strict=True)))
