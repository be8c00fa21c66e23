"""From the output of any CTC acoustic model to text: a beam search in C++ with a KenLM language model.

    scorer = Scorer.load(alphabet.labels, "lm.binary")
    decoder = CTCDecoder(alphabet.labels, DecoderOptions(beam_width=500), scorer)
    print(decoder.decode(posteriors)[0].text)

The score of a transcript, in natural logarithms, is

    score = acoustic_score + lm_weight * lm_score + valid_word_count_weight * (words in the vocabulary)

`acoustic_score` is ln of the summed probabilities of its alignments, `lm_score` is ln P of the whole sentence, its end
included. This module needs NumPy, but not TensorFlow.
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _ctcdecoder
from .errors import DecoderError

__all__ = ["CTCDecoder", "DecoderError", "DecoderOptions", "Hypothesis", "Scorer", "Word"]

Posteriors = npt.NDArray[np.floating[Any]]


@dataclass(frozen=True)
class DecoderOptions:
    """What may be chosen about the search; the defaults prune nothing but what does not fit into the beam."""

    beam_width: int = 1024
    """Hypotheses kept after every frame."""
    lm_weight: float = 1.5
    """Weight of ln P of the language model; 0 ignores it, but keeps its vocabulary."""
    valid_word_count_weight: float = 2.25
    """Added to the score for every word that is in the vocabulary."""
    cutoff_prob: float = 1.0
    """Of each frame, only the most probable labels that sum up to this are considered; 1 keeps all."""
    cutoff_top_n: int = 0
    """Of each frame, at most so many labels, the blank included, are considered; 0 keeps all."""
    score_threshold: float = math.inf
    """After every frame, hypotheses that score so much less than the best are dropped."""
    result_count: int = 1
    """Transcripts returned, best first."""


@dataclass(frozen=True)
class Word:
    """A word of a transcript: it appears in the frames from `start` up to, but without, `end`."""

    text: str
    start: int
    end: int


@dataclass(frozen=True)
class Hypothesis:
    """A transcript. Scores are natural logarithms; see the module for how they add up."""

    text: str
    score: float
    acoustic_score: float
    lm_score: float
    labels: tuple[int, ...]
    timesteps: tuple[int, ...]
    """The frame at which each label appeared."""
    words: tuple[Word, ...]


class Scorer:
    """A language model, and the words that it knows, spelled in labels."""

    def __init__(self, labels: Sequence[str], native: _ctcdecoder.Scorer) -> None:
        self.labels = tuple(labels)
        self.native = native

    @classmethod
    def load(cls, labels: Sequence[str], lm_path: str | os.PathLike[str]) -> Scorer:
        """Load a KenLM file (ARPA or binary). Raises DecoderError if it is not one or fits none of the labels."""
        return cls(labels, _ctcdecoder.Scorer(list(labels), os.fspath(lm_path)))


class CTCDecoder:
    """Turns posteriors into transcripts. Threads may share one."""

    def __init__(self, labels: Sequence[str], options: DecoderOptions | None = None, scorer: Scorer | None = None):
        """`labels` are the acoustic model's outputs in their order; the blank comes after the last of them.

        Raises DecoderError naming the option, or the label, that makes no sense.
        """
        self.labels = tuple(labels)
        self.options = options or DecoderOptions()
        self.scorer = scorer
        native = scorer.native if scorer else None
        self._native = _ctcdecoder.Decoder(list(labels), _native_options(self.options), native)

    def decode(self, posteriors: Posteriors) -> list[Hypothesis]:
        """Return the best transcripts of one utterance, best first.

        `posteriors`: probabilities, float32 or float64 [time, labels + 1]; strided arrays are not copied. No frames
        give the empty transcript. Raises DecoderError naming what is wrong with them.
        """
        return [self._hypothesis(result) for result in self._native.decode(posteriors)]

    def decode_batch(
        self, posteriors: Posteriors, lengths: Sequence[int] | npt.NDArray[Any], threads: int = 0
    ) -> list[list[Hypothesis]]:
        """Return the best transcripts of each utterance, decoded by `threads` threads (0: one for each core).

        `posteriors`: float32 or float64 [batch, time, labels + 1]; `lengths` [batch]: the frames that count. The GIL is
        released meanwhile. Raises DecoderError naming the utterance and what is wrong with it.
        """
        batch = self._native.decode_batch(posteriors, [int(length) for length in lengths], threads)
        return [[self._hypothesis(result) for result in results] for results in batch]

    def _hypothesis(self, result: _ctcdecoder.Result) -> Hypothesis:
        labels, frames = tuple(result.labels), tuple(result.frames)
        words = _words([self.labels[label] for label in labels], frames)
        text = " ".join(word.text for word in words) if self.scorer else "".join(self.labels[label] for label in labels)
        return Hypothesis(text, result.score, result.acoustic_score, result.lm_score, labels, frames, words)


def _native_options(options: DecoderOptions) -> _ctcdecoder.DecoderOptions:
    native = _ctcdecoder.DecoderOptions()
    for name, value in asdict(options).items():
        try:
            setattr(native, name, value)
        except TypeError:
            raise DecoderError(f"{name} is {value!r}, which makes no sense") from None
    return native


def _words(texts: Sequence[str], frames: Sequence[int]) -> tuple[Word, ...]:
    words: list[Word] = []
    start = 0
    for place in range(len(texts) + 1):
        if place == len(texts) or texts[place] == " ":
            if place > start:
                words.append(Word("".join(texts[start:place]), frames[start], frames[place - 1] + 1))
            start = place + 1
    return tuple(words)
