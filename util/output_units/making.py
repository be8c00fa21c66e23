"""Makes the labels of an output unit from transcripts."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain

from ..errors import AlphabetError
from ..text import Alphabet
from ..web.libraries import needs
from .syllables import SYLLABLE, SyllableAlphabet, regular_syllables, syllables_of
from .word_pieces import WordPieceAlphabet

WORD_PIECES = 500
"""The default number of word pieces."""
LONGEST_TEXT = 1 << 30
"""The most bytes that sentencepiece allows for a text; it skips longer ones, by default from 4,192 bytes on."""
LINE_BREAKS = "\n\r"
"""Characters that cannot be labels in an alphabet file."""


def made_alphabet(unit: str, texts: Sequence[str], size: int = WORD_PIECES) -> tuple[Alphabet, bytes]:
    """Return an alphabet that spells texts, of one of the units in MADE, and the content of its file.

    There are at most `size` word pieces. Raise AlphabetError if the texts have no such alphabet, if its library is
    missing, or for a unit whose alphabets are not made of texts.
    """
    if unit not in MADE:
        raise AlphabetError(f"--output_unit={unit}: its alphabet is not made of transcripts; give its file")
    return MADE[unit](texts, size)


def _of_characters(texts: Sequence[str], _size: int) -> tuple[Alphabet, bytes]:
    characters = Alphabet(character_labels(Counter(chain.from_iterable(texts)), least=1))
    return characters, characters.file_text.encode()


def _of_word_pieces(texts: Sequence[str], size: int) -> tuple[Alphabet, bytes]:
    model = word_pieces(texts, size)
    return WordPieceAlphabet.of(model), model


def _of_syllables(texts: Sequence[str], _size: int) -> tuple[Alphabet, bytes]:
    syllables = SyllableAlphabet.of(syllable_labels(texts))
    return syllables, syllables.file_text.encode()


MADE: Mapping[str, Callable[[Sequence[str], int], tuple[Alphabet, bytes]]] = {
    Alphabet.unit: _of_characters,
    WordPieceAlphabet.unit: _of_word_pieces,
    SyllableAlphabet.unit: _of_syllables,
}
"""The units whose alphabets are made of texts, each with a function that returns one and the content of its file."""


def character_labels(counts: Mapping[str, int], least: int) -> tuple[str, ...]:
    """Return the characters, or letters with marks, found at least `least` times: the space, then by code point."""
    chosen = {each for each, count in counts.items() if count >= least and not set(each) & set(LINE_BREAKS)}
    return tuple(sorted(chosen, key=lambda each: (each != " ", each)))


def syllable_labels(texts: Iterable[str]) -> tuple[str, ...]:
    """Return the syllables of Mandarin: those of texts, and all other readings of common characters.

    So the alphabet also fits other recordings. Raise AlphabetError without pypinyin.
    """
    seen = {each for text in texts for each in syllables_of(text) if SYLLABLE.fullmatch(each)}
    return tuple(sorted(seen | regular_syllables()))


def word_pieces(texts: Sequence[str], size: int) -> bytes:
    """Return the file of a sentencepiece model with at most `size` pieces, which contain all characters of the texts.

    Raise AlphabetError if there are more than `size` characters, or without sentencepiece.
    """
    try:
        from sentencepiece import SentencePieceTrainer
    except ImportError:
        raise AlphabetError(needs("making word pieces", ["sentencepiece"], "wordpieces")) from None
    model = io.BytesIO()
    try:
        SentencePieceTrainer.train(
            sentence_iterator=iter(texts),
            model_writer=model,
            vocab_size=size + 1,  # includes the piece for unknown characters, which is no label
            hard_vocab_limit=False,
            max_sentence_length=LONGEST_TEXT,
            model_type="unigram",
            character_coverage=1.0,
            normalization_rule_name="identity",
            bos_id=-1,
            eos_id=-1,
            minloglevel=2,
        )
    except RuntimeError as error:
        characters = len(set("".join(texts)))
        reason = f"{characters} characters, each a piece of its own" if characters >= size else str(error)
        raise AlphabetError(f"{size} word pieces cannot be made of these transcripts: {reason}") from None
    return model.getvalue()
