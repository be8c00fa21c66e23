"""Word and character errors of transcripts, counted so that sums over a corpus stay exact."""

from __future__ import annotations

from dataclasses import dataclass, fields
from operator import add, attrgetter

from ..transcripts import words_of
from .errors.alignment import align, error_kinds
from .syllable_errors import syllable_errors


@dataclass(frozen=True)
class EditCounts:
    """Edits (insertions, deletions, substitutions) that turn hypotheses into references, and the references' lengths.

    Counts of utterances are added with `sum(counts, EditCounts())`, so rates are summed edits over summed lengths. If
    all references are empty, a rate uses the length 1. `substitutions`, `insertions` and `deletions` are the word edits
    by kind; they are 0 in counts from older versions. Syllables are counted in Mandarin only.
    """

    word_edits: int = 0
    words: int = 0
    character_edits: int = 0
    characters: int = 0
    utterances: int = 0
    substitutions: int = 0
    insertions: int = 0
    deletions: int = 0
    syllable_edits: int = 0
    toneless_syllable_edits: int = 0
    """Edits of the syllables without tones."""
    syllables: int = 0

    def __add__(self, other: EditCounts) -> EditCounts:
        return EditCounts(*map(add, _counts_of(self), _counts_of(other)))

    @property
    def wer(self) -> float:
        """Word error rate: word edits per reference word; above 1 if much was inserted."""
        return self.word_edits / max(self.words, 1)

    @property
    def cer(self) -> float:
        """Character error rate: character edits per reference character."""
        return self.character_edits / max(self.characters, 1)

    @property
    def are_mandarin(self) -> bool:
        """Whether most words are of Mandarin; a few texts of Japanese have only characters that Chinese has, too."""
        return 2 * self.syllables > self.words

    @property
    def syllable_error_rate(self) -> float:
        """Syllable edits per reference syllable of Mandarin; a wrong tone is an error."""
        return self.syllable_edits / max(self.syllables, 1)

    @property
    def toneless_syllable_error_rate(self) -> float:
        """The same without tones."""
        return self.toneless_syllable_edits / max(self.syllables, 1)

    @property
    def mean_edit_distance(self) -> float:
        """Character edits per utterance."""
        return self.character_edits / max(self.utterances, 1)


_counts_of = attrgetter(*(each.name for each in fields(EditCounts)))
"""Returns the counts in their order. It must be fast: a coordinator adds thousands of them a second."""


def evaluate_transcript(reference: str, hypothesis: str) -> EditCounts:
    """Compare the hypothesis with the reference; words are those of `words_of`."""
    from rapidfuzz.distance import Levenshtein

    reference_words = words_of(reference)
    kinds = error_kinds(align(reference_words, words_of(hypothesis)))
    of_syllables = syllable_errors(reference, hypothesis)
    return EditCounts(
        word_edits=kinds.total,
        words=len(reference_words),
        character_edits=Levenshtein.distance(reference, hypothesis),
        characters=len(reference),
        utterances=1,
        substitutions=kinds.substitutions,
        insertions=kinds.insertions,
        deletions=kinds.deletions,
        syllable_edits=of_syllables.edits,
        toneless_syllable_edits=of_syllables.toneless_edits,
        syllables=of_syllables.syllables,
    )
