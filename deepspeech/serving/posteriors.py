"""The posteriors of a whole signal."""

import numpy as np
import numpy.typing as npt

from .acoustics.loading import AcousticFeatures
from .engine import AcousticEngine

Array = npt.NDArray[np.float32]


def posteriors_of(signal: Array, features: AcousticFeatures, engine: AcousticEngine) -> Array:
    """Return the posteriors of float32 [samples] in [-1, 1] at the model's rate, float32 [rows, labels + 1].

    The last label is the blank. With `audio_ops` features, the samples after the last whole step make one more frame.
    """
    windows = features.windows()
    all_windows = np.concatenate([windows.feed(signal), windows.finish()])
    return engine.posteriors(all_windows)
