"""The Python interface: that of DeepSpeech 0.9.3's package, and in addition `transcribe` and `stream`."""

from __future__ import annotations

import threading
from collections.abc import Generator, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from os import PathLike
from typing import Any

import numpy as np
import numpy.typing as npt

from ..decoder.of_alphabet import load_scorer
from ..errors import AlphabetError, AudioError, DecoderError, GraphError, ModelError
from ..util.features import FeatureOptions
from ..util.text import Alphabet
from .acoustics.loading import load_acoustic_model
from .alphabet import alphabet_of
from .arguments.checks import count as checked_count
from .arguments.checks import file_path, finite_number, several, text
from .arguments.samples import Samples, as_recording, as_signal, checked_signal
from .batching.recordings import Recognized, recognized
from .batching.scheduler import Scheduler
from .confidence.calibration import Calibrations
from .decoding import DecodingSettings, TellIgnored, log_ignored, package_weights
from .endpointing.recognition import recognition_by
from .endpointing.rules import EndpointRules
from .endpointing.voice_activity import VoiceActivity
from .long_audio import Part, parts_of_blocks, parts_of_file
from .posteriors import posteriors_of
from .recognition import Recognition, Recognizer, blocks_of
from .streams import Stream, TranscriptStream, check_streams
from .transcripts import CandidateTranscript, Metadata, TokenMetadata, Transcript, joined

__all__ = ["CandidateTranscript", "Metadata", "Model", "Stream", "TokenMetadata", "Transcript", "TranscriptStream"]

SCORER_NOT_ENABLED = 0x2004
"""The code that DeepSpeech returns if a scorer is needed but not enabled."""


