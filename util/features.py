"""From samples to features: the settings of features, and the front ends by name."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from importlib import import_module
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from .audio import Samples
from .errors import FeatureError
from .frames.stacking import Stacking

Features = npt.NDArray[np.float32]
"""float32 [frames, coefficients], or [batch, frames, coefficients]."""


class FrameSizes(NamedTuple):
    """A front end's default frames."""

    window_ms: int
    step_ms: int
    coefficients: int


FRONT_ENDS: Mapping[str, FrameSizes] = {
    "audio_ops": FrameSizes(32, 20, 26),
    "psf": FrameSizes(32, 20, 26),
    "fbank": FrameSizes(25, 10, 80),
}
"""The front ends. Each is a module of `front_ends`, whose FRONT_END is the class that computes the features."""

NO_NORMALIZATION, GLOBAL, RUNNING, UTTERANCE = "none", "global", "running", "utterance"
NORMALIZATIONS = (NO_NORMALIZATION, GLOBAL, RUNNING, UTTERANCE)
"""The ways to normalize features; see `deepspeech.util.frames.normalization`."""

_OF_PREDECESSORS = ("audio_ops", "psf")


@dataclass(frozen=True)
class FeatureOptions:
    """How features are computed. A model only works with the features it was trained on."""

    sample_rate: int = 16_000
    """Hz."""
    feature_type: str = "audio_ops"
    """One of FRONT_ENDS: `audio_ops` (TensorFlow's, DeepSpeech 0.2 and later), `psf` (python_speech_features) or
    `fbank` (Kaldi's)."""
    window_ms: int = 0
    """0, here and in the next two fields: the default of the front end."""
    step_ms: int = 0
    coefficients: int = 0
    """MFCCs, or energies of mel filters, per frame."""
    normalization: str = NO_NORMALIZATION
    """One of NORMALIZATIONS."""
    stack_frames: int = 1
    """Frames of the front end that make one frame of the network."""
    skip_frames: int = 0
    """Frames of the front end between the starts of two frames of the network; 0: as many as are stacked."""

    def __post_init__(self) -> None:
        """Fill in the front end's defaults; raise FeatureError for a setting that no front end supports."""
        if self.feature_type not in FRONT_ENDS:
            *names, last = FRONT_ENDS
            raise FeatureError(f"no feature type {self.feature_type!r}; there are {', '.join(names)} and {last}")
        if self.normalization not in NORMALIZATIONS:
            raise FeatureError(f"no normalization {self.normalization!r}; there are {', '.join(NORMALIZATIONS)}")
        own = FRONT_ENDS[self.feature_type]._asdict()
        for name, value in {**own, "skip_frames": self.stack_frames}.items():
            object.__setattr__(self, name, getattr(self, name) or value)
        if min(value for value in asdict(self).values() if isinstance(value, int)) < 1:
            raise FeatureError(f"feature settings must be positive: {self}")
        if self.sample_rate * self.window_ms % 1000 or self.sample_rate * self.step_ms % 1000:
            raise FeatureError(
                f"at {self.sample_rate} Hz, windows of {self.window_ms} ms every {self.step_ms} ms are not whole"
                " numbers of samples; choose another sample rate, such as 8000 or 16000"
            )
        if self.step_ms > self.window_ms:
            raise FeatureError(
                f"windows of {self.window_ms} ms every {self.step_ms} ms leave out what is between them; a step must"
                " not be longer than its window"
            )

    @property
    def window(self) -> int:
        """Samples per frame."""
        return self.sample_rate * self.window_ms // 1000

    @property
    def step(self) -> int:
        """Samples from the start of one frame to the start of the next."""
        return self.sample_rate * self.step_ms // 1000

    @property
    def fft_size(self) -> int:
        """Samples of a window's Fourier transform: the next power of two, whose further samples are zeros."""
        return 1 << (self.window - 1).bit_length()

    @property
    def stacking(self) -> Stacking:
        """How frames of the front end are stacked into those of the network."""
        return Stacking(self.stack_frames, self.skip_frames)

    @property
    def stacked(self) -> bool:
        """Whether the network's frames differ from those of the front end."""
        return (self.stack_frames, self.skip_frames) != (1, 1)

    @property
    def of_front_end(self) -> FeatureOptions:
        """The settings that the frames of the front end depend on, without normalization and stacking."""
        return replace(self, normalization=NO_NORMALIZATION, stack_frames=1, skip_frames=1)

    @property
    def width(self) -> int:
        """Numbers in a frame of the network."""
        return self.stack_frames * self.coefficients

    @property
    def network_step_ms(self) -> int:
        """Milliseconds from one frame of the network to the next."""
        return self.skip_frames * self.step_ms

    @property
    def normalized(self) -> bool:
        """Whether the features are normalized, which needs statistics."""
        return self.normalization != NO_NORMALIZATION

    @property
    def of_whole_recordings(self) -> bool:
        """Whether a frame depends on the whole recording, so that features cannot stream."""
        return self.normalization == UTTERANCE

    @property
    def of_predecessors(self) -> bool:
        """Whether DeepSpeech had these features; its graphs state only their window and step."""
        return self.feature_type in _OF_PREDECESSORS and self == self.of_front_end

    @property
    def published(self) -> bool:
        """Whether the clients of DeepSpeech 0.9 compute these features."""
        return self.feature_type == "audio_ops" and self == self.of_front_end

    @property
    def in_words(self) -> str:
        """The kind, size and treatment of the features, as in "80 fbank every 10 ms, normalized (global)"."""
        words = f"{self.coefficients} {self.feature_type} every {self.step_ms} ms"
        if self.window_ms != FRONT_ENDS[self.feature_type].window_ms:
            words += f" of windows of {self.window_ms} ms"
        if self.normalized:
            words += f", normalized ({self.normalization})"
        if self.stacked:
            words += f", {self.stack_frames} stacked every {self.skip_frames}"
        return words

    def to_json(self) -> dict[str, Any]:
        """Return the settings as a value for JSON, without newer ones that have no effect."""
        values = asdict(self)
        if not self.normalized:
            del values["normalization"]
        if not self.stacked:
            del values["stack_frames"], values["skip_frames"]
        return values


