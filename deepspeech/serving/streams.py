"""Utterances whose audio comes in pieces, and the checks of the arguments."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ..errors import ModelError, SamplesShapeError, SamplesTypeError
from .endpointing.rules import Endpoint
from .recognition import Recognition
from .transcripts import Metadata, Transcript, metadata

Samples = npt.NDArray[np.int16]


class Stream:
    """One utterance whose audio comes bit by bit, as DeepSpeech 0.9.3 offers it; `Model.createStream` makes one."""

    def __init__(self, recognition: Recognition, labels: Sequence[str | bytes], step_seconds: float) -> None:
        self._recognition: Recognition | None = recognition
        self._labels = labels
        self._step_seconds = step_seconds

    def feedAudioContent(self, audio_buffer: Samples) -> None:  # noqa: N802
        """Take int16 [samples]. Raise SamplesError for anything else.

        Like all methods here, raise ModelError after the end of the stream.
        """
        self._open().feed(as_signal(audio_buffer))

    def intermediateDecode(self) -> str:  # noqa: N802
        """Return the text so far."""
        return self._open().peek()[0].text

    def intermediateDecodeWithMetadata(self, num_results: int = 1) -> Metadata:  # noqa: N802
        """Return up to `num_results` hypotheses so far, best first; raise ModelError for a number below 1."""
        hypotheses = self._open().peek(checked_count(num_results))
        return metadata(hypotheses, self._labels, self._step_seconds)

    def finishStream(self) -> str:  # noqa: N802
        """Return the text, and end the stream."""
        return self._end().finish()[0].text

    def finishStreamWithMetadata(self, num_results: int = 1) -> Metadata:  # noqa: N802
        """Return up to `num_results` hypotheses, best first, and end the stream. Raise ModelError as above."""
        count = checked_count(num_results)
        return metadata(self._end().finish(count), self._labels, self._step_seconds)

    def endpoint(self) -> Endpoint | None:
        """Return the end of the utterance; None while it goes on, and always without rules of endpoints.

        Audio that is fed after it belongs to the next utterance.
        """
        return self._open().endpoint()

    def nextStream(self) -> Stream:  # noqa: N802 - named like the others
        """Begin the stream of the next utterance, with the audio after the endpoint; `finishStream` may come later."""
        return Stream(self._open().following(), self._labels, self._step_seconds)

    def freeStream(self) -> None:  # noqa: N802
        """End the stream without a result."""
        self._end()

    def _open(self) -> Recognition:
        if self._recognition is None:
            raise ModelError("the stream has ended; create another one")
        return self._recognition

    def _end(self) -> Recognition:
        recognition = self._open()
        self._recognition = None
        return recognition


class TranscriptStream:
    """One utterance whose audio comes bit by bit. A context manager: leaving it ends the stream.

    The times of a stream that `next_utterance` began are those of the first one.
    """

    def __init__(self, recognition: Recognition) -> None:
        self._recognition = recognition
        self._result: Transcript | None = None
        self._ended = False

    def __enter__(self) -> TranscriptStream:
        return self

    def __exit__(self, *_error: object) -> None:
        self._ended = True

    def feed(self, samples: Samples) -> None:
        """Take int16 [samples] at the model's rate. Raise SamplesError for anything else, ModelError after the end."""
        self._check_open()
        self._recognition.feed(as_signal(samples))

    @property
    def transcript(self) -> Transcript:
        """The transcript so far; after `finish`, the whole. Raise ModelError if the stream ended without `finish`."""
        if self._result is not None:
            return self._result
        self._check_open()
        return self._recognition.peek_transcripts()[0]

    @property
    def start(self) -> float:
        """The time at which the utterance begins, in seconds."""
        return self._recognition.start

    def endpoint(self) -> Endpoint | None:
        """Return the end of the utterance; None while it goes on, and always without rules of endpoints.

        Audio that is fed after it belongs to the next utterance.
        """
        return self._recognition.endpoint()

    def finish(self) -> Transcript:
        """Return the transcript, up to the endpoint if there is one, and end the stream. Raise ModelError after it."""
        return self.finish_candidates()[0]

    def finish_candidates(self, count: int = 1) -> list[Transcript]:
        """Return up to `count` transcripts, best first, and end the stream. Raise ModelError after the end."""
        self._check_open()
        candidates = self._recognition.finish_transcripts(checked_count(count))
        self._result = candidates[0]
        self._ended = True
        return candidates

    def next_utterance(self) -> TranscriptStream:
        """Begin the stream of the next utterance, which has the audio after the endpoint, or after all that was fed."""
        return TranscriptStream(self._recognition.following())

    def _check_open(self) -> None:
        if self._ended:
            raise ModelError("the stream has ended; begin another one")


def as_signal(samples: npt.NDArray[np.int16]) -> npt.NDArray[np.float32]:
    """Return int16 [samples] as float32 in [-1, 1); raise SamplesTypeError or SamplesShapeError for anything else."""
    if not isinstance(samples, np.ndarray) or samples.dtype != np.int16:
        kind = f"an array of {samples.dtype}" if isinstance(samples, np.ndarray) else type(samples).__name__
        raise SamplesTypeError(f"audio must be a NumPy array of int16 samples, not {kind}")
    if samples.ndim != 1:
        raise SamplesShapeError(f"audio must be one channel [samples], not an array of shape {samples.shape}")
    return samples.astype(np.float32) / np.float32(1 << 15)


def checked_count(num_results: int) -> int:
    """Return a number of results; raise ModelError if it is below 1."""
    if num_results < 1:
        raise ModelError(f"num_results is {num_results}, but must be 1 or more")
    return num_results