class Model:
    """A speech recognizer, loaded from an exported model. Threads may share one.

    A setting applies to the utterances that begin after it is changed.
    """

    def __init__(self, model_path: str | PathLike[str], precision: str = "float32") -> None:
        """Load a `.pb`, `.pbmm` or `.onnx` file, computed in a `precision`: `float32`, `bfloat16`, `int8` or `auto`.

        The path may also be that of a folder with one such file. A `.tflite` file has weights of its own precision, and
        needs the package ai-edge-litert. Raise GraphError if the file cannot be used, FeatureError if its features
        cannot be computed, and ModelError for an unknown or unsupported precision. All errors that a model raises on
        purpose are RuntimeErrors.
        """
        self._info, self._engine, self._features = load_acoustic_model(file_path(model_path, "model_path"), precision)
        self._scheduler = Scheduler(self._engine)
        self._settings = DecodingSettings(self._info.labels, self._info.beam_width)
        self._changing = threading.RLock()
        try:
            self._change()
        except ModelError as error:  # the labels make no decoder
            raise GraphError(f"{self._info.path}: {error}") from error

    def beamWidth(self) -> int:  # noqa: N802 - the published name, like those below
        """Return how many hypotheses the search keeps; the graph holds the initial number."""
        return self._settings.beam_width

    def setBeamWidth(self, beam_width: int) -> int:  # noqa: N802
        """Set the number of hypotheses that the search keeps; more are slower and sometimes better. Return 0.

        Raise ModelError for a number below 1.
        """
        self._change(beam_width=checked_count(beam_width, "beam_width"))
        return 0

    def sampleRate(self) -> int:  # noqa: N802
        """Return the sample rate that audio must have, in Hz."""
        return self._info.features.sample_rate

    def enableExternalScorer(self, scorer_path: str | PathLike[str]) -> None:  # noqa: N802
        """Decode with a language model: a scorer package or a KenLM file. Raise ModelError if it cannot be used."""
        try:
            scorer = load_scorer(self.alphabet, file_path(scorer_path, "scorer_path"))
        except (AlphabetError, DecoderError) as error:
            raise ModelError(str(error)) from error
        self._change(scorer=scorer, weights=package_weights(scorer))

    def disableExternalScorer(self) -> int:  # noqa: N802
        """Decode without a language model again. Return 0, or another number if there is no language model."""
        with self._changing:
            if self._settings.scorer is None:
                return SCORER_NOT_ENABLED
            self._change(scorer=None)
        return 0

    def setScorerAlphaBeta(self, alpha: float, beta: float) -> int:  # noqa: N802
        """Set the weight `alpha` of the language model and the bonus `beta` for each word.

        Return 0, or another number without a scorer. Raise ModelError unless both are finite numbers.
        """
        with self._changing:
            if self._settings.scorer is None:
                return SCORER_NOT_ENABLED
            self._change(weights=(finite_number(alpha, "alpha"), finite_number(beta, "beta")))
        return 0

    def addHotWord(self, word: str, boost: float) -> None:  # noqa: N802
        """Make a word or a phrase more likely by `boost`, a natural logarithm, or less likely if it is negative.

        A word that cannot be spelled in the alphabet has no effect, and is logged. Raise ModelError without a scorer,
        for a word that was added before, and for a boost that is not finite.
        """
        with self._changing:
            if text(word, "word") in self._settings.hot_words:
                raise ModelError(f"the hot word {word!r} was added before; erase it first")
            self._settings = self._settings.with_hot_word(word, boost)

    def eraseHotWord(self, word: str) -> None:  # noqa: N802
        """Remove a hot word. Raise ModelError without a scorer, or if the word is not a hot word."""
        with self._changing:
            hot_words = dict(self._settings.hot_words)
            if self._settings.scorer and hot_words.pop(text(word, "word"), None) is None:
                raise ModelError(f"{word!r} is not a hot word")
            self.set_hot_words(hot_words)

    def clearHotWords(self) -> None:  # noqa: N802
        """Remove all hot words. Raise ModelError without a scorer."""
        self.set_hot_words({})

    def set_hot_words(self, hot_words: Mapping[str, float]) -> None:
        """Replace all hot words by these words and phrases, each with its boost; see `addHotWord`."""
        with self._changing:
            self._settings = self._settings.with_hot_words(hot_words)

    def stt(self, audio_buffer: Samples) -> str:
        """Return the text of int16 [samples] at the model's rate, or of anything that `as_samples` accepts.

        Raise SamplesError for anything else, such as the bytes of a file.
        """
        return self._recognized(audio_buffer).finish()[0].text

    def sttWithMetadata(self, audio_buffer: Samples, num_results: int = 1) -> Metadata:  # noqa: N802
        """Return up to `num_results` hypotheses for samples, as `stt` takes them, best first, with times.

        Raise SamplesError for anything else, and ModelError for a number below 1.
        """
        count = checked_count(num_results, "num_results")
        recognition = self._recognized(audio_buffer)
        return recognition.metadata(recognition.finish(count))

    def createStream(self, endpointing: EndpointRules | None = None) -> Stream:  # noqa: N802
        """Begin an utterance whose audio comes bit by bit; with `endpointing`, its `endpoint` says when it ends.

        Raise ModelError for a network that cannot stream.
        """
        self.check_streams()
        return Stream(self.recognition(endpointing))

    def transcribe(self, audio: str | PathLike[str] | Samples) -> Transcript:
        """Return the transcript of a file of any format and rate, or of samples, as `stt` takes them.

        Long recordings are split where they are quietest, so that hours need no more memory than minutes.
        Raise AudioError for a file, and SamplesError for samples, that cannot be used.
        """
        return next(self.transcribe_many([audio]))

    def transcribe_many(self, audio: Iterable[str | PathLike[str] | Samples]) -> Iterator[Transcript]:
        """Return an iterator over the transcripts of several files or samples, as `transcribe` returns them, in order.

        They are computed together, which is several times faster, in bounded memory. At an item that cannot be used,
        the iterator raises what `transcribe` raises; the next call goes on with the item after it. Raise ModelError for
        a single path; use `transcribe` for it.
        """
        return map(_transcript, self.recognized(map(self.parts, several(audio, "audio"))))

    def recognized(self, recordings: Iterable[Iterable[Part]], count: int = 1) -> Generator[Recognized, None, None]:
        """Yield the results of recordings that come in parts, in order, with up to `count` transcripts for each part.

        An AudioError or SamplesError that reading a recording raises is in its result.
        """
        recognizer = self.recognizer(self._settings.with_results(checked_count(count, "count")))
        return recognized(recordings, self.sampleRate(), recognizer, count)

    def parts(self, audio: str | PathLike[str] | Samples) -> Iterator[Part]:
        """Yield the parts that `transcribe` splits a recording into; raise what it raises."""
        rate = self.sampleRate()
        if isinstance(audio, str | PathLike):
            yield from parts_of_file(file_path(audio, "audio", AudioError), rate)
        else:
            yield from parts_of_blocks(map(as_signal, blocks_of(as_recording(audio))), rate)

    def candidates(self, signal: npt.NDArray[np.float32], count: int = 1) -> list[Transcript]:
        """Return up to `count` transcripts, best first, of a signal, float32 [samples] in [-1, 1] at the model's rate.

        The signal is not split, however long it is. Raise SamplesError for anything else, such as 16-bit samples.
        """
        return self.recognizer().candidates(checked_signal(signal), checked_count(count, "count"))

    def stream(
        self,
        endpointing: EndpointRules | None = None,
        voice_activity: VoiceActivity | None = None,
        hot_words: Mapping[str, float] | None = None,
    ) -> TranscriptStream:
        """Begin an utterance whose audio comes bit by bit: `with model.stream() as stream: stream.feed(samples)`.

        With `endpointing`, the stream's `endpoint` says when the utterance ends. With `voice_activity` as well, the
        network does not run before the utterance's first voice. `hot_words` replace the model's for this stream. Raise
        ModelError for a network that cannot stream, for `voice_activity` without `endpointing` or at a sample rate that
        it does not support, and for hot words as `addHotWord` does.
        """
        self.check_streams()
        return TranscriptStream(self.recognition(endpointing, voice_activity, hot_words=hot_words))

    def posteriors(self, signal: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        """Return the posteriors of a signal, float32 [samples] in [-1, 1] at the model's rate.

        They are float32 [rows, labels + 1], the last for the blank. Raise SamplesError for anything but a signal.
        """
        return posteriors_of(checked_signal(signal), self._features, self._engine)

    @cached_property
    def alphabet(self) -> Alphabet:
        """The alphabet that spells transcripts in the model's labels. Raise GraphError if they make none."""
        return alphabet_of(self._info)

    @property
    def features(self) -> FeatureOptions:
        """The features of the audio that the network takes."""
        return self._info.features

    @property
    def calibrations(self) -> Calibrations:
        """How the confidences of words are computed."""
        return self._info.calibrations

    @property
    def step_seconds(self) -> float:
        """Seconds from the start of one row of posteriors to that of the next."""
        return self._info.row_seconds

    @property
    def language(self) -> str:
        """The language that the graph records, such as en-US; empty if it records none."""
        return self._info.language

    def check_streams(self) -> None:
        """Raise ModelError for a network or features that cannot stream."""
        check_streams(self._info, self._engine)

    @property
    def scorer_weights(self) -> tuple[float, float]:
        """The current alpha and beta."""
        return self._settings.weights

    def recognition(
        self,
        endpointing: EndpointRules | None = None,
        voice_activity: VoiceActivity | None = None,
        *,
        hot_words: Mapping[str, float] | None = None,
        beam_width: int | None = None,
        tell_ignored: TellIgnored = log_ignored,
    ) -> Recognition:
        """Begin an utterance with the current settings.

        `hot_words`, with their boosts, and `beam_width` replace the model's. Raise ModelError as their setters do, and
        for `voice_activity` without `endpointing`. `tell_ignored` gets the hot words that cannot be spelled.
        """
        settings = self._settings if hot_words is None else self._settings.with_hot_words(hot_words, tell_ignored)
        if beam_width is not None:
            settings = replace(settings, beam_width=checked_count(beam_width, "beam_width"))
        return recognition_by(endpointing, voice_activity, self.recognizer(settings))

    def recognizer(self, settings: DecodingSettings | None = None) -> Recognizer:
        """Return a recognizer with these settings, by default the current ones; later changes do not affect it."""
        return Recognizer(self._info, self._features, self._scheduler, (settings or self._settings).decoder)

    def _recognized(self, audio_buffer: Samples) -> Recognition:
        recognition = self.recognition()
        for block in blocks_of(as_recording(audio_buffer)):
            recognition.feed(as_signal(block))
        return recognition

    def _change(self, **changes: Any) -> None:
        """Change settings, all or none. Raise ModelError if no decoder can be made with them."""
        with self._changing:
            settings = replace(self._settings, **changes)
            settings.decoder  # noqa: B018 - made before the settings are taken, as this may fail
            self._settings = settings


def _transcript(result: Recognized) -> Transcript:
    """Return the best transcript of a recording; if it cannot be used, raise its error."""
    if result.error is not None:
        raise result.error
    return joined([(start, candidates[0]) for start, candidates in result.parts])
