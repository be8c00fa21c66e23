"""The Silero voice activity detector: the network does not run on silence before the first voice.

The package `silero-vad` has the detector as an ONNX graph, which is found without importing the package, as an import
would load PyTorch. The detector takes windows of 32 ms, each with the 4 ms before it, and a state.
"""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ...errors import ModelError
from ...util.web.libraries import check_libraries
from ..acoustics.onnxruntime_import import import_onnxruntime

Array = npt.NDArray[np.float32]

RATES = (8000, 16_000)
"""The sample rates that the detector supports, in Hz."""
WINDOW_SECONDS = 0.032
CONTEXT_SECONDS = 0.004
VOICE_PROBABILITY = 0.3
"""A window has voice if the detector gives it at least this probability; a low one lets through rather too much."""
SECONDS_BEFORE_VOICE = 0.5
"""Seconds of audio before the first voice that are also let through."""

_STATE_SHAPE = (2, 1, 128)


class VoiceActivity:
    """The detector, loaded. Threads may share one."""

    def __init__(self) -> None:
        """Load the detector; if it is not installed, raise ModelError, which says what to install."""
        check_libraries("voice activity detection", ["silero_vad", "onnxruntime"], "voice_activity", ModelError)
        self._session = _session(_model_path())

    def probability(self, window: Array, state: Array, rate: int) -> tuple[float, Array]:
        """Return the probability of voice in a window with its context, float32 [samples], and the state after it."""
        inputs = {"input": window[None], "state": state, "sr": np.array(rate, np.int64)}
        output, after = self._session.run(None, inputs)
        return float(output[0, 0]), after


def check_rate(rate: int) -> None:
    """Raise ModelError for audio of a rate, in Hz, that the detector does not support."""
    if rate not in RATES:
        known = " or ".join(str(known) for known in RATES)
        raise ModelError(f"voice activity is detected in audio of {known} Hz, but the model's is of {rate} Hz")


class VoiceGate:
    """Lets a signal through from shortly before its first voice."""

    def __init__(self, activity: VoiceActivity, rate: int) -> None:
        """Begin a signal of `rate` Hz; raise ModelError for a rate that the detector does not support."""
        check_rate(rate)
        self._activity = activity
        self._rate = rate
        self._window = round(WINDOW_SECONDS * rate)
        self._context = round(CONTEXT_SECONDS * rate)
        self._before = round(SECONDS_BEFORE_VOICE * rate)
        self._state = np.zeros(_STATE_SHAPE, np.float32)
        self._kept = np.zeros(self._context, np.float32)
        self._seen = self._context
        self._padding = self._context
        self._open = False

    @property
    def held(self) -> int:
        """The number of samples that are neither let through nor dropped yet, as voice may follow them."""
        return 0 if self._open else len(self._kept) - self._padding

    def feed(self, samples: Array) -> tuple[Array, int]:
        """Take float32 [samples] in [-1, 1]; return those that are let through, and how many were dropped for good."""
        if self._open:
            return samples, 0
        self._kept = np.concatenate([self._kept, samples])
        while not self._open and len(self._kept) - self._seen >= self._window:
            window = self._kept[self._seen - self._context : self._seen + self._window]
            probability, self._state = self._activity.probability(window, self._state, self._rate)
            self._seen += self._window
            self._open = probability >= VOICE_PROBABILITY
        if self._open:
            begin = max(self._seen - self._window - self._before, self._padding)
            return self._kept[begin:], begin - self._padding
        dropped = max(self._seen - self._window - self._before - self._padding, 0)
        self._kept = self._kept[dropped:]
        self._seen -= dropped
        return samples[:0], dropped


def _model_path() -> Path:
    found = find_spec("silero_vad")
    for folder in (found.submodule_search_locations or []) if found is not None else []:
        path = Path(folder) / "data/silero_vad.onnx"
        if path.is_file():
            return path
    raise ModelError("the package silero-vad has no data/silero_vad.onnx; install it again")


@cache
def _session(path: Path) -> Any:
    onnxruntime = import_onnxruntime()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
