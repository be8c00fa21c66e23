"""The windows of features that the network takes, from a signal that comes in pieces, as in DeepSpeech's clients.

Before the first and after the last frame there are frames of zeros.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import numpy.typing as npt

from ..util.features import GLOBAL, RUNNING, UTTERANCE, FrameStream, served_front_end
from ..util.frames.normalization import (
    FeatureStatistics,
    GlobalNormalization,
    RunningNormalization,
    UtteranceNormalization,
)
from ..util.frames.stacking import StackingStream
from .frozen.model import ModelInfo

Array = npt.NDArray[np.float32]
Normalization = Callable[[Array], Array]

NORMALIZATIONS: Mapping[str, Callable[[FeatureStatistics], Normalization]] = {
    GLOBAL: GlobalNormalization,
    RUNNING: RunningNormalization,
    UTTERANCE: UtteranceNormalization,
}


class ModelFeatures:
    """The features of a model, as in its training. Threads may share one."""

    def __init__(self, info: ModelInfo, context: int | None = None) -> None:
        """Take the model's settings and statistics, and the frames of context; those of its network if None.

        Raise FeatureError if its front end cannot be used here.
        """
        self._front_end = served_front_end(info.features)
        self._options = info.features
        self._statistics = info.statistics
        self._context = info.network.context if context is None else context

    @property
    def width(self) -> int:
        """The number of values in a frame."""
        return self._options.width

    def stream(self) -> FrameStream:
        """Begin a signal that comes in pieces."""
        kind = _WholeFrames if self._options.of_whole_recordings else _ModelFrames
        return kind(self._front_end.stream(), self._options.stacking.stream(), self._normalization())

    def windows(self) -> FeatureWindows:
        """Begin a signal whose frames are wanted with their neighbours."""
        return FeatureWindows(self.stream(), self.width, self._context)

    def frames_of(self, signal: Array) -> Array:
        """Return the frames of a whole signal as in training, float32 [frames, width].

        Samples after the last whole window may be dropped; a stream of `audio_ops` features pads them with zeros.
        """
        return self._normalization()(self._options.stacking(self._front_end(signal)))

    def windows_of(self, signal: Array) -> Array:
        """Return the same frames with their neighbours, float32 [frames, (2 * context + 1) * width]."""
        padding = np.zeros((self._context, self.width), np.float32)
        return context_windows(np.concatenate([padding, self.frames_of(signal), padding]), self._context)

    def _normalization(self) -> Normalization:
        if self._statistics is None:
            return _unchanged
        return NORMALIZATIONS[self._options.normalization](self._statistics)


class FeatureWindows:
    """One signal. However it is cut into pieces, the windows are the same."""

    def __init__(self, stream: FrameStream, width: int, context: int) -> None:
        """Begin a signal; `width` is that of its frames, `context` the number of frames on either side of each one."""
        self._stream = stream
        self._width = width
        self._context = context
        self._frames = self._padding()

    def feed(self, samples: Array) -> Array:
        """Take float32 [samples] in [-1, 1]; return the windows that are complete now, float32 [time, n_input]."""
        return self._windows(self._stream.feed(samples))

    def finish(self) -> Array:
        """Return the windows that are left, float32 [time, n_input]."""
        return self._windows(np.concatenate([self._stream.finish(), self._padding()]))

    def _padding(self) -> Array:
        return np.zeros((self._context, self._width), np.float32)

    def _windows(self, features: Array) -> Array:
        self._frames = np.concatenate([self._frames, features])
        windows = context_windows(self._frames, self._context)
        self._frames = self._frames[len(windows) :]
        return windows


def context_windows(frames: Array, context: int) -> Array:
    """Return each frame that has `context` neighbours on both sides, together with them.

    `frames` are float32 [time, n], the windows float32 [time - 2 * context, (2 * context + 1) * n].
    """
    width = 2 * context + 1
    count = max(0, len(frames) - width + 1)
    if not count:
        return np.zeros((0, width * frames.shape[1]), np.float32)
    flat = np.ascontiguousarray(frames).reshape(-1)
    windows = np.lib.stride_tricks.sliding_window_view(flat, width * frames.shape[1])[:: frames.shape[1]]
    return np.ascontiguousarray(windows)


class _ModelFrames:
    """The frames of one signal, stacked and normalized."""

    def __init__(self, frames: FrameStream, stacking: StackingStream, normalize: Normalization) -> None:
        self._frames = frames
        self._stacking = stacking
        self._normalize = normalize

    def feed(self, samples: Array) -> Array:
        return self._normalize(self._stacking.feed(self._frames.feed(samples)))

    def finish(self) -> Array:
        left = [self._stacking.feed(self._frames.finish()), self._stacking.finish()]
        return self._normalize(np.concatenate(left))


class _WholeFrames(_ModelFrames):
    """The frames of one signal that is normalized as a whole: all of them come at its end."""

    def __init__(self, frames: FrameStream, stacking: StackingStream, normalize: Normalization) -> None:
        super().__init__(frames, stacking, _unchanged)
        self._normalize_all = normalize
        self._kept: list[Array] = []

    def feed(self, samples: Array) -> Array:
        self._kept.append(super().feed(samples))
        return self._kept[-1][:0]

    def finish(self) -> Array:
        return self._normalize_all(np.concatenate([*self._kept, super().finish()]))


def _unchanged(frames: Array) -> Array:
    return frames
