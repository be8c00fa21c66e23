"""Decode the output of any CTC acoustic model to text: a beam search in C++ with a KenLM language model.

    scorer = Scorer.load(alphabet.labels, "lm.binary")
    decoder = CTCDecoder(alphabet.labels, DecoderOptions(beam_width=500), scorer)
    print(decoder.decode(posteriors)[0].text)

Labels are texts, each with its own column of the posteriors; or `OutputLabels`, where several labels may share a column
(characters that are read as one syllable) or a text (readings of one character). A word begins at a label whose text
begins with a space: " " alone, or a word piece of a tokenizer, such as " the".

The score of a transcript, in natural logarithms, is

    score = acoustic_score + lm_weight * lm_score + valid_word_count_weight * (words in the vocabulary)
            + unknown_word_score * (other words) + the boosts of its hot words and phrases

`acoustic_score` is ln of the summed probabilities of its alignments, for all label sequences that spell its text.
`lm_score` is ln P of the whole sentence, including its end unless `sentence_end` is off. This package needs NumPy, but
not TensorFlow.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import DecoderError
from ..options.decoding import CLIENT_BEAM_WIDTH, LanguageModelOptions
from .hypotheses import Hypothesis, LabelTexts, Word
from .labels import Labels, OutputLabels, Spell, output_labels

try:
    from .. import _ctcdecoder
except ImportError as error:
    raise DecoderError(
        f"{Path(__file__).parents[1]}: source without its native code; run `make` there, or start the installed "
        "package with `deepspeech-train`, or from another folder"
    ) from error

__all__ = [
    "CLIENT_BEAM_WIDTH",
    "UTF8_BYTES",
    "CTCDecoder",
    "CTCStream",
    "DecoderError",
    "DecoderOptions",
    "Hypothesis",
    "OutputLabels",
    "Scorer",
    "Word",
]

UTF8_BYTES: tuple[bytes, ...] = tuple(bytes([byte]) for byte in range(1, 256))
"""The labels of a model that spells its transcripts in UTF-8 bytes, in DeepSpeech's order."""

Posteriors = npt.NDArray[np.floating[Any]]


@dataclass(frozen=True)
class DecoderOptions:
    """The options of the beam search. The defaults prune only the hypotheses that do not fit into the beam."""

    beam_width: int = LanguageModelOptions.beam_width
    """Hypotheses kept after every frame."""
    lm_weight: float = LanguageModelOptions.lm_weight
    """Weight of ln P of the language model; 0 ignores it, but keeps its vocabulary."""
    valid_word_count_weight: float = LanguageModelOptions.valid_word_count_weight
    """Added to the score for every word that is in the vocabulary."""
    sentence_end: bool = True
    """Whether `lm_score` includes the end of the sentence; without it, transcripts may be parts of sentences."""
    cutoff_prob: float = 1.0
    """In each frame, only the most probable labels whose probabilities sum up to this are considered; 1 keeps all."""
    cutoff_top_n: int = 0
    """The most labels that are considered in each frame, including the blank; 0 keeps all."""
    score_threshold: float = math.inf
    """After every frame, hypotheses whose score is lower than the best by more than this are dropped."""
    result_count: int = 1
    """Transcripts returned, best first."""
    unknown_word_score: float = -math.inf
    """Added to the score for every word that is not in the vocabulary; minus infinity forbids such words."""
    hot_words: Mapping[str, float] = field(default_factory=dict)
    """Boosts of words, and of phrases with spaces between their words; with a model of characters, of any texts.

    A boost is added to the score each time that the phrase occurs. Its words may be outside the vocabulary.
    """


