"""The Python interface: that of DeepSpeech 0.9.3's package, and `transcribe` and `stream` beside it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cached_property
from os import PathLike

import numpy as np
import numpy.typing as npt

from ..decoder import CTCDecoder, DecoderOptions, Scorer
from ..decoder.of_alphabet import load_scorer
from ..errors import DecoderError, ModelError
from ..util.features import FeatureOptions
from ..util.text import Alphabet
from .alphabet import alphabet_of
from .confidence.calibration import Calibrations
from .endpointing.recognition import EndpointedRecognition
from .endpointing.rules import EndpointRules
from .endpointing.voice_activity import VoiceActivity
from .engine import Engine
from .feature_windows import ModelFeatures
from .frozen.model import ModelInfo, read_frozen_model
from .long_audio import parts_of_file, parts_of_samples
from .posteriors import posteriors_of
from .recognition import Recognition, Recognizer
from .streams import Stream, TranscriptStream, as_signal, checked_count
from .transcripts import CandidateTranscript, Metadata, TokenMetadata, Transcript, joined, metadata

__all__ = ["CandidateTranscript", "Metadata", "Model", "Stream", "TokenMetadata", "Transcript", "TranscriptStream"]

SCORER_NOT_ENABLED = 0x2004
"""The code that DeepSpeech returns if a scorer is needed but not enabled."""

MOST_LABELS_PER_FRAME = 40
"""The number of labels of a frame that the search considers, which is that of DeepSpeech's clients."""

Samples = npt.NDArray[np.int16]


