"""From samples to MFCC features, by either of the two front ends that DeepSpeech models were trained on."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .audio import Samples
from .errors import FeatureError

Features = npt.NDArray[np.float32]


@dataclass(frozen=True)
class FeatureOptions:
    """How features are computed. A model only works with the features it was trained on."""

    sample_rate: int = 16_000
    """Hz."""
    feature_type: str = "audio_ops"
    """A key of FRONT_ENDS: `audio_ops` (TensorFlow's, DeepSpeech 0.2 and later) or `psf` (python_speech_features)."""
    window_ms: int = 32
    step_ms: int = 20
    coefficients: int = 26
    """MFCCs per frame."""
    context: int = 9
    """Frames on either side that the model sees beside each one; extraction leaves them out."""

    def __post_init__(self) -> None:
        """Raises FeatureError for a setting that no front end can work with."""
        if self.feature_type not in FRONT_ENDS:
            raise FeatureError(f"no feature type {self.feature_type!r}; there are {' and '.join(FRONT_ENDS)}")
        if min(self.sample_rate, self.window_ms, self.step_ms, self.coefficients) < 1 or self.context < 0:
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

    def __init__(self, options: FeatureOptions) -> None:
        """Cheap: whatever a front end needs is set up when it is first used."""
        self.options = options

    @abstractmethod
    def frame_count(self, samples: int) -> int:
        """How many frames `extract` makes of so many samples; can be 0."""

    @abstractmethod
    def extract(self, samples: Samples) -> Features:
        """Return the MFCCs, float32 [frames, coefficients], of samples, float32 [samples] in [-1, 1]."""


def front_end(options: FeatureOptions) -> FrontEnd:
    """Return the front end that the options ask for."""
    return FRONT_ENDS[options.feature_type](options)


class AudioOps(FrontEnd):
    """TensorFlow's AudioSpectrogram and Mfcc ops, as they are; samples that don't fill a last window are dropped."""

    def __init__(self, options: FeatureOptions) -> None:
        """TensorFlow is imported by the first `extract`."""
        super().__init__(options)
        self._lock = threading.Lock()
        self._run: Callable[[Samples], Features] | None = None

    def frame_count(self, samples: int) -> int:
        """Only whole windows make a frame."""
        return max(0, (samples - self.options.window) // self.options.step + 1)

    def extract(self, samples: Samples) -> Features:
        """Runs on the calling thread's core alone, without the interpreter lock."""
        with self._lock:
            run = self._run = self._run or _audio_ops_callable(self.options)
        features: Features = run(samples[:, np.newaxis])[0]
        return features


class PythonSpeechFeatures(FrontEnd):
    """python_speech_features on samples of 16-bit scale, Hamming windows; the last one is filled up with zeros."""

    def frame_count(self, samples: int) -> int:
        """One frame at least."""
        return 1 + max(0, -((self.options.window - samples) // self.options.step))

    def extract(self, samples: Samples) -> Features:
        """Mostly numpy on the calling thread."""
        from python_speech_features import mfcc  # brings scipy, which the other front end needs not

        options = self.options
        features = mfcc(
            samples.astype(np.float64) * (1 << 15),
            samplerate=options.sample_rate,
            winlen=options.window_ms / 1000,
            winstep=options.step_ms / 1000,
            winfunc=np.hamming,
            nfft=max(512, 1 << (options.window - 1).bit_length()),
            nfilt=max(26, options.coefficients),
            numcep=options.coefficients,
        )
        return np.asarray(features, dtype=np.float32)


FRONT_ENDS: dict[str, type[FrontEnd]] = {"audio_ops": AudioOps, "psf": PythonSpeechFeatures}


def _audio_ops_callable(options: FeatureOptions) -> Callable[[Samples], Features]:
    """Prepare the ops once: float32 [samples, 1] -> float32 [1, frames, coefficients].

    The first session of a process fixes how many threads ops get in all its sessions. This one asks for none in
    particular; a program that does must have opened its own before.
    """
    import tensorflow as tf  # takes seconds, so only who computes features pays for it

    with tf.Graph().as_default() as graph, graph.device("/cpu:0"):
        samples = tf.compat.v1.placeholder(tf.float32, [None, 1])
        spectrogram = tf.raw_ops.AudioSpectrogram(
            input=samples, window_size=options.window, stride=options.step, magnitude_squared=True
        )
        features = tf.raw_ops.Mfcc(
            spectrogram=spectrogram,
            sample_rate=options.sample_rate,
            upper_frequency_limit=options.sample_rate / 2,
            dct_coefficient_count=options.coefficients,
        )
    in_calling_thread = -1
    config = tf.compat.v1.ConfigProto(inter_op_parallelism_threads=in_calling_thread, device_count={"GPU": 0})
    session: Any = tf.compat.v1.Session(graph=graph, config=config)
    run: Callable[[Samples], Features] = session.make_callable(features, [samples])
    return run
