"""One utterance from samples to hypotheses, piece by piece."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _ctcdecoder
from ..decoder import CTCDecoder, Hypothesis
from ..errors import DecoderError, ModelError
from .engine import Engine
from .feature_windows import ModelFeatures
from .frozen.model import ModelInfo

Array = npt.NDArray[np.float32]


LARGEST_BLOCK = 1 << 18
"""Samples whose features are computed at once, 16 seconds at 16 kHz; they take some 30 times as much memory."""


class Recognition:
    """Samples in, hypotheses out; wherever the signal is cut, the hypotheses are the same.

    Raise ModelError if the network computes what is not a probability, as its weights are damaged.

    A recognition belongs to one thread at a time, so streams have a lock; several may share the engine and the decoder.
    """

    def __init__(self, info: ModelInfo, features: ModelFeatures, engine: Engine, decoder: CTCDecoder) -> None:
        self._engine = engine
        self._decoder = decoder
        self._search = _ctcdecoder.Stream(decoder.native)
        self._path = info.path
        self._n_steps = info.n_steps
        self._streams = info.network.streams
        self._feature_windows = features.windows()
        self._state = engine.initial_state()
        self._pending: list[Array] = []

    @property
    def labels(self) -> Sequence[str | bytes]:
        """The texts of the labels that hypotheses consist of."""
        return self._decoder.labels

    def feed(self, samples: Array) -> None:
        """Take float32 [samples] in [-1, 1]; a network that streams runs once there are `n_steps` windows."""
        for block in blocks_of(samples):
            windows = self._feature_windows.feed(block)
            if len(windows):
                self._pending.append(windows)
            if self._streams and sum(map(len, self._pending)) >= self._n_steps:
                self._run_pending()

    def peek(self, count: int = 1) -> list[Hypothesis]:
        """Return up to `count` hypotheses of the samples fed so far, best first; the network must stream."""
        self._run_pending()
        return self._decoder.hypotheses(self._search.peek(count))

    def finish(self, count: int = 1) -> list[Hypothesis]:
        """Return up to `count` hypotheses of the whole utterance, best first. Nothing can be fed after this."""
        self._pending.append(self._feature_windows.finish())
        self._run_pending(last=True)
        return self._decoder.hypotheses(self._search.finish(count))

    def _run_pending(self, *, last: bool = False) -> None:
        if self._pending:
            posteriors, self._state = self._engine.run(np.concatenate(self._pending), self._state, last=last)
            self._pending = []
            try:
                self._search.feed(posteriors)
            except DecoderError as error:
                raise ModelError(f"{self._path}: what the network computes is not a probability: {error}") from error


def blocks_of(samples: npt.NDArray[Any]) -> Iterator[npt.NDArray[Any]]:
    """Yield [samples] in blocks of at most LARGEST_BLOCK; one without samples if there are none."""
    return (samples[start : start + LARGEST_BLOCK] for start in range(0, max(len(samples), 1), LARGEST_BLOCK))
