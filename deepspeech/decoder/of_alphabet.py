"""Decoders and language models for an alphabet, whatever its labels stand for."""

from __future__ import annotations

import logging
from dataclasses import replace
from os import PathLike
from pathlib import Path

from ..errors import AlphabetError, DecoderError
from ..options.decoding import LanguageModelOptions
from ..util.corpus import Corpus
from ..util.language_model import is_of_characters, vocabulary
from ..util.output_units import SyllableAlphabet, WordPieceAlphabet
from ..util.text import Alphabet
from . import CTCDecoder, DecoderOptions, Scorer
from .labels import Labels, OutputLabels, Spell

logger = logging.getLogger(__name__)


def make_decoder(alphabet: Alphabet, options: LanguageModelOptions) -> CTCDecoder:
    """Return a decoder for an alphabet, with the language model if there is one.

    The weights of a scorer package give way to those of the options only if these were chosen. Raise DecoderError
    if a file or an option cannot be used.
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
    """Return how a decoder that was made with these options makes posteriors text, as part of a sentence."""
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

    `characters` says whether a KenLM file is one of characters; if None, its vocabulary shows it, unless there is a
    trie, which says so itself, and the log tells. With one of
    Chinese characters, an alphabet of syllables writes characters: each label is one of them with one of its readings.
    Raise DecoderError if a file is damaged or does not fit the alphabet, and AlphabetError for a KenLM file whose words
    are to be cut into pieces without sentencepiece.
    """
    path = Path(path)
    if characters is None:
        characters = trie_path is None and is_of_characters(path, alphabet.output_labels)
        if characters:
            logger.info("%s: taken for a language model of characters, as it has no longer words", path)
    labels: Labels = alphabet.output_labels
    if isinstance(alphabet, SyllableAlphabet) and characters:
        labels = _characters_of_syllables(alphabet, path)
    cuts_words = not isinstance(alphabet, WordPieceAlphabet) or alphabet.cuts_texts
    spell = spell_of(alphabet) if cuts_words else None
    scorer = Scorer.load(labels, path, trie_path, characters=characters, spell=spell)
    if not cuts_words and trie_path is None and scorer.package_defaults is None:  # nothing holds how words are cut
        alphabet.encode("")  # raises what to install
    return scorer


def check_labels_are_characters(alphabet: Alphabet, what: str) -> None:
    """Raise DecoderError, beginning with `what`, if a language model of characters could write few of the labels.

    Such are letters that are one label with their combining marks: a model of characters has each by itself. `Scorer`
    refuses to load one for them; this is for who has still to build it.
    """
    joined = [label for label in alphabet.labels if len(label) > 1] if alphabet.unit == Alphabet.unit else []
    if 2 * len(joined) > alphabet.size:
        several = f"most labels of the alphabet are several characters, as {joined[0]!r}"
        advice = "build one of words, or make the alphabet without --join_marks"
        raise DecoderError(f"{what}: {several}, which a language model of characters cannot write; {advice}")


def spell_of(alphabet: Alphabet) -> Spell | None:
    """Return what spells the words of a language model; None if the longest labels that fit do.

    A word that its pieces write otherwise has no spelling, as sentencepiece may normalize what it cuts.
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


def with_references(corpus: Corpus, alphabet: Alphabet, decoder: CTCDecoder) -> Corpus:
    """Return a corpus with the references that the decoder's transcripts are compared with."""
    if not isinstance(alphabet, SyllableAlphabet):
        return corpus
    utterances = (
        replace(utterance, written_as=reference_of(utterance.transcript, alphabet, decoder.scorer))
        for utterance in corpus
    )
    return replace(corpus, utterances=tuple(utterances))


def reference_of(transcript: str, alphabet: Alphabet, scorer: Scorer | None) -> str:
    """Return what hypotheses are compared with: the transcript.

    For an alphabet of syllables it is these, or the characters alone if a language model finds them.
    """
    if not isinstance(alphabet, SyllableAlphabet):
        return transcript
    if scorer is not None and scorer.characters:
        return "".join(transcript.split())
    return alphabet.decode(alphabet.encode(transcript))


def _characters_of_syllables(alphabet: SyllableAlphabet, path: Path) -> OutputLabels:
    try:
        texts, columns = alphabet.readings(sorted(set(vocabulary(path))))
    except (AlphabetError, OSError, ValueError) as error:
        raise DecoderError(f"{path}: a language model of characters for a model of syllables: {error}") from error
    if not texts:
        raise DecoderError(f"{path}: none of its characters is read as a syllable of the alphabet")
    return OutputLabels(texts, columns, alphabet.size)
