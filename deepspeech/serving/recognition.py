"""One utterance from samples to hypotheses, piece by piece."""

import numpy as np
import numpy.typing as npt

from .. import _ctcdecoder
from ..decoder import CTCDecoder, Hypothesis
from .batching.scheduler import Scheduler
from .feature_windows import ModelFeatures
from .frozen.model import ModelInfo

Array = npt.NDArray[np.float32]


class Recognition:
    """Samples in, hypotheses out; wherever the signal is cut, the hypotheses are the same.

    A recognition belongs to one thread at a time; several of them may share the scheduler and the decoder.
    """

    def __init__(self, info: ModelInfo, features: ModelFeatures, scheduler: Scheduler, decoder: CTCDecoder) -> None:
        self._decoder = decoder
        self._search = _ctcdecoder.Stream(decoder.native)
        self._n_steps = info.n_steps
        self._streams = info.network.streams
        self._feature_windows = features.windows()
        self._acoustic = scheduler.stream()
        self._pending: list[Array] = []

    def feed(self, samples: Array) -> None:
        """Take float32 [samples] in [-1, 1]; a network that streams runs once there are `n_steps` windows."""
        windows = self._feature_windows.feed(samples)
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
            windows, self._pending = np.concatenate(self._pending), []
            self._search.feed(self._acoustic.run(windows, last=last))
