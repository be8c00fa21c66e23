"""Kaldi's log-mel energies, as kaldi-native-fbank computes them.

The settings are those of sherpa-onnx for the models that it serves, and of icefall and lhotse for the models that they
train:

* samples in [-1, 1]; no dither;
* windows centred on their step, mirrored at both ends of the signal (`snip_edges` false), so each step has a frame;
* the window's mean removed; preemphasis of 0.97; Povey's window (a Hann window to the power 0.85);
* the power spectrum of a transform whose length is a power of two;
* triangular filters evenly spaced on the mel scale from 20 Hz to 400 Hz below half the sample rate;
* natural logarithm, of at least 2^-23.

Only the number of filters (80), the window (25 ms) and the step (10 ms) can be chosen.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..audio import Samples
from ..errors import FeatureError
from ..features import FeatureOptions, Features, FrontEnd

LOWEST_FREQUENCY = 20.0
"""Hz; where the first filter begins."""
HIGHEST_FREQUENCY = -400.0
"""Hz; where the last filter ends; if negative, relative to half the sample rate."""


class Fbank(FrontEnd):
    """Kaldi's log-mel energies. Raise FeatureError without kaldi-native-fbank, or for too many filters."""

    contents = "log-mel energies"
    exportable = True

    def __init__(self, options: FeatureOptions) -> None:
        super().__init__(options)
        try:
            import kaldi_native_fbank
        except ImportError as error:
            raise FeatureError(
                "features of fbank need the package kaldi-native-fbank; install it, or choose another feature type"
            ) from error
        self._settings = _settings(kaldi_native_fbank, options)
        self._new = kaldi_native_fbank.OnlineFbank
        try:
            self._new(self._settings)
        except (ValueError, RuntimeError) as error:
            raise FeatureError(
                f"{options.coefficients} mel filters do not fit into windows of {options.window_ms} ms at"
                f" {options.sample_rate} Hz; choose a higher sample rate, a longer window or fewer filters"
            ) from error

    def frame_count(self, samples: int) -> int:
        """Return the number of steps; a last step of at least half the length counts."""
        return (samples + self.options.step // 2) // self.options.step

    def extract(self, samples: Samples) -> Features:
        """Return float32 [frames, coefficients] of float32 [samples], computed on the calling thread."""
        stream = self.stream()
        return np.concatenate([stream.feed(samples), stream.finish()])

    __call__ = extract

    def stream(self) -> FbankStream:
        """Begin a signal that arrives in pieces."""
        return FbankStream(self._new(self._settings), self.options)


class FbankStream:
    """The log-mel energies of one signal; they do not depend on how it is divided into pieces."""

    def __init__(self, computer: Any, options: FeatureOptions) -> None:
        """Take an OnlineFbank of kaldi-native-fbank."""
        self._computer = computer
        self._options = options
        self._taken = 0

    def feed(self, samples: Samples) -> Features:
        """Take float32 [samples] in [-1, 1]; return the frames that are complete now, [frames, coefficients]."""
        if len(samples):  # the library reads a memory view faster than an array
            self._computer.accept_waveform(self._options.sample_rate, np.ascontiguousarray(samples, np.float32).data)
        return self._ready()

    def finish(self) -> Features:
        """Return the remaining frames, float32 [frames, coefficients]."""
        self._computer.input_finished()
        return self._ready()

    def _ready(self) -> Features:
        new = range(self._taken, self._computer.num_frames_ready)
        features = np.empty((len(new), self._options.coefficients), np.float32)
        for row, index in zip(features, new, strict=True):
            row[:] = self._computer.get_frame(index)
        self._computer.pop(len(new))
        self._taken += len(new)
        return features


FRONT_END = Fbank
SERVED = Fbank


def _settings(library: Any, options: FeatureOptions) -> Any:
    settings = library.FbankOptions()
    settings.frame_opts.samp_freq = options.sample_rate
    settings.frame_opts.frame_length_ms = options.window_ms
    settings.frame_opts.frame_shift_ms = options.step_ms
    settings.frame_opts.dither = 0
    settings.frame_opts.snip_edges = False
    settings.mel_opts.num_bins = options.coefficients
    settings.mel_opts.low_freq = LOWEST_FREQUENCY
    settings.mel_opts.high_freq = HIGHEST_FREQUENCY
    return settings
