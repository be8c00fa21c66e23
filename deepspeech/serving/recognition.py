"""One utterance from samples to hypotheses, piece by piece."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _ctcdecoder
from ..decoder import CTCDecoder, Hypothesis, Scorer
from ..errors import DecoderError, ModelError
from .acoustics.loading import AcousticFeatures
from .batching.scheduler import Scheduler
from .confidence.calibration import Observation
from .confidence.stability import stable_text, stable_words
from .confidence.words import HYPOTHESES, HYPOTHESES_SO_FAR, Rivals, observations
from .endpointing.rules import Endpoint
from .endpointing.search import EndpointedSearch
from .frozen.model import ModelInfo
from .transcripts import Metadata, Partial, Transcript, metadata, transcript

Array = npt.NDArray[np.float32]
Search = _ctcdecoder.Stream | EndpointedSearch


@dataclass(frozen=True)
class Recognizer:
    """All that recognitions share."""

    info: ModelInfo
    features: AcousticFeatures
    scheduler: Scheduler
    decoder: CTCDecoder

    @property
    def has_language_model(self) -> bool:
        """Whether a language model scores the hypotheses."""
        return self.decoder.scorer is not None

    @contextmanager
    def naming_the_model(self) -> Iterator[None]:
        """Raise ModelError, which names the model, if the decoder refuses posteriors."""
        try:
            yield
        except DecoderError as error:
            raise ModelError(f"{self.info.path}: the network's output is not a probability: {error}") from error

    def observations(
        self, hypothesis: Hypothesis, hypotheses: Sequence[Hypothesis], rivals: Rivals, places: range | None = None
    ) -> list[Observation]:
        """Return the observations that give the confidences of a hypothesis's words, of all or some.

        `hypotheses` are all of its signal.
        """
        return observations(hypothesis, hypotheses[:HYPOTHESES], rivals, self.decoder.space_columns, places)

    def confidences(
        self, hypothesis: Hypothesis, hypotheses: Sequence[Hypothesis], rivals: Rivals, places: range | None = None
    ) -> list[float]:
        """Return the confidences of a hypothesis's words, or of those at some places in it.

        The calibration is of the best hypothesis's words. Words of the others that most hypotheses lack are at most as
        probable as their agreement.
        """
        calibrations = self.info.calibrations
        calibration = calibrations.language_model if self.has_language_model else calibrations.acoustic
        observed = self.observations(hypothesis, hypotheses, rivals, places)
        confidences = [calibration.confidence(each) for each in observed]
        if hypothesis is hypotheses[0]:
            return confidences
        return [
            min(confidence, each.agreement) if each.agreement < 0.5 else confidence
            for confidence, each in zip(confidences, observed, strict=True)
        ]

    def candidates(self, signal: Array, count: int = 1) -> list[Transcript]:
        """Return up to `count` transcripts of a signal, float32 [samples] in [-1, 1], best first."""
        recognition = Recognition(self)
        recognition.feed(signal)
        return recognition.finish_transcripts(count)

    def transcripts(
        self, hypotheses: Sequence[Hypothesis], rivals: Rivals, count: int, end: float, start: float = 0.0
    ) -> list[Transcript]:
        """Return the first `count` hypotheses of a signal, from `start` to `end` in seconds, as transcripts."""
        made = []
        for hypothesis in hypotheses[:count]:
            confidences = self.confidences(hypothesis, hypotheses, rivals)
            made.append(transcript(hypothesis, self.info.row_seconds, confidences, start, end))
        return made


LARGEST_BLOCK = 1 << 18
"""Samples whose features are computed at once, 16 seconds at 16 kHz; they take some 30 times as much memory."""


class Recognition:
    """Samples in, hypotheses out; the hypotheses are the same however the signal is cut.

    Raise ModelError if the network's outputs are not probabilities because its weights are damaged.

    A recognition belongs to one thread at a time, so streams have a lock. Several may share scheduler and decoder.
    """

    def __init__(self, recognizer: Recognizer, search: Search | None = None, start_sample: int = 0) -> None:
        """Begin an utterance; `search` takes the posteriors, and is a new stream of the decoder if None.

        `start_sample` is the number of samples of the signal before it.
        """
        self._recognizer = recognizer
        self._rate = recognizer.info.features.sample_rate
        self._start_sample = start_sample
        self._fed_samples = 0
        self._decoder = recognizer.decoder
        self._search = search or _ctcdecoder.Stream(recognizer.decoder.native)
        self._n_steps = recognizer.info.n_steps
        self._streams = recognizer.scheduler.engine.streams
        self._feature_windows = recognizer.features.windows()
        self._acoustic = recognizer.scheduler.stream()
        self._pending: list[Array] = []
        self._is_whole = False
        self._rivals = Rivals()

    @property
    def has_language_model(self) -> bool:
        """Whether a language model scores the hypotheses."""
        return self._recognizer.has_language_model

    @property
    def scorer(self) -> Scorer | None:
        """The language model that scores the hypotheses, if there is one."""
        return self._decoder.scorer

    def feed(self, samples: Array) -> None:
        """Take float32 [samples] in [-1, 1]; a network that streams runs once there are `n_steps` windows."""
        self._fed_samples += len(samples)
        for block in blocks_of(samples):
            windows = self._feature_windows.feed(block)
            if len(windows):
                self._pending.append(windows)
            if self._streams and sum(map(len, self._pending)) >= self._n_steps:
                self._run_pending()

    def peek(self, count: int = 1) -> list[Hypothesis]:
        """Return up to `count` hypotheses of the samples fed so far, best first; the network must stream."""
        self._run_pending()
        with self._recognizer.naming_the_model():
            return [hypothesis.so_far() for hypothesis in self._decoder.hypotheses(self._search.peek(count))]

    def finish(self, count: int = 1) -> list[Hypothesis]:
        """Return up to `count` hypotheses of the whole utterance, best first. Nothing can be fed after this."""
        if not self._is_whole:
            self._pending.append(self._feature_windows.finish())
            self._is_whole = True  # if the network is interrupted, the next call does not take the end again
        self._run_pending(last=True)
        with self._recognizer.naming_the_model():
            return self._decoder.hypotheses(self._search.finish(count))

    def partial(self) -> Partial:
        """Return the transcript of the samples fed so far; the network must stream."""
        hypotheses = self.peek(HYPOTHESES_SO_FAR)
        stable = stable_text(hypotheses, has_language_model=self.has_language_model)
        (best,) = self.transcripts(hypotheses, 1)
        return Partial(best, stable_words(best.words, best.text, stable), stable)

    def transcripts(self, hypotheses: Sequence[Hypothesis], count: int) -> list[Transcript]:
        """Return the first `count` of the hypotheses of `peek` or `finish` as transcripts, with confidences.

        With more hypotheses, confidences are more exact and take longer.
        """
        return self._recognizer.transcripts(hypotheses, self._rivals, count, self.end, self.start)

    def metadata(self, hypotheses: Sequence[Hypothesis]) -> Metadata:
        """Return hypotheses of `peek` or `finish` as DeepSpeech 0.9 does."""
        return metadata(hypotheses, self.step_seconds, self.start)

    def confidences(self, hypotheses: Sequence[Hypothesis], places: range) -> list[float]:
        """Return the confidences of the words at some places in the best of the hypotheses of `peek`."""
        return self._recognizer.confidences(hypotheses[0], hypotheses, self._rivals, places)

    def finish_transcripts(self, count: int = 1) -> list[Transcript]:
        """Return the hypotheses of `finish` as transcripts, with the confidences of their words."""
        return self.transcripts(self.finish(max(count, HYPOTHESES)), count)

    def finish_observed(self) -> tuple[Hypothesis, list[Observation]]:
        """Return the best hypothesis of `finish`, and the observations that give its words' confidences."""
        hypotheses = self.finish(HYPOTHESES)
        return hypotheses[0], self._recognizer.observations(hypotheses[0], hypotheses, self._rivals)

    @property
    def step_seconds(self) -> float:
        """Seconds from the start of one row of posteriors to that of the next."""
        return self._recognizer.info.row_seconds

    @property
    def start(self) -> float:
        """Seconds of the signal before the utterance."""
        return self._start_sample / self._rate

    @property
    def end(self) -> float:
        """Seconds of the signal up to the end of the audio so far."""
        return (self._start_sample + self._fed_samples) / self._rate

    def endpoint(self) -> Endpoint | None:
        """Return None: without endpointing rules, no rule ends the utterance."""
        return None

    def following(self) -> Recognition:
        """Begin the next utterance, with the audio after this one."""
        return Recognition(self._recognizer, start_sample=self._start_sample + self._fed_samples)

    def _run_pending(self, *, last: bool = False) -> None:
        if self._pending:
            posteriors = self._acoustic.run(np.concatenate(self._pending), last=last)
            self._pending = []  # not before, or they would be lost if the network is interrupted
            self._rivals.feed(posteriors)
            with self._recognizer.naming_the_model():
                self._search.feed(posteriors)


def blocks_of(samples: npt.NDArray[Any]) -> Iterator[npt.NDArray[Any]]:
    """Yield [samples] in blocks of at most LARGEST_BLOCK; one without samples if there are none."""
    return (samples[start : start + LARGEST_BLOCK] for start in range(0, max(len(samples), 1), LARGEST_BLOCK))
