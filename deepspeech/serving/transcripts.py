"""Results of the Python interface, with times: those of `transcribe` and `stream`, and those of DeepSpeech 0.9."""

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from operator import attrgetter

from ..decoder import Hypothesis, Word
from ..decoder.phrases import phrases
from ..util.transcripts import continued, continued_by_all

LONGEST_GAP_SECONDS = 0.5
"""The longest time between two labels of a word. A label that the network emits earlier, in the pause before the word,
or later does not show when the word is said."""

LONGEST_PHRASE_SECONDS = 6.0
"""In text without spaces between words, times are those of phrases of at most this length."""


@dataclass(frozen=True)
class TimedWord:
    """A word, from `start` to `end` in seconds; `confidence` is the probability that it is right, between 0 and 1.

    In a text without spaces, such as Chinese, it is a phrase, with the lowest of its characters' confidences.
    """

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
    spaced: bool = field(default=True, repr=False, compare=False)
    """Whether the model has a label with a space."""


@dataclass(frozen=True)
class Partial:
    """The transcript so far of an utterance. Its first `stable_words` words will not change, nor `stable_text`.

    In a text without spaces, the stable text often reaches into the phrase after these words.
    """

    transcript: Transcript
    stable_words: int
    stable_text: str = ""
    """The beginning of the transcript's text that will not change."""


@dataclass(frozen=True)
class TokenMetadata:
    """A character and its time: `timestep` in frames from 0, and `start_time` in seconds.

    A frame begins one step of the model after the previous one: 20 ms unless the model was trained with another step.
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
    hypothesis: Hypothesis,
    step_seconds: float,
    confidences: Sequence[float],
    start: float = 0.0,
    end: float = math.inf,
) -> Transcript:
    """Return a hypothesis with times in seconds, rounded to ms, and its words' confidences, rounded to 4 places.

    `confidences` are those of its `parts`: of words, or of letters, of which a phrase has the lowest.
    `step_seconds` is the model's step. The utterance's audio reaches from `start` to `end`, in seconds, but its last
    step may reach further.
    """
    gap, longest = (int(seconds / step_seconds) for seconds in (LONGEST_GAP_SECONDS, LONGEST_PHRASE_SECONDS))
    words, place = [], 0
    for word, parts in zip(hypothesis.words, hypothesis.parts, strict=True):
        if parts == (word,):
            said = [(Word(word.text, *_spoken(word, hypothesis.timesteps, gap)), confidences[place])]
        else:
            sure = confidences[place : place + len(parts)]
            said = [(each, min(_within(each, parts, sure))) for each in phrases(word, hypothesis, gap, longest)]
        place += len(parts)
        for (text, *steps), confidence in said:
            begins, ends = [round(min(start + step * step_seconds, end), 3) for step in steps]
            words.append(TimedWord(text, begins, ends, round(confidence, 4)))
    return Transcript(hypothesis.text, tuple(words), hypothesis.score, hypothesis.label_texts.divide_words)


def _within(phrase: Word, letters: Sequence[Word], confidences: Sequence[float]) -> Sequence[float]:
    """Return which of the confidences of a text's letters are of a phrase's."""
    first, end = (bisect_left(letters, frame, key=attrgetter("start")) for frame in (phrase.start, phrase.end))
    return confidences[first:end]


def metadata(hypotheses: Sequence[Hypothesis], step_seconds: float, start: float) -> Metadata:
    """Return hypotheses as DeepSpeech 0.9 does; `step_seconds` is the model's step.

    The utterance begins at `start`, in seconds.
    """
    return Metadata([_candidate(hypothesis, step_seconds, start) for hypothesis in hypotheses])


def separators(words: Sequence[TimedWord], text: str = "") -> list[str]:
    """Return what precedes each word in a text: a space or nothing.

    For a word that the text lacks, it is what `continued` writes after the previous word.
    """
    found, place, before = [], 0, ""
    for word in words:
        begin = text.find(word.text, place)
        if begin >= 0:
            found.append(" " if begin > place else "")
            place = begin + len(word.text)
        else:
            found.append(continued(before, word.text)[len(before) : -len(word.text)])
        before = word.text
    return found


def joined(parts: Sequence[tuple[float, Transcript]]) -> Transcript:
    """Return consecutive parts of a recording, each with its start in seconds, as one transcript."""
    words = tuple(
        replace(word, start=round(start + word.start, 3), end=round(start + word.end, 3))
        for start, part in parts
        for word in part.words
    )
    spaced = all(part.spaced for _, part in parts)
    text = continued_by_all((part.text for _, part in parts), spaced=spaced)
    return Transcript(text, words, sum(part.confidence for _, part in parts), spaced)


def joined_candidates(parts: Sequence[tuple[float, Sequence[Transcript]]], count: int) -> list[Transcript]:
    """Return up to `count` transcripts of a recording in parts, best first, all with different texts.

    Each part has its start in seconds and its own transcripts, best first. A transcript of the whole takes one
    transcript of each part, and its score is the sum of their scores.
    """
    chosen = [_Choice()]
    for start, candidates in parts:
        pairs = [(before.score + each.confidence, before, each) for before in chosen for each in candidates]
        longer: dict[str, _Choice] = {}  # by text; the first of each text is the best
        for score, before, candidate in sorted(pairs, key=lambda pair: pair[0], reverse=True):
            text = continued(before.text, " ".join(candidate.text.split()), spaced=candidate.spaced)
            longer.setdefault(text, _Choice(text, score, (*before.parts, (start, candidate))))
            if len(longer) == count:
                break
        chosen = list(longer.values())
    return [joined(choice.parts) for choice in chosen]


@dataclass(frozen=True)
class _Choice:
    """Transcripts of the parts so far, each with its start; their text with single spaces, and the sum of scores."""

    text: str = ""
    score: float = 0.0
    parts: tuple[tuple[float, Transcript], ...] = ()


def _spoken(word: Word, timesteps: Sequence[int], longest_gap: int) -> tuple[int, int]:
    """Return the first frame of a word and the one after its last: of the most labels without a long gap."""
    if word.end - 1 - word.start <= longest_gap:
        return word.start, word.end
    steps = timesteps[bisect_left(timesteps, word.start) : bisect_left(timesteps, word.end)]
    begins = [0, *(place for place, (a, b) in enumerate(pairwise(steps), start=1) if b - a > longest_gap), len(steps)]
    begin, end = max(pairwise(begins), key=lambda run: (run[1] - run[0], run[0]))
    return steps[begin], steps[end - 1] + 1


def _candidate(hypothesis: Hypothesis, step_seconds: float, start: float) -> CandidateTranscript:
    steps, tokens = hypothesis.timesteps, hypothesis.label_texts.tokens(hypothesis.labels)
    first = round(start / step_seconds)
    return CandidateTranscript(
        [TokenMetadata(text, first + steps[place], start + steps[place] * step_seconds) for place, text in tokens],
        hypothesis.score,
    )