class Model:
    """A speech recognizer, loaded from an exported graph. Threads may share one.

    Settings apply to the utterances that begin after them.
    """

    def __init__(self, model_path: str | PathLike[str]) -> None:
        """Load a `.pb` or `.pbmm` file.

        Raise GraphError, which is a RuntimeError, if it cannot be used, and FeatureError if its features can't.
        """
        model = read_frozen_model(model_path)
        self._info: ModelInfo = model.info
        self._engine = Engine(model)
        self._features = ModelFeatures(model.info)
        self._beam_width = model.info.beam_width
        self._scorer: Scorer | None = None
        self._weights = (0.0, 0.0)
        self._hot_words: dict[str, float] = {}
        self._decoder = self._new_decoder()

    def beamWidth(self) -> int:  # noqa: N802 - the published name, like those below
        """Return how many hypotheses the search keeps; the graph holds the initial number."""
        return self._beam_width

    def setBeamWidth(self, beam_width: int) -> int:  # noqa: N802
        """Set the number of hypotheses that the search keeps; more are slower and sometimes better. Return 0.

        Raise ModelError for a number below 1.
        """
        before, self._beam_width = self._beam_width, beam_width
        try:
            self._decoder = self._new_decoder()
        except ModelError:
            self._beam_width = before
            raise
        return 0

    def sampleRate(self) -> int:  # noqa: N802
        """Return the sample rate that audio must have, in Hz."""
        return self._info.features.sample_rate

    def enableExternalScorer(self, scorer_path: str | PathLike[str]) -> None:  # noqa: N802
        """Decode with a language model: a scorer package or a KenLM file. Raise ModelError if it cannot be used."""
        try:
            scorer = load_scorer(self.alphabet, scorer_path)
        except DecoderError as error:
            raise ModelError(str(error)) from error
        default = DecoderOptions()
        before = self._scorer, self._weights
        self._scorer = scorer
        self._weights = scorer.package_defaults or (default.lm_weight, default.valid_word_count_weight)
        try:
            self._decoder = self._new_decoder()
        except ModelError:
            self._scorer, self._weights = before
            raise

    def disableExternalScorer(self) -> int:  # noqa: N802
        """Decode without a language model again. Return 0, or another number if there is no language model."""
        if self._scorer is None:
            return SCORER_NOT_ENABLED
        self._scorer = None
        self._decoder = self._new_decoder()
        return 0

    def setScorerAlphaBeta(self, alpha: float, beta: float) -> int:  # noqa: N802
        """Set the weight `alpha` of the language model and the bonus `beta` for each word.

        Return 0, or another number without a scorer. Raise ModelError unless both are finite numbers.
        """
        if self._scorer is None:
            return SCORER_NOT_ENABLED
        if not (math.isfinite(alpha) and math.isfinite(beta)):
            raise ModelError(f"alpha {alpha} and beta {beta} must be finite numbers")
        self._weights = (float(alpha), float(beta))
        self._decoder = self._new_decoder()
        return 0

    def addHotWord(self, word: str, boost: float) -> None:  # noqa: N802
        """Make a word likelier by `boost`, a natural logarithm, or less likely if it is negative.

        Raise ModelError without a scorer, and for a word that was added before or cannot be spelled in the alphabet.
        """
        self._need_scorer()
        if word in self._hot_words:
            raise ModelError(f"the hot word {word!r} was added before; erase it first")
        self._set_hot_words({**self._hot_words, word: float(boost)})

    def eraseHotWord(self, word: str) -> None:  # noqa: N802
        """Remove a hot word. Raise ModelError without a scorer, or if the word is not a hot word."""
        self._need_scorer()
        if word not in self._hot_words:
            raise ModelError(f"{word!r} is not a hot word")
        self._set_hot_words({other: boost for other, boost in self._hot_words.items() if other != word})

    def clearHotWords(self) -> None:  # noqa: N802
        """Remove all hot words. Raise ModelError without a scorer."""
        self._need_scorer()
        self._set_hot_words({})

    def stt(self, audio_buffer: Samples) -> str:
        """Return the text of int16 [samples] at the model's rate. Raise SamplesError for anything else."""
        return self._recognized(audio_buffer).finish()[0].text

    def sttWithMetadata(self, audio_buffer: Samples, num_results: int = 1) -> Metadata:  # noqa: N802
        """Return up to `num_results` hypotheses for int16 [samples] at the model's rate, best first, with times.

        Raise SamplesError for anything else, and ModelError for a number below 1.
        """
        hypotheses = self._recognized(audio_buffer).finish(checked_count(num_results))
        return metadata(hypotheses, self._decoder.labels, self.step_seconds)

    def createStream(self, endpointing: EndpointRules | None = None) -> Stream:  # noqa: N802
        """Begin an utterance whose audio comes bit by bit; with `endpointing`, its `endpoint` says when it ends.

        Raise ModelError for a network that cannot stream.
        """
        self.check_streams()
        return Stream(self.recognition(endpointing), self._decoder.labels, self.step_seconds)

    def transcribe(self, audio: str | PathLike[str] | npt.NDArray[np.int16]) -> Transcript:
        """Return the transcript of a file of any format and rate, or of int16 [samples] at the model's rate.

        Long recordings are split where they are quietest, so that hours need no more memory than minutes.
        Raise AudioError for a file, and SamplesError for an array, that cannot be used.
        """
        rate = self.sampleRate()
        parts = (
            parts_of_samples(as_signal(audio), rate) if isinstance(audio, np.ndarray) else parts_of_file(audio, rate)
        )
        return joined([(part.start, self.candidates(part.samples)[0]) for part in parts])

    def candidates(self, signal: npt.NDArray[np.float32], count: int = 1) -> list[Transcript]:
        """Return up to `count` transcripts, best first, of a signal, float32 [samples] in [-1, 1] at the model's rate.

        The signal is not split, however long it is.
        """
        recognition = self.recognition()
        recognition.feed(signal)
        return recognition.finish_transcripts(count)

    def stream(
        self, endpointing: EndpointRules | None = None, voice_activity: VoiceActivity | None = None
    ) -> TranscriptStream:
        """Begin an utterance whose audio comes bit by bit: `with model.stream() as stream: stream.feed(samples)`.

        With `endpointing`, the stream's `endpoint` says when the utterance ends; with `voice_activity`, too, the
        network does not run before the utterance's first voice.
        Raise ModelError for a network that cannot stream, and for audio that the voice activity detector cannot take.
        """
        self.check_streams()
        return TranscriptStream(self.recognition(endpointing, voice_activity))

    def posteriors(self, signal: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        """Return the posteriors of a signal, float32 [samples] in [-1, 1] at the model's rate.

        They are float32 [rows, labels + 1], the last for the blank.
        """
        return posteriors_of(signal, self._features, self._engine)

    @cached_property
    def alphabet(self) -> Alphabet:
        """The alphabet that spells transcripts in the model's labels. Raise GraphError if the labels are none."""
        return alphabet_of(self._info)

    @property
    def features(self) -> FeatureOptions:
        """What the network takes of the audio."""
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
        """The language that the graph tells, such as en-US; empty if it tells none."""
        return self._info.language

    def check_streams(self) -> None:
        """Raise ModelError for a network that cannot stream."""
        layer = next((layer for layer in self._info.network.layers if not layer.streams), None)
        if layer is not None:
            raise ModelError(
                f"{self._info.path}: cannot stream, as its layer {layer.name} is a {type(layer).__name__}, which needs "
                "the whole recording; transcribe whole recordings, or use a model whose network streams"
            )

    @property
    def scorer_weights(self) -> tuple[float, float]:
        """The current alpha and beta."""
        return self._weights

    def recognition(
        self,
        endpointing: EndpointRules | None = None,
        voice_activity: VoiceActivity | None = None,
        *,
        hot_words: Mapping[str, float] | None = None,
        beam_width: int | None = None,
    ) -> Recognition:
        """Begin an utterance with the current settings; without `endpointing` there is no voice activity detection.

        `hot_words`, with their boosts, and `beam_width` are in place of the model's. Raise ModelError as their setters.
        """
        decoder = self._decoder
        if hot_words is not None or beam_width is not None:
            if hot_words:
                self._need_scorer()
            decoder = self._new_decoder(hot_words, beam_width)
        recognizer = Recognizer(self._info, self._features, self._engine, decoder)
        if endpointing is None:
            return Recognition(recognizer)
        return EndpointedRecognition(recognizer, endpointing, voice_activity)

    def _recognized(self, audio_buffer: Samples) -> Recognition:
        signal = as_signal(audio_buffer)
        recognition = self.recognition()
        recognition.feed(signal)
        return recognition

    def _need_scorer(self) -> None:
        if self._scorer is None:
            raise ModelError("hot words need a scorer; enable one first")

    def _set_hot_words(self, hot_words: dict[str, float]) -> None:
        before, self._hot_words = self._hot_words, hot_words
        try:
            self._decoder = self._new_decoder()
        except ModelError:
            self._hot_words = before
            raise

    def _new_decoder(self, hot_words: Mapping[str, float] | None = None, beam_width: int | None = None) -> CTCDecoder:
        """Return a decoder with the current settings, but for those that are given."""
        beam_width = self._beam_width if beam_width is None else beam_width
        lm_weight, valid_word_count_weight = self._weights
        try:
            options = DecoderOptions(
                beam_width=beam_width,
                lm_weight=lm_weight,
                valid_word_count_weight=valid_word_count_weight,
                sentence_end=False,  # as DeepSpeech's clients score
                cutoff_top_n=MOST_LABELS_PER_FRAME,
                result_count=max(beam_width, 1),
                hot_words=(self._hot_words if hot_words is None else hot_words) if self._scorer else {},
            )
            return CTCDecoder(self._scorer.output if self._scorer else self._info.labels, options, self._scorer)
        except (DecoderError, TypeError) as error:
            raise ModelError(str(error)) from error
