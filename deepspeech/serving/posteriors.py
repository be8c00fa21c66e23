"""The posteriors of a whole signal."""

import numpy as np
import numpy.typing as npt

from ..util.front_ends.mfcc import Mfcc
from .engine import Engine
from .feature_windows import FeatureWindows
from .frozen.model import ModelInfo

Array = npt.NDArray[np.float32]


def posteriors_of(signal: Array, info: ModelInfo, mfcc: Mfcc, engine: Engine) -> Array:
    """Return the posteriors of float32 [samples] in [-1, 1] at the model's rate, float32 [frames, labels + 1].

    The last label is the blank. The samples after the last whole step make one more frame.
    """
    windows = FeatureWindows(mfcc, info.features, info.network.context)
    all_windows = np.concatenate([windows.feed(signal), windows.finish()])
    return engine.run(all_windows, engine.initial_state())[0]