class Scorer:
    """A language model, with its words or characters spelled in labels."""

    def __init__(self, labels: Labels, native: _ctcdecoder.Scorer) -> None:
        self.output = output_labels(labels)
        self.labels = self.output.texts
        self.native = native

    @classmethod
    def load(
        cls,
        labels: Labels,
        lm_path: str | os.PathLike[str],
        trie_path: str | os.PathLike[str] | None = None,
        *,
        characters: bool = False,
        spell: Spell | None = None,
    ) -> Scorer:
        """Load a KenLM file (ARPA or binary) or a scorer package of DeepSpeech 0.6 to 0.9.

        `trie_path` is the trie file of the language model's words; without one, the trie is built in memory.

        `characters`: whether this is a language model of characters, in which `<space>` is a space. Trie files and
        packages record this themselves.

        `spell` spells words as a tokenizer does. Without it, each word is spelled by the longest labels that fit, from
        left to right. Trie files and packages of words hold spellings, so for them `spell` only spells hot words.
        Without `spell`, hot words that the language model does not know are recognized in any segmentation into word
        pieces.

        Raise DecoderError if a file is damaged or does not fit the others, if a spelling does not join to its word, or
        if a language model of characters could write only few of the labels.
        """
        native, model = _native_labels(labels), _native_path(lm_path)
        if trie_path:
            return cls(labels, _ctcdecoder.Scorer(native, model, trie_path=_native_path(trie_path), spell=spell))
        return cls(labels, _ctcdecoder.Scorer(native, model, characters=characters, spell=spell))

    @property
    def characters(self) -> bool:
        """Whether the language model is one of characters, and not of words."""
        return self.native.characters

    @property
    def package_defaults(self) -> tuple[float, float] | None:
        """The `lm_weight` and `valid_word_count_weight` that a scorer package recommends."""
        return self.native.package_defaults

    def can_spell(self, text: str) -> bool:
        """Return whether a text can be a hot word: it has words, and all of them can be spelled."""
        try:
            return self.native.can_spell(text.encode())
        except UnicodeEncodeError:  # half a character, as JSON can escape it
            return False

    def unspelled_words(self) -> tuple[int, int, str]:
        """Return how many of the language model's words cannot be spelled, of how many, and the first of them.

        Of a trie file and a scorer package, which hold only words that can be spelled, this is nothing of 0.
        """
        count, words, example = self.native.unspelled_words()
        return count, words, example.decode(errors="replace")

    def write_package(self, path: str | os.PathLike[str], lm_weight: float, valid_word_count_weight: float) -> None:
        """Write a scorer package; an ARPA file is converted to a KenLM binary for it.

        Clients use its weights unless they set others. Raise DecoderError if that fails.
        """
        self.native.write_package(_native_path(path), lm_weight, valid_word_count_weight)

    def write_trie(self, path: str | os.PathLike[str]) -> None:
        """Write the trie file of this language model and these labels. Raise DecoderError if that fails."""
        self.native.write_trie(_native_path(path))


