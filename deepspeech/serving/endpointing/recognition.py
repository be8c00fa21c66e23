"""The utterances of an endless signal, one after the other."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ...decoder import Hypothesis
from ...errors import ModelError
from ..arguments.checks import of_kind
from ..recognition import Recognition, Recognizer
from .recent_audio import RecentAudio
from .rules import Endpoint, EndpointRules, RowRules
from .search import EndpointedSearch
from .voice_activity import VoiceActivity, VoiceGate

Array = npt.NDArray[np.float32]

BLOCK_SECONDS = 0.5
"""Audio is recognized in blocks of this length, so that little work after an endpoint is wasted."""


def recognition_by(rules: EndpointRules | None, voice: VoiceActivity | None, recognizer: Recognizer) -> Recognition:
    """Begin an utterance that ends by rules, if there are any.

    Raise ModelError for rules or a detector of the wrong type, and for a detector without rules, as it has no effect.
    """
    if rules is None:
        if voice is not None:
            raise ModelError("voice_activity has no effect without endpointing; give EndpointRules(), too")
        return Recognition(recognizer)
    of_kind(rules, EndpointRules, "endpointing")
    return EndpointedRecognition(
        recognizer, rules, None if voice is None else of_kind(voice, VoiceActivity, "voice_activity")
    )


class EndpointedRecognition(Recognition):
    """One utterance of a continuous signal. It ends by rules, and the next one begins with the audio after its end.

    Audio that is fed after the endpoint is kept for the next utterance.
    """

    def __init__(
        self, recognizer: Recognizer, rules: EndpointRules, voice: VoiceActivity | None = None, start_sample: int = 0
    ) -> None:
        """Begin an utterance; `start_sample` is the number of samples of the signal before it.

        With `voice`, silence before the first voice is dropped. Raise ModelError if it does not support the model's
        rate.
        """
        in_rows = RowRules.of_seconds(rules, recognizer.info.row_seconds)
        search = EndpointedSearch(recognizer.decoder, in_rows)
        super().__init__(recognizer, search, start_sample)
        self._endpointed = search
        self._rules = rules
        self._voice = voice
        self._gate = VoiceGate(voice, self._rate) if voice is not None else None
        self._audio = RecentAudio()
        self._after_endpoint: list[Array] = []

    def feed(self, samples: Array) -> None:
        """Take float32 [samples] in [-1, 1]."""
        block = int(BLOCK_SECONDS * self._rate)
        for first in range(0, len(samples), block):
            if self._endpointed.endpoint is not None:
                self._after_endpoint.append(samples[first:])
                return
            heard = samples[first : first + block]
            if self._gate is not None:
                heard, skipped = self._gate.feed(heard)
                self._start_sample += skipped
            if len(heard):
                self._audio.append(heard)
                super().feed(heard)
                self._audio.forget_before(self._sample_of(self._endpointed.earliest_end))

    def endpoint(self) -> Endpoint | None:
        """Return the end of the utterance, as far as the audio fed so far shows; None while it goes on.

        Rows that could end it are run here. If they were left to `peek`, it could find an end that the caller, who
        finishes the utterance after `peek`, never learns of.
        """
        if self._endpointed.can_end_within(sum(map(len, self._pending))):
            self._run_pending()
        found = self._endpointed.endpoint
        if found is None:
            return None
        return Endpoint(found.reason, (self._start_sample + self._sample_of(found.row)) / self._rate)

    def finish(self, count: int = 1) -> list[Hypothesis]:
        """Return up to `count` hypotheses of the utterance, best first: up to its endpoint, or else of all its audio.

        No rule may end it in the rows that are still to run, or the speech after that endpoint would be lost.
        """
        self._endpointed.end_with_audio()
        return super().finish(count)

    def following(self) -> EndpointedRecognition:
        """Begin the next utterance, with the audio after the endpoint; without one, after all that was fed."""
        found = self._endpointed.endpoint
        held = 0 if self._gate is None else self._gate.held
        end = self._audio.end + held if found is None else self._sample_of(found.row)
        following = EndpointedRecognition(self._recognizer, self._rules, self._voice, self._start_sample + end)
        for samples in (self._audio.since(end), *self._after_endpoint):
            following.feed(samples)
        return following

    def _run_pending(self, *, last: bool = False) -> None:
        super()._run_pending(last=last)
        if (found := self._endpointed.endpoint) is not None:
            self._rivals.forget_after(found.row)  # or confidences would depend on how much audio came with the end

    def _sample_of(self, row: int) -> int:
        return min(round(row * self._recognizer.info.row_seconds * self._rate), self._audio.end)
