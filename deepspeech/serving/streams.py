"""Utterances whose audio comes in pieces.

Threads may share a stream, such as one that records from a microphone and one that shows the text. Each call waits
until those of other threads are done.
"""

from __future__ import annotations

import threading

from ..errors import ModelError
from .arguments.checks import count as checked_count
from .arguments.samples import Samples, as_signal
from .endpointing.rules import Endpoint
from .engine import AcousticEngine
from .frozen.model import ModelInfo
from .recognition import Recognition
from .transcripts import Metadata, Partial, Transcript


class Stream:
    """One utterance whose audio comes bit by bit, as in DeepSpeech and Coqui STT; `Model.createStream` makes one.

    The times of a stream that `nextStream` began count from the start of the first stream.
    """

    def __init__(self, recognition: Recognition) -> None:
        self._recognition: Recognition | None = recognition
        self._lock = threading.RLock()

    def feedAudioContent(self, audio_buffer: Samples) -> None:  # noqa: N802
        """Take samples, as `Model.stt` does. Raise SamplesError for anything else.

        Like all methods here, raise ModelError after the end of the stream.
        """
        with self._lock:
            self._open().feed(as_signal(audio_buffer))

    def intermediateDecode(self) -> str:  # noqa: N802
        """Return the text so far."""
        with self._lock:
            return self._open().peek()[0].text

    def intermediateDecodeWithMetadata(self, num_results: int = 1) -> Metadata:  # noqa: N802
        """Return up to `num_results` hypotheses so far, best first; raise ModelError for a number below 1."""
        count = checked_count(num_results, "num_results")
        with self._lock:
            recognition = self._open()
            return recognition.metadata(recognition.peek(count))

    def intermediateDecodeFlushBuffers(self) -> str:  # noqa: N802
        """Return the text so far: Coqui STT's name of `intermediateDecode`, which here uses all audio that was fed."""
        return self.intermediateDecode()

    def intermediateDecodeWithMetadataFlushBuffers(self, num_results: int = 1) -> Metadata:  # noqa: N802
        """Return what `intermediateDecodeWithMetadata` returns."""
        return self.intermediateDecodeWithMetadata(num_results)

    def finishStream(self) -> str:  # noqa: N802
        """Return the text, and end the stream."""
        return self._end().finish()[0].text

    def finishStreamWithMetadata(self, num_results: int = 1) -> Metadata:  # noqa: N802
        """Return up to `num_results` hypotheses, best first, and end the stream. Raise ModelError as above."""
        count = checked_count(num_results, "num_results")
        recognition = self._end()
        return recognition.metadata(recognition.finish(count))

    def endpoint(self) -> Endpoint | None:
        """Return the end of the utterance; None while it goes on, and always None without endpointing rules.

        Audio that is fed after it belongs to the next utterance.
        """
        with self._lock:
            return self._open().endpoint()

    def nextStream(self) -> Stream:  # noqa: N802 - named like the others
        """Begin the stream of the next utterance, with the audio after the endpoint; `finishStream` may come later."""
        with self._lock:
            return Stream(self._open().following())

    def freeStream(self) -> None:  # noqa: N802
        """End the stream without a result."""
        self._end()

    def _open(self) -> Recognition:
        if self._recognition is None:
            raise ModelError("the stream has ended; create another one")
        return self._recognition

    def _end(self) -> Recognition:
        """End the stream; of several threads, one gets the recognition, and the others ModelError."""
        with self._lock:
            recognition = self._open()
            self._recognition = None
        return recognition


class TranscriptStream:
    """One utterance whose audio comes bit by bit. A context manager: leaving it ends the stream.

    The times of a stream that `next_utterance` began count from the start of the first stream.
    """

    def __init__(self, recognition: Recognition) -> None:
        self._recognition = recognition
        self._result: Transcript | None = None
        self._ended = False
        self._lock = threading.RLock()

    def __enter__(self) -> TranscriptStream:
        return self

    def __exit__(self, *_error: object) -> None:
        with self._lock:
            self._ended = True

    def feed(self, samples: Samples) -> None:
        """Take samples, as `Model.stt` does. Raise SamplesError for anything else, ModelError after the end."""
        with self._lock:
            self._check_open()
            self._recognition.feed(as_signal(samples))

    @property
    def transcript(self) -> Transcript:
        """The transcript so far; after `finish`, the whole. Raise ModelError if the stream ended without `finish`."""
        with self._lock:
            return self._result or self.partial().transcript

    def partial(self) -> Partial:
        """Return the transcript so far, and how many of its words will not change. Raise ModelError after the end."""
        with self._lock:
            self._check_open()
            return self._recognition.partial()

    @property
    def start(self) -> float:
        """The time at which the utterance begins, in seconds."""
        return self._recognition.start

    def endpoint(self) -> Endpoint | None:
        """Return the end of the utterance; None while it goes on, and always None without endpointing rules.

        Audio that is fed after it belongs to the next utterance.
        """
        with self._lock:
            return self._recognition.endpoint()

    def finish(self) -> Transcript:
        """Return the transcript, up to the endpoint if there is one, and end the stream. Raise ModelError after it."""
        return self.finish_candidates()[0]

    def finish_candidates(self, count: int = 1) -> list[Transcript]:
        """Return up to `count` transcripts, best first, and end the stream. Raise ModelError after the end."""
        with self._lock:
            self._check_open()
            candidates = self._recognition.finish_transcripts(checked_count(count, "count"))
            self._result = candidates[0]
            self._ended = True
            return candidates

    def next_utterance(self) -> TranscriptStream:
        """Begin the stream of the next utterance, which has the audio after the endpoint, or after all that was fed."""
        with self._lock:
            return TranscriptStream(self._recognition.following())

    def _check_open(self) -> None:
        if self._ended:
            raise ModelError("the stream has ended; begin another one")


def check_streams(model: ModelInfo, engine: AcousticEngine) -> None:
    """Raise ModelError for a network, features or a file that cannot stream."""
    if model.features.of_whole_recordings:
        raise ModelError(
            f"{model.path}: cannot stream, as its features are normalized by the whole recording; transcribe whole "
            "recordings, or use a model with --normalize_features=running"
        )
    layer = next((layer for layer in model.network.layers if not layer.streams), None)
    if layer is not None:
        raise ModelError(
            f"{model.path}: cannot stream, as its layer {layer.name} is a {type(layer).__name__}, which needs the "
            "whole recording; transcribe whole recordings, or use a model whose network streams"
        )
    if not engine.streams:
        raise ModelError(
            f"{model.path}: cannot stream, as models in ONNX that depend on later rows of attention take "
            "whole recordings; transcribe whole recordings, or export a graph"
        )
