"""From samples to features: their settings, and the front ends that compute them, by name."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from importlib import import_module

import numpy as np
import numpy.typing as npt

from .audio import Samples
from .errors import FeatureError

Features = npt.NDArray[np.float32]
"""float32 [frames, coefficients], or with a batch before."""

FRONT_ENDS = ("audio_ops", "psf")
"""The front ends: a module of `front_ends` each, whose FRONT_END is a class of this name's features."""


@dataclass(frozen=True)
class FeatureOptions:
    """How features are computed. A model only works with the features it was trained on."""

    sample_rate: int = 16_000
    """Hz."""
    feature_type: str = "audio_ops"
    """One of FRONT_ENDS: `audio_ops` (TensorFlow's, DeepSpeech 0.2 and later) or `psf` (python_speech_features)."""
    window_ms: int = 32
    step_ms: int = 20
    coefficients: int = 26
    """MFCCs per frame."""

    def __post_init__(self) -> None:
        """Raise FeatureError for a setting that no front end can work with."""
        if self.feature_type not in FRONT_ENDS:
            raise FeatureError(f"no feature type {self.feature_type!r}; there are {' and '.join(FRONT_ENDS)}")
        if min(self.sample_rate, self.window_ms, self.step_ms, self.coefficients) < 1:
            raise FeatureError(f"feature settings must be positive: {self}")
        if self.sample_rate * self.window_ms % 1000 or self.sample_rate * self.step_ms % 1000:
            raise FeatureError(
                f"at {self.sample_rate} Hz, windows of {self.window_ms} ms every {self.step_ms} ms are not whole"
                " numbers of samples; choose another sample rate, such as 8000 or 16000"
            )

    @property
    def window(self) -> int:
        """Samples per frame."""
        return self.sample_rate * self.window_ms // 1000

    @property
    def step(self) -> int:
        """Samples from the start of one frame to the start of the next."""
        return self.sample_rate * self.step_ms // 1000


class FrontEnd(ABC):
    """Computes features. Any number of threads may use one at the same time."""

    exportable = False
    """Whether clients of exported graphs compute the same features."""

    def __init__(self, options: FeatureOptions) -> None:
        """Take the options; what a front end needs beside them is set up when it is first used."""
        self.options = options

    @abstractmethod
    def frame_count(self, samples: int) -> int:
        """Return how many frames `extract` makes of a number of samples; can be 0."""

    @abstractmethod
    def extract(self, samples: Samples) -> Features:
        """Return the MFCCs, float32 [frames, coefficients], of samples, float32 [samples] in [-1, 1]."""


def front_end(options: FeatureOptions) -> FrontEnd:
    """Return the front end that the options ask for."""
    module = import_module(f".front_ends.{options.feature_type}", __package__)
    made: FrontEnd = module.FRONT_END(options)
    return made
