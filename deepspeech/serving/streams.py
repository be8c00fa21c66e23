"""Utterances whose audio comes in pieces."""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import ModelError
from .arguments.checks import count as checked_count
from .arguments.samples import Samples, as_signal
from .recognition import Recognition
from .transcripts import Metadata, Transcript, metadata, transcript


class Stream:
    """One utterance whose audio comes bit by bit, as DeepSpeech 0.9.3 offers it; `Model.createStream` makes one."""

    def __init__(self, recognition: Recognition, labels: Sequence[str | bytes], step_seconds: float) -> None:
        self._recognition: Recognition | None = recognition
        self._labels = labels
        self._step_seconds = step_seconds

    def feedAudioContent(self, audio_buffer: Samples) -> None:  # noqa: N802
        """Take samples, as `Model.stt` does. Raise SamplesError for anything else.

        Like all methods here, raise ModelError after the end of the stream.
        """
        self._open().feed(as_signal(audio_buffer))

    def intermediateDecode(self) -> str:  # noqa: N802
        """Return the text so far."""
        return self._open().peek()[0].text

    def intermediateDecodeWithMetadata(self, num_results: int = 1) -> Metadata:  # noqa: N802
        """Return up to `num_results` hypotheses so far, best first; raise ModelError for a number below 1."""
        hypotheses = self._open().peek(checked_count(num_results, "num_results"))
        return metadata(hypotheses, self._labels, self._step_seconds)

    def finishStream(self) -> str:  # noqa: N802
        """Return the text, and end the stream."""
        return self._end().finish()[0].text

    def finishStreamWithMetadata(self, num_results: int = 1) -> Metadata:  # noqa: N802
        """Return up to `num_results` hypotheses, best first, and end the stream. Raise ModelError as above."""
        count = checked_count(num_results, "num_results")
        return metadata(self._end().finish(count), self._labels, self._step_seconds)

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
    """One utterance whose audio comes bit by bit. A context manager: leaving it ends the stream."""

    def __init__(self, recognition: Recognition, step_seconds: float) -> None:
        self._recognition = recognition
        self._step_seconds = step_seconds
        self._result: Transcript | None = None
        self._ended = False

    def __enter__(self) -> TranscriptStream:
        return self

    def __exit__(self, *_error: object) -> None:
        self._ended = True

    def feed(self, samples: Samples) -> None:
        """Take samples, as `Model.stt` does. Raise SamplesError for anything else, ModelError after the end."""
        self._check_open()
        self._recognition.feed(as_signal(samples))

    @property
    def transcript(self) -> Transcript:
        """The transcript so far; after `finish`, the whole. Raise ModelError if the stream ended without `finish`."""
        if self._result is not None:
            return self._result
        self._check_open()
        return transcript(self._recognition.peek()[0], self._step_seconds)

    def finish(self) -> Transcript:
        """Return the transcript, and end the stream. Raise ModelError after the end."""
        self._check_open()
        self._result = transcript(self._recognition.finish()[0], self._step_seconds)
        self._ended = True
        return self._result

    def _check_open(self) -> None:
        if self._ended:
            raise ModelError("the stream has ended; begin another one")
