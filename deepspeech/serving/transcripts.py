"""Results of the Python interface, with times: those of `transcribe` and `stream`, and those of DeepSpeech 0.9."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ..decoder import Hypothesis


@dataclass(frozen=True)
class TimedWord:
    """A word, from `start` to `end` in seconds; `confidence` is the probability that it is right, between 0 and 1."""

    text: str
    start: float
    end: float
    confidence: float = 1.0


@dataclass(frozen=True)
class Transcript:
    """The text of a recording. `confidence` is the score of the search, a natural logarithm; higher is better."""

    text: str
    words: tuple[TimedWord, ...]
    confidence: float


@dataclass(frozen=True)
class TokenMetadata:
    """A character and its time: `timestep` in frames from 0, and `start_time` in seconds.

    A frame begins one step of the model after the one before, which is 20 ms unless it was trained with another.
    """

    text: str
    timestep: int
    start_time: float


@dataclass(frozen=True)
class CandidateTranscript:
    """A hypothesis: its characters, and as `confidence` the score of the search, a natural logarithm."""

    tokens: list[TokenMetadata]
    confidence: float


@dataclass(frozen=True)
class Metadata:
    """Hypotheses, best first."""

    transcripts: list[CandidateTranscript]


def transcript(
    hypothesis: Hypothesis, step_seconds: float, confidences: Sequence[float], start: float = 0.0
) -> Transcript:
    """Return a hypothesis with times in seconds, rounded to ms, and its words' confidences, rounded to 4 places.

    `step_seconds` is the model's step, and `start` the time at which the utterance begins.
    """
    words = tuple(
        TimedWord(
            word.text,
            round(start + word.start * step_seconds, 3),
            round(start + word.end * step_seconds, 3),
            round(confidence, 4),
        )
        for word, confidence in zip(hypothesis.words, confidences, strict=True)
    )
    return Transcript(hypothesis.text, words, hypothesis.score)


def metadata(hypotheses: Sequence[Hypothesis], labels: Sequence[str | bytes], step_seconds: float) -> Metadata:
    """Return hypotheses as DeepSpeech 0.9 does; `step_seconds` is the model's step."""
    return Metadata([_candidate(hypothesis, labels, step_seconds) for hypothesis in hypotheses])


def joined(parts: Sequence[tuple[float, Transcript]]) -> Transcript:
    """Return consecutive parts of a recording, each with its start in seconds, as one transcript."""
    words = tuple(
        replace(word, start=round(start + word.start, 3), end=round(start + word.end, 3))
        for start, part in parts
        for word in part.words
    )
    text = " ".join(part.text for _, part in parts if part.text)
    return Transcript(text, words, sum(part.confidence for _, part in parts))


def _candidate(hypothesis: Hypothesis, labels: Sequence[str | bytes], step_seconds: float) -> CandidateTranscript:
    tokens = []
    for label, timestep in zip(hypothesis.labels, hypothesis.timesteps, strict=True):
        text = labels[label]
        shown = text.decode("utf-8", "replace") if isinstance(text, bytes) else text
        tokens.append(TokenMetadata(shown, timestep, timestep * step_seconds))
    return CandidateTranscript(tokens, hypothesis.score)
