"""Decoders and language models for an alphabet of any unit."""

from __future__ import annotations

import logging
import os
from os import PathLike
from pathlib import Path

from ..errors import AlphabetError, DecoderError
from ..options.decoding import LanguageModelOptions
from ..util.language_model import is_of_characters, vocabulary
from ..util.output_units import SyllableAlphabet, WordPieceAlphabet
from ..util.text import Alphabet
from . import CTCDecoder, DecoderOptions, Scorer
from .labels import Labels, OutputLabels, Spell

logger = logging.getLogger(__name__)

UNSPELLED_SHARE = 0.1
"""The share of a language model's words from which on a warning says that the alphabet cannot write them."""


def make_decoder(alphabet: Alphabet, options: LanguageModelOptions) -> CTCDecoder:
    """Return a decoder for an alphabet, with the language model if there is one.

    The options' weights replace those of a scorer package only if the user chose them. Raise DecoderError if a file or
    an option cannot be used.
    """
    language_model = options.binary_path or options.scorer_path
    weights = (options.lm_weight, options.valid_word_count_weight)
    if language_model is None:
        return CTCDecoder(alphabet.output_labels, DecoderOptions(options.beam_width, *weights))
    scorer = load_scorer(alphabet, language_model, options.trie_path)
    if scorer.package_defaults is not None and not options.weights_chosen:
        weights = scorer.package_defaults
        logger.info("Weights of the scorer package: --lm_weight=%g --valid_word_count_weight=%g", *weights)
    return CTCDecoder(scorer.output, DecoderOptions(options.beam_width, *weights), scorer)


def in_words(decoder: CTCDecoder, options: LanguageModelOptions) -> str:
    """Return part of a sentence that says how a decoder that was made with these options decodes."""
    beam = f"with a beam of {decoder.options.beam_width}"
    file = options.binary_path or options.scorer_path
    if decoder.scorer is None or file is None:
        return f"{beam} and no language model"
    own = decoder.scorer.package_defaults is not None and not options.weights_chosen
    used = decoder.options
    weights = f"weight {used.lm_weight:g}, bonus of a word {used.valid_word_count_weight:g}"
    return f"{beam} and the language model {file.name} ({'its own weights' if own else weights})"


def load_scorer(
    alphabet: Alphabet,
    path: str | PathLike[str],
    trie_path: str | PathLike[str] | None = None,
    *,
    characters: bool | None = None,
) -> Scorer:
    """Load a KenLM file or a scorer package for an alphabet.

    `characters`: whether a KenLM file is a language model of characters. If None, the trie file determines it; without
    one, the vocabulary does, and a model of characters is logged. If the alphabet cannot write many of the words, a
    warning says so.

    With a language model of Chinese characters, an alphabet of syllables writes characters: each label is a character
    with one of its readings. Raise DecoderError if a file is damaged or does not fit the alphabet, and AlphabetError if
    the words of a KenLM file must be cut into pieces and sentencepiece is not installed.
    """
    path = Path(path)
    if os.path.isdir(path):  # noqa: PTH112 - unlike a Path, it raises no error, as loading does
        packages = sorted(path.glob("*.scorer"))
        such = f", such as {packages[0]}" if packages else ""
        raise DecoderError(f"{path}: is a folder; name the language model in it{such}")
    if characters is None:
        characters = trie_path is None and is_of_characters(path, alphabet.output_labels)
        if characters:
            logger.info("%s: treated as a language model of characters, as all its words are single characters", path)
    labels: Labels = alphabet.output_labels
    if isinstance(alphabet, SyllableAlphabet) and characters:
        labels = _characters_of_syllables(alphabet, path)
    cuts_words = not isinstance(alphabet, WordPieceAlphabet) or alphabet.cuts_texts
    spell = spell_of(alphabet) if cuts_words else None
    scorer = Scorer.load(labels, path, trie_path, characters=characters, spell=spell)
    if not cuts_words and trie_path is None and scorer.package_defaults is None:  # no file says how words are cut
        alphabet.encode("")  # raises an error that says what to install
    _warn_of_unspelled_words(scorer, path)
    return scorer


def _warn_of_unspelled_words(scorer: Scorer, path: Path) -> None:
    count, words, example = scorer.unspelled_words()
    if count > UNSPELLED_SHARE * words:
        logger.warning(
            "%s: the alphabet cannot write %d of its %d %s, such as %r, which are never recognized; build it of text "
            "in the letters and the case of the transcripts",
            path,
            count,
            words,
            "characters" if scorer.characters else "words",
            example,
        )


def check_labels_are_characters(alphabet: Alphabet, what: str) -> None:
    """Raise DecoderError, beginning with `what`, if a language model of characters could write few of the labels.

    Such labels are letters joined with their combining marks: a model of characters has each character by itself.
    `Scorer` refuses to load such a model; this check comes before one is built.
    """
    joined = [label for label in alphabet.labels if len(label) > 1] if alphabet.unit == Alphabet.unit else []
    if 2 * len(joined) > alphabet.size:
        several = f"most labels of the alphabet are several characters, as {joined[0]!r}"
        advice = "build one of words, or make the alphabet without --join_marks"
        raise DecoderError(f"{what}: {several}, which a language model of characters cannot write; {advice}")


def spell_of(alphabet: Alphabet) -> Spell | None:
    """Return the function that spells the words of a language model; None to spell by the longest labels that fit.

    A word has no spelling if its pieces do not join to it again, as sentencepiece may normalize the text.
    """
    if not isinstance(alphabet, WordPieceAlphabet):
        return None

    def spell(word: str) -> list[list[int]]:
        try:
            labels = alphabet.encode(word).tolist()
            return [labels] if alphabet.decode(labels) == word else []
        except AlphabetError:
            if alphabet.missing(word):
                return []
            raise

    return spell


def _characters_of_syllables(alphabet: SyllableAlphabet, path: Path) -> OutputLabels:
    try:
        texts, columns = alphabet.readings(sorted(set(vocabulary(path))))
    except (AlphabetError, OSError, ValueError) as error:
        raise DecoderError(f"{path}: a language model of characters for a model of syllables: {error}") from error
    if not texts:
        raise DecoderError(f"{path}: none of its characters is read as a syllable of the alphabet")
    return OutputLabels(texts, columns, alphabet.size)
