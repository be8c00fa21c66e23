"""The Python interface: that of DeepSpeech 0.9.3's package, and `transcribe` and `stream` beside it."""

from __future__ import annotations

import math
from collections.abc import Generator, Iterable, Iterator
from functools import cached_property
from os import PathLike

import numpy as np
import numpy.typing as npt

from ..decoder import CTCDecoder, DecoderOptions, Scorer
from ..decoder.of_alphabet import load_scorer
from ..errors import DecoderError, ModelError
from ..util.text import Alphabet
from .alphabet import alphabet_of
from .batching.recordings import Recognized, hypotheses, recognized
from .batching.scheduler import Scheduler
from .engine import Engine
from .feature_windows import ModelFeatures
from .frozen.model import ModelInfo, read_frozen_model
from .long_audio import Part, parts_of_file, parts_of_samples
from .posteriors import posteriors_of
from .precision import Precision
from .recognition import Recognition
from .streams import Stream, TranscriptStream, as_signal, checked_count
from .transcripts import CandidateTranscript, Metadata, TokenMetadata, Transcript, joined, metadata, transcript

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

    def __init__(self, model_path: str | PathLike[str], precision: str = "float32") -> None:
        """Load a `.pb` or `.pbmm` file, to be computed with weights of a `precision`: `float32`, `int8` or `auto`.

        Raise GraphError, which is a RuntimeError, if it cannot be used, FeatureError if its features can't, and
        ModelError for another precision.
        """
        chosen = Precision.named(precision)
        model = read_frozen_model(model_path)
        self._info: ModelInfo = model.info
        self._engine = Engine(model, chosen)
        self._scheduler = Scheduler(self._engine)
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

    def createStream(self) -> Stream:  # noqa: N802
        """Begin an utterance whose audio comes bit by bit. Raise ModelError for a network that cannot stream."""
        self.check_streams()
        return Stream(self.recognition(), self._decoder.labels, self.step_seconds)

    def transcribe(self, audio: str | PathLike[str] | npt.NDArray[np.int16]) -> Transcript:
        """Return the transcript of a file of any format and rate, or of int16 [samples] at the model's rate.

        Long recordings are split where they are quietest, so that hours need no more memory than minutes.
        Raise AudioError for a file, and SamplesError for an array, that cannot be used.
        """
        return next(self.transcribe_many([audio]))

    def transcribe_many(
        self, audio: Iterable[str | PathLike[str] | npt.NDArray[np.int16]]
    ) -> Generator[Transcript, None, None]:
        """Yield the transcripts of several files or arrays, as `transcribe` returns them, in order.

        They are computed together, which is several times faster, and with bounded memory. Raise what `transcribe`
        raises when it is the turn of what cannot be used.
        """
        for result in self.recognized(self._parts(each) for each in audio):
            if result.error is not None:
                raise result.error
            yield joined([(start, candidates[0]) for start, candidates in result.parts])

    def recognized(self, recordings: Iterable[Iterable[Part]], count: int = 1) -> Generator[Recognized, None, None]:
        """Yield what is recognized in recordings that come in parts, in order, with up to `count` transcripts a part.

        An AudioError that reading a recording raises is in its result.
        """
        decoder = self._new_decoder(count)

        def recognize(signals: list[npt.NDArray[np.float32]]) -> list[list[Transcript]]:
            results = hypotheses(signals, self._features, self._engine, decoder)
            return [[transcript(each, self.step_seconds) for each in of_signal] for of_signal in results]

        return recognized(recordings, self.sampleRate(), recognize)

    def candidates(self, signal: npt.NDArray[np.float32], count: int = 1) -> list[Transcript]:
        """Return up to `count` transcripts, best first, of a signal, float32 [samples] in [-1, 1] at the model's rate.

        The signal is not split, however long it is.
        """
        recognition = self.recognition()
        recognition.feed(signal)
        return [transcript(hypothesis, self.step_seconds) for hypothesis in recognition.finish(count)]

    def stream(self) -> TranscriptStream:
        """Begin an utterance whose audio comes bit by bit: `with model.stream() as stream: stream.feed(samples)`.

        Raise ModelError for a network that cannot stream.
        """
        self.check_streams()
        return TranscriptStream(self.recognition(), self.step_seconds)

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
    def step_seconds(self) -> float:
        """Seconds from the start of one row of posteriors to that of the next."""
        return self._info.row_seconds

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

    def recognition(self) -> Recognition:
        """Begin an utterance with the current settings."""
        return Recognition(self._info, self._features, self._scheduler, self._decoder)

    def _recognized(self, audio_buffer: Samples) -> Recognition:
        signal = as_signal(audio_buffer)
        recognition = self.recognition()
        recognition.feed(signal)
        return recognition

    def _parts(self, audio: str | PathLike[str] | npt.NDArray[np.int16]) -> Iterator[Part]:
        rate = self.sampleRate()
        if isinstance(audio, np.ndarray):
            return parts_of_samples(as_signal(audio), rate)
        return parts_of_file(audio, rate)

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

    def _new_decoder(self, result_count: int | None = None) -> CTCDecoder:
        lm_weight, valid_word_count_weight = self._weights
        try:
            options = DecoderOptions(
                beam_width=self._beam_width,
                lm_weight=lm_weight,
                valid_word_count_weight=valid_word_count_weight,
                sentence_end=False,  # as DeepSpeech's clients score
                cutoff_top_n=MOST_LABELS_PER_FRAME,
                result_count=result_count or max(self._beam_width, 1),
                hot_words=self._hot_words if self._scorer else {},
            )
            return CTCDecoder(self._scorer.output if self._scorer else self._info.labels, options, self._scorer)
        except (DecoderError, TypeError) as error:
            raise ModelError(str(error)) from error
