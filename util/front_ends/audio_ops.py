"""TensorFlow's MFCC, which models of DeepSpeech 0.2 and later were trained on."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from ..audio import Samples
from ..features import FeatureOptions, Features, FrontEnd
from .mfcc import Mfcc


class AudioOps(FrontEnd):
    """TensorFlow's AudioSpectrogram and Mfcc ops; samples after the last whole window are dropped."""

    contents = "MFCCs"
    exportable = True

    def __init__(self, options: FeatureOptions) -> None:
        """Take the options; the first `extract` imports TensorFlow."""
        super().__init__(options)
        self._lock = threading.Lock()
        self._run: Callable[[Samples], Features] | None = None

    def frame_count(self, samples: int) -> int:
        """Return the number of whole windows."""
        return max(0, (samples - self.options.window) // self.options.step + 1)

    def extract(self, samples: Samples) -> Features:
        """Return float32 [frames, coefficients] of float32 [samples], computed on the calling thread's core alone."""
        with self._lock:
            run = self._run = self._run or _prepared(self.options)
        features: Features = run(samples[:, np.newaxis])[0]
        return features


FRONT_END = AudioOps
SERVED = Mfcc


def _prepared(options: FeatureOptions) -> Callable[[Samples], Features]:
    """Prepare the ops once: float32 [samples, 1] -> float32 [1, frames, coefficients].

    The first session of a process fixes the number of ops' threads for all its sessions. This one requests no number;
    a program that needs one must open its own session first.
    """
    import tensorflow as tf  # takes seconds, so it is imported only when features are computed

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