class CTCDecoder:
    """Turns posteriors into transcripts. Threads may share one."""

    def __init__(self, labels: Labels, options: DecoderOptions | None = None, scorer: Scorer | None = None):
        """`labels`: the acoustic model's outputs in order, or what is read from them; the scorer must have the same.

        The blank comes after the last output. Raise DecoderError, which names the option or label, if one cannot be
        used.
        """
        self.output = output_labels(labels)
        self.labels = self.output.texts
        self.options = options or DecoderOptions()
        self.scorer = scorer
        native = scorer.native if scorer else None
        self.native = _ctcdecoder.Decoder(_native_labels(labels), _native_options(self.options), native)
        spaced = scorer is not None and not scorer.characters
        self._label_texts = LabelTexts(self.labels, self.output.columns, spaced=spaced)

    def decode(self, posteriors: Posteriors) -> list[Hypothesis]:
        """Return the best transcripts of one utterance, best first.

        `posteriors`: probabilities, float32 or float64 [time, columns + 1]; strided arrays are not copied. Without
        frames, the transcript is empty. Raise DecoderError, which says what is wrong, for invalid posteriors.
        """
        return self.hypotheses(self.native.decode(_checked_array(posteriors)))

    def decode_batch(
        self, posteriors: Posteriors, lengths: Sequence[int] | npt.NDArray[Any], threads: int = 0
    ) -> list[list[Hypothesis]]:
        """Return the best transcripts of each utterance, decoded by `threads` threads (0: one for each core).

        `posteriors`: float32 or float64 [batch, time, columns + 1]; `lengths`: integers [batch], the frames of each
        utterance. The GIL is released during the call. Raise DecoderError, which names the utterance and what is wrong
        with it.
        """
        if threads < 0:
            raise DecoderError(f"threads is {threads}, but must be 0 or more")
        batch = self.native.decode_batch(_checked_array(posteriors), [int(length) for length in lengths], threads)
        return [self.hypotheses(results) for results in batch]

    def without_scorer(self) -> CTCDecoder:
        """Return a decoder that has the same labels and options, but no language model."""
        return CTCDecoder(self.output, self.options)

    @property
    def is_ambiguous(self) -> bool:
        """Whether labels share a column, so that only a language model can choose between them."""
        return len(set(self.output.columns)) < len(self.output.columns)

    @property
    def space_columns(self) -> tuple[int, ...]:
        """The columns of the posteriors whose labels are a space alone."""
        return tuple(
            column for text, column in zip(self.labels, self.output.columns, strict=True) if text in (" ", b" ")
        )

    def stream(self) -> CTCStream:
        """Begin an utterance whose frames come bit by bit."""
        return CTCStream(self)

    def hypotheses(self, results: Sequence[_ctcdecoder.Result]) -> list[Hypothesis]:
        """Return the native results as Python's."""
        return [self._hypothesis(result) for result in results]

    def _hypothesis(self, result: _ctcdecoder.Result) -> Hypothesis:
        labels, frames = tuple(result.labels), tuple(result.frames)
        return Hypothesis(result.score, result.acoustic_score, result.lm_score, labels, frames, self._label_texts)


class CTCStream:
    """One utterance whose frames come bit by bit; however they are cut, the result is that of `CTCDecoder.decode`.

    Threads may share one; each call waits until those of other threads are done.
    """

    def __init__(self, decoder: CTCDecoder) -> None:
        self._decoder = decoder
        self._native = _ctcdecoder.Stream(decoder.native)

    def feed(self, posteriors: Posteriors) -> None:
        """Take more frames, float32 or float64 [time, columns + 1].

        Raise DecoderError, and take none of them, if they cannot be used.
        """
        self._native.feed(_checked_array(posteriors))

    def peek(self, count: int = 0) -> list[Hypothesis]:
        """Return the `count` (0: `result_count`) best transcripts so far, best first; last words may be unfinished."""
        return self._decoder.hypotheses(self._native.peek(count))

    def finish(self, count: int = 0) -> list[Hypothesis]:
        """Return the `count` (0: `result_count`) best transcripts of all frames fed, as if no more came."""
        return self._decoder.hypotheses(self._native.finish(count))


def _native_path(path: str | os.PathLike[str]) -> bytes:
    try:
        return os.fsencode(path)
    except UnicodeEncodeError:  # half a character, as JSON can escape it
        raise DecoderError(f"{os.fspath(path)!r} is a name that no file can have") from None


def _checked_array(posteriors: Posteriors) -> Posteriors:
    """Return posteriors if they are an array; for a list or a tensor, the binding's error would print all numbers."""
    if not isinstance(posteriors, np.ndarray):
        kind = type(posteriors).__name__
        raise DecoderError(f"the posteriors are of type {kind}, but must be a NumPy array; give np.asarray(posteriors)")
    return posteriors


def _native_options(options: DecoderOptions) -> _ctcdecoder.DecoderOptions:
    native = _ctcdecoder.DecoderOptions()
    for option in fields(options):
        value = getattr(options, option.name)
        try:
            setattr(native, option.name, value)
        except TypeError:
            raise DecoderError(f"{option.name} is {value!r}, which is not of the right type") from None
    return native


def _native_labels(labels: Labels) -> _ctcdecoder.Labels:
    if not isinstance(labels, OutputLabels):
        return _ctcdecoder.Labels(list(labels), [], 0)
    return _ctcdecoder.Labels(list(labels.texts), list(labels.columns), labels.column_count)
