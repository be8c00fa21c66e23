"""One speaker's audio becomes utterances: the part of a live stream that computes, on threads, without a network."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import soxr

from ..api import Model
from ..streams import TranscriptStream
from ..transcripts import TimedWord, Transcript
from .live.protocol import Alternative, Event, Final, Partial, Start, Word

LOWEST_RATE = 4_000
"""Hz."""
HIGHEST_RATE = 192_000

FINISH = "finish"
"""The reason of an utterance that ends because the client says so."""


@dataclass
class Heard:
    """An utterance in progress: `start` and `samples`, at the model's rate, since the start of the audio."""

    stream: TranscriptStream
    start: int
    samples: int = 0
    shown: Transcript | None = None


class Utterances:
    """The utterances of one speaker, one after the other. It belongs to one thread at a time."""

    def __init__(self, model: Model, rate: int) -> None:
        """Take audio at `rate` Hz."""
        self._model = model
        self._rate = rate
        self._model_rate = model.sampleRate()
        self._start = Start()
        self._number = 0
        self._position = 0
        self._odd = b""
        self._resampler: soxr.ResampleStream | None = None
        self._heard: Heard | None = None
        self.silent_samples = 0
        """Samples at the model's rate since a word was last heard."""

    @property
    def in_progress(self) -> bool:
        """Whether audio of an utterance has been heard that isn't finished."""
        return self._heard is not None

    @property
    def seconds(self) -> float:
        """Seconds of audio heard."""
        return self._position / self._model_rate

    @property
    def silent_seconds(self) -> float:
        """Seconds of audio since a word was last heard."""
        return self.silent_samples / self._model_rate

    def begin_with(self, start: Start) -> None:
        """Recognize the utterances that follow as `start` says."""
        self._start = start

    def hear(self, audio: bytes) -> list[Event]:
        """Take 16-bit little-endian samples, cut anywhere; return what is to be told of them."""
        samples = self._samples(audio)
        if not len(samples):
            return []
        heard = self._feed(samples)
        transcript = heard.stream.transcript
        if transcript.text != (heard.shown.text if heard.shown else ""):
            self.silent_samples = 0
        else:
            self.silent_samples += len(samples)
        if (reason := _endpoint(heard.stream)) is not None:
            final = self._end(heard, reason)
            return [final] if final.transcripts[0].text else []
        changed = (heard.shown is None and transcript.text) or (heard.shown and heard.shown.text != transcript.text)
        heard.shown = transcript
        return [self._partial(heard, transcript)] if changed and self._start.partials else []

    def finish(self) -> list[Event]:
        """End the utterance, and return its final; without one, that of an utterance without audio."""
        rest = self._flushed()
        heard = self._feed(rest)
        return [self._end(heard, FINISH)]

    def _samples(self, audio: bytes) -> npt.NDArray[np.int16]:
        """Return samples at the model's rate; an odd byte at the end waits for its other half."""
        audio = self._odd + audio
        whole = len(audio) - len(audio) % 2
        self._odd = audio[whole:]
        samples = np.frombuffer(audio[:whole], "<i2").astype(np.int16, copy=False)
        if self._rate == self._model_rate:
            return samples
        if self._resampler is None:
            self._resampler = soxr.ResampleStream(self._rate, self._model_rate, 1, dtype="int16")
        resampled: npt.NDArray[np.int16] = self._resampler.resample_chunk(samples)
        return resampled

    def _flushed(self) -> npt.NDArray[np.int16]:
        """Return what the resampler still holds."""
        self._odd = b""
        if self._resampler is None:
            return np.zeros(0, np.int16)
        rest: npt.NDArray[np.int16] = self._resampler.resample_chunk(np.zeros(0, np.int16), last=True)
        self._resampler = None
        return rest

    def _feed(self, samples: npt.NDArray[np.int16]) -> Heard:
        if self._heard is None:
            self._heard = Heard(self._model.stream(), self._position)
        self._heard.stream.feed(samples)
        self._heard.samples += len(samples)
        self._position += len(samples)
        return self._heard

    def _end(self, heard: Heard, reason: str) -> Final:
        transcript = heard.stream.finish()
        self._heard = None
        final = Final(
            self._number,
            [self._alternative(heard, transcript)],
            self._time(heard.start),
            self._time(heard.start + heard.samples),
            reason,
        )
        if transcript.text or reason == FINISH:
            self._number += 1
        return final

    def _partial(self, heard: Heard, transcript: Transcript) -> Partial:
        words = self._words(heard, transcript.words)
        return Partial(self._number, transcript.text, words, 0, self._time(heard.start + heard.samples))

    def _alternative(self, heard: Heard, transcript: Transcript) -> Alternative:
        return Alternative(transcript.text, self._words(heard, transcript.words), None)

    def _words(self, heard: Heard, words: Sequence[TimedWord]) -> list[Word]:
        start = heard.start / self._model_rate
        return [Word(word.text, round(start + word.start, 3), round(start + word.end, 3), None) for word in words]

    def _time(self, samples: int) -> float:
        return round(samples / self._model_rate, 3)


def _endpoint(_stream: TranscriptStream) -> str | None:
    """Return why the utterance ends now, None while it goes on."""
    return None