class FrameStream(Protocol):
    """One signal that arrives in pieces. Its frames do not depend on how it is divided."""

    def feed(self, samples: Samples) -> Features:
        """Take float32 [samples] in [-1, 1]; return the frames that are complete now, float32 [frames, width]."""

    def finish(self) -> Features:
        """Return the remaining frames, float32 [frames, width]."""


class FrontEnd(ABC):
    """Computes features. Any number of threads may use one at the same time."""

    contents = "features"
    """The numbers of a frame, in words."""
    exportable = False
    """Whether exported models can compute the same features when they are served; see `ServedFrontEnd`."""

    def __init__(self, options: FeatureOptions) -> None:
        """Take the options; everything else is set up on first use."""
        self.options = options

    @abstractmethod
    def frame_count(self, samples: int) -> int:
        """Return how many frames `extract` makes of a number of samples; this can be 0."""

    @abstractmethod
    def extract(self, samples: Samples) -> Features:
        """Return the features, float32 [frames, coefficients], of samples, float32 [samples] in [-1, 1]."""


class ServedFrontEnd(Protocol):
    """Computes features without TensorFlow, of whole signals and of signals that arrive in pieces."""

    def __call__(self, samples: Samples) -> Features:
        """Return the features, float32 [frames, coefficients], of samples, float32 [samples] in [-1, 1]."""

    def stream(self) -> FrameStream:
        """Begin a signal that arrives in pieces."""


def front_end(options: FeatureOptions) -> FrontEnd:
    """Return the front end of the options. Raise FeatureError if it cannot be used."""
    made: FrontEnd = _module(options.feature_type).FRONT_END(options)
    return made


def exportable_front_ends() -> list[str]:
    """Return the names of the front ends whose features are computed where models are served."""
    return [name for name in FRONT_ENDS if _module(name).FRONT_END.exportable]


def served_front_end(options: FeatureOptions) -> ServedFrontEnd:
    """Return the serving implementation of a front end. Raise FeatureError if there is none."""
    module = _module(options.feature_type)
    if not module.FRONT_END.exportable:
        raise FeatureError(f"features of {options.feature_type} are not computed where models are served")
    made: ServedFrontEnd = module.SERVED(options)
    return made


def _module(feature_type: str) -> Any:
    return import_module(f".front_ends.{feature_type}", __package__)
