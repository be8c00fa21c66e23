"""The features of python_speech_features, which models of DeepSpeech 0.1 were trained on."""

from __future__ import annotations

import numpy as np
from python_speech_features import mfcc

from ..audio import Samples
from ..features import Features, FrontEnd


class PythonSpeechFeatures(FrontEnd):
    """python_speech_features on samples of 16-bit scale, with Hamming windows; the last one is padded with zeros."""

    contents = "MFCCs"

    def frame_count(self, samples: int) -> int:
        """Return the number of windows, at least one."""
        return 1 + max(0, -((self.options.window - samples) // self.options.step))

    def extract(self, samples: Samples) -> Features:
        """Return float32 [frames, coefficients] of float32 [samples], computed on this thread, mostly in NumPy."""
        options = self.options
        features = mfcc(
            samples.astype(np.float64) * (1 << 15),
            samplerate=options.sample_rate,
            winlen=options.window_ms / 1000,
            winstep=options.step_ms / 1000,
            winfunc=np.hamming,
            nfft=max(512, options.fft_size),
            nfilt=max(26, options.coefficients),
            numcep=options.coefficients,
        )
        return np.asarray(features, dtype=np.float32)


FRONT_END = PythonSpeechFeatures
