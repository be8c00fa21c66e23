"""A transcript and its recording: when each word and character is said, in seconds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from os import PathLike, fspath

import numpy as np
import numpy.typing as npt

from ...errors import AlignmentError, AlphabetError
from ...util.text import Alphabet
from ..api import Model
from ..arguments.samples import Samples
from ..long_audio import Part
from ..posteriors import logarithms
from .viterbi import Labels, LabelSpans, align_log_posteriors

SPACE = " "


@dataclass(frozen=True)
class AlignedCharacter:
    """A character, from `start` to `end` in seconds, and the mean of its log posteriors, in nats, as `score`.

    If the model's labels are longer than characters, it is the text of a label.
    """

    text: str
    start: float
    end: float
    score: float


@dataclass(frozen=True)
class AlignedWord:
    """A word, from `start` to `end` in seconds, its characters, and the mean of their scores."""

    text: str
    start: float
    end: float
    score: float
    characters: tuple[AlignedCharacter, ...]


@dataclass(frozen=True)
class Alignment:
    """The words of a transcript in their order, and the length of the recording in seconds."""

    words: tuple[AlignedWord, ...]
    duration: float

    @property
    def text(self) -> str:
        """The transcript, with one space between words."""
        return SPACE.join(word.text for word in self.words)


def align(model: Model, audio: str | PathLike[str] | Samples, transcript: str) -> Alignment:
    """Return when the words of a transcript are said in a file of any format and rate, or in samples.

    Samples are as `Model.stt` takes them. White space separates words. A long recording is cut where it is quietest, as
    in `Model.transcribe`. Only the posteriors of the transcript's labels are kept, as float16: an hour takes 12 MB for
    an alphabet of 30 labels. Raise AlignmentError if the transcript has no words or more labels than there are frames,
    AlphabetError if the model has no label for a character, and AudioError or SamplesError if the file or array cannot
    be used.
    """
    words = transcript.split()
    if not words:
        raise AlignmentError("the transcript has no words")
    try:
        labels = _labels(words, model.alphabet)
    except AlphabetError as error:
        raise AlphabetError(
            f"the transcript cannot be spelled with the model's labels: {error}; write it like the transcripts that "
            "the model was trained on, such as in lower case and without punctuation"
        ) from error
    columns, places = np.unique(labels, return_inverse=True)
    frames = _Frames.of_parts(model, model.parts(audio), [*columns, model.alphabet.blank])
    where = f"{fspath(audio)}: " if isinstance(audio, str | PathLike) else ""
    try:
        spans = align_log_posteriors(frames.log_posteriors, places.astype(np.int32))
    except AlignmentError as error:
        raise AlignmentError(f"{where}{error}") from error
    return Alignment(tuple(_timed(words, model.alphabet, spans, frames)), round(frames.duration, 3))


def _labels(words: Sequence[str], alphabet: Alphabet) -> Labels:
    """Return the labels of a transcript, with the alphabet's delimiter, if it has one, between words."""
    delimiter = [] if alphabet.delimiter is None else [np.array([alphabet.delimiter], np.int32)]
    of_words = [part for word in words for part in (alphabet.encode(word), *delimiter)]
    return np.concatenate(of_words[: len(of_words) - len(delimiter)])


@dataclass(frozen=True, eq=False)
class _Frames:
    """The log posteriors of a recording, float16 [frames, labels + 1], and when each frame begins and ends."""

    log_posteriors: npt.NDArray[np.float16]
    starts: npt.NDArray[np.float64]
    ends: npt.NDArray[np.float64]
    duration: float

    @classmethod
    def of_parts(cls, model: Model, parts: Iterable[Part], columns: Sequence[int]) -> _Frames:
        kept, starts, ends, duration = [], [], [], 0.0
        for part in parts:
            logs = logarithms(model.posteriors(part.samples)[:, columns]).astype(np.float16)
            begins = part.start + np.arange(len(logs)) * model.step_seconds
            duration = part.start + len(part.samples) / model.sampleRate()
            kept.append(logs)
            starts.append(np.minimum(begins, duration))
            ends.append(np.minimum(begins + model.step_seconds, duration))
        return cls(np.concatenate(kept), np.concatenate(starts), np.concatenate(ends), duration)


def _timed(words: Sequence[str], alphabet: Alphabet, spans: LabelSpans, frames: _Frames) -> Iterable[AlignedWord]:
    place = 0
    for word in words:
        characters = []
        for character, count in alphabet.pieces(word):
            following = place + count
            start = frames.starts[spans.first[place]]
            end = frames.ends[spans.last[following - 1]]
            score = spans.score[place:following].mean()
            characters.append(AlignedCharacter(character, round(float(start), 3), round(float(end), 3), float(score)))
            place = following
        place += alphabet.delimiter is not None
        score = float(np.mean([character.score for character in characters]))
        yield AlignedWord(word, characters[0].start, characters[-1].end, score, tuple(characters))
