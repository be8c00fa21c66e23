"""The recognition of a live stream: one speaker's audio becomes utterances. It runs on threads and does no I/O."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import soxr

from ..api import Model
from ..endpointing import EndpointRules
from ..endpointing.voice_activity import VoiceActivity
from ..recognition import Recognition
from ..transcripts import TimedWord, Transcript
from .live.protocol import Alternative, Event, Final, Partial, Start, Word
from .partials import PartialTranscripts

PIECE_SECONDS = 0.1
"""Live audio is recognized in pieces of this length or longer; a partial changes once a piece at most."""

LOWEST_RATE = 4_000
"""Hz."""
HIGHEST_RATE = 192_000

FINISH = "finish"
"""The reason of an utterance that ends because the client asks for it."""

Signal = npt.NDArray[np.float32]


class Utterances:
    """The utterances of one speaker, one after the other. Only one thread may use it at a time."""

    def __init__(self, model: Model, rate: int, rules: EndpointRules, voice: VoiceActivity | None = None) -> None:
        """Take audio at `rate` Hz; `rules` determine where its utterances end."""
        self._model = model
        self._rules = rules
        self._voice = voice
        self._rate = rate
        self._model_rate = model.sampleRate()
        self._number = 0
        self._heard_samples = 0
        self._silent_samples = 0
        self._odd = b""
        self._resampler: soxr.ResampleStream | None = None
        self.begin_with(Start())
        self.in_progress = False
        """Whether audio has been received since the last call of `finish`; the resampler may still hold all of it."""

    @property
    def seconds(self) -> float:
        """Seconds of audio received."""
        return self._heard_samples / self._model_rate

    @property
    def silent_seconds(self) -> float:
        """Seconds of audio since the last recognized word."""
        return self._silent_samples / self._model_rate

    @property
    def ends_in_half_a_sample(self) -> bool:
        """Whether the last byte of the audio so far is half a sample, which `finish` leaves out."""
        return bool(self._odd)

    def begin_with(self, start: Start) -> list[str]:
        """Use the settings of `start` for the utterances that follow; return its hot words that have no effect.

        The first of these utterances begins here. Raise ModelError, and change nothing, if the model cannot do this.
        """
        hot_words = start.hot_words or None
        ignored: list[str] = []
        recognition = self._model.recognition(
            self._rules, self._voice, hot_words=hot_words, beam_width=start.beam_width, tell_ignored=ignored.append
        )
        self._begin(recognition)
        self._start = start
        self._origin = self.seconds
        return ignored

    def hear(self, audio: bytes, *, partial: bool = True) -> list[Event]:
        """Take 16-bit little-endian samples, cut at any byte; return the events that they cause.

        Without `partial`, which is for an utterance that ends now, there is no partial among them.
        """
        self.in_progress = self.in_progress or bool(audio)
        signal = self._signal(audio)
        if not len(signal):
            return []
        told = self._feed(signal)
        return told + self._newest() if partial else told

    def finish(self) -> list[Event]:
        """End the utterance and return its last events, the final included; without audio, the final is empty."""
        told = self._feed(self._flushed())
        told.append(self._final(self.seconds, FINISH))
        self._number += 1
        self._begin(self._recognition.following())
        self.in_progress = False
        return told

    def _begin(self, recognition: Recognition) -> None:
        """Begin an utterance."""
        self._recognition = recognition
        self._partials = PartialTranscripts(recognition)

    def _feed(self, signal: Signal) -> list[Event]:
        """Take float32 [samples] at the model's rate; return the finals of the utterances that end in them."""
        self._heard_samples += len(signal)
        self._silent_samples += len(signal)
        self._recognition.feed(signal)
        told: list[Event] = []
        while (endpoint := self._recognition.endpoint()) is not None:
            following = self._recognition.following()
            final = self._final(self._origin + endpoint.seconds, endpoint.reason)
            if final.transcripts[0].text:
                told.append(final)
                self._number += 1
            self._begin(following)
        return told

    def _newest(self) -> list[Event]:
        """Return the partial, if it has changed."""
        newest = self._partials.newest()
        if newest is None:
            return []
        self._silent_samples = 0
        if not self._start.partials:
            return []
        words = self._words(newest.words, newest.confidences)
        stable = newest.stable, newest.stable_text
        return [Partial(self._number, newest.text, words, *stable, round(self.seconds, 3), newest.spaced)]

    def _final(self, end: float, reason: str) -> Final:
        start = self._origin + self._recognition.start
        transcripts = self._recognition.finish_transcripts(self._start.n_best)
        told = [self._alternative(each) for each in transcripts]
        if told[0].text:
            self._silent_samples = 0
        return Final(self._number, told, round(start, 3), round(max(start, end), 3), reason)

    def _alternative(self, transcript: Transcript) -> Alternative:
        confidences = [word.confidence for word in transcript.words]
        mean = round(sum(confidences) / len(confidences), 4) if confidences else None
        words = self._words(transcript.words, confidences)
        return Alternative(transcript.text.strip(), words, mean, transcript.spaced)

    def _words(self, words: Sequence[TimedWord], confidences: Sequence[float | None]) -> list[Word]:
        return [
            Word(word.text, round(self._origin + word.start, 3), round(self._origin + word.end, 3), confidence)
            for word, confidence in zip(words, confidences, strict=True)
        ]

    def _signal(self, audio: bytes) -> Signal:
        """Return float32 [samples] at the model's rate; an odd byte at the end is kept for the next call."""
        audio = self._odd + audio
        whole = len(audio) - len(audio) % 2
        self._odd = audio[whole:]
        signal = np.frombuffer(audio[:whole], "<i2").astype(np.float32) / np.float32(1 << 15)
        if self._rate == self._model_rate:
            return signal
        if self._resampler is None:
            self._resampler = soxr.ResampleStream(self._rate, self._model_rate, 1, dtype="float32")
        resampled: Signal = np.clip(self._resampler.resample_chunk(signal), -1, 1)
        return resampled

    def _flushed(self) -> Signal:
        """Return what the resampler still holds."""
        self._odd = b""
        nothing = np.zeros(0, np.float32)
        if self._resampler is None:
            return nothing
        rest: Signal = np.clip(self._resampler.resample_chunk(nothing, last=True), -1, 1)
        self._resampler = None
        return rest
