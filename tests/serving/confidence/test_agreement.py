"""The agreement of hypotheses on words."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

from pytest import approx

from deepspeech.decoder import Hypothesis, Word
from deepspeech.serving.confidence.words import Agreements


class Frame(int):
    """A number of a frame that counts how often such numbers are compared."""

    compared = 0

    def __lt__(self, other: int) -> bool:
        Frame.compared += 1
        return super().__lt__(other)

    def __gt__(self, other: int) -> bool:
        Frame.compared += 1
        return super().__gt__(other)


def hypothesis(*words: Word) -> Hypothesis:
    return cast(Hypothesis, SimpleNamespace(parts=[(word,) for word in words], score=0.0))


def test_only_hypotheses_with_the_word_at_an_overlapping_time_agree() -> None:
    agreements = Agreements(
        [
            hypothesis(Word("yes", 2, 5), Word("yes", 10, 14), Word("yes", 20, 22)),
            hypothesis(Word("yes", 13, 15)),
            hypothesis(Word("yes", 2, 10), Word("yes", 14, 20)),
            hypothesis(Word("yet", 10, 14)),
            hypothesis(),
        ]
    )
    assert agreements.of(Word("yes", 10, 14)) == approx(2 / 5)
    assert agreements.of(Word("yes", 1, 30)) == approx(3 / 5)
    assert agreements.of(Word("yes", 22, 24)) == agreements.of(Word("no", 2, 5)) == 0


def test_the_shares_of_equal_hypotheses_add_up_to_one_at_most() -> None:
    word = Word("yes", 2, 5)
    for count in range(1, 51):
        assert 0.999 < Agreements([hypothesis(word)] * count).of(word) <= 1


def test_words_of_a_long_utterance_are_not_compared_with_all_equal_words() -> None:
    words = [Word("yes", Frame(3 * number), Frame(3 * number + 2)) for number in range(1000)]
    agreements = Agreements([hypothesis(*words)])
    before = Frame.compared
    assert [agreements.of(word) for word in words] == [1] * 1000
    assert Frame.compared - before < 20 * 1000
