import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepspeech.util.figures.metrics import EditCounts, evaluate_transcript

TEXTS = st.text("abc ", max_size=20)


def test_words_and_characters_are_counted_apart() -> None:
    counts = evaluate_transcript("one two three", "one too three four")
    assert counts == EditCounts(
        word_edits=2,
        words=3,
        character_edits=6,
        characters=13,
        utterances=1,
        substitutions=1,
        insertions=1,
        deletions=0,
    )
    assert counts.wer == pytest.approx(2 / 3)
    assert counts.cer == pytest.approx(6 / 13)
    assert counts.mean_edit_distance == 6


def test_rates_of_a_corpus_weigh_utterances_by_length() -> None:
    counts = [evaluate_transcript("a", "b"), evaluate_transcript("one two three", "one two three")]
    total = sum(counts, EditCounts())
    assert total.wer == pytest.approx(1 / 4)
    assert total.cer == pytest.approx(1 / 14)
    assert total.mean_edit_distance == pytest.approx(1 / 2)


def test_insertions_can_take_the_error_rate_above_one() -> None:
    assert evaluate_transcript("one", "one two three").wer == 2


def test_nothing_evaluated_has_no_errors() -> None:
    assert (EditCounts().wer, EditCounts().cer, EditCounts().mean_edit_distance) == (0, 0, 0)


def test_extra_spaces_are_no_word_errors() -> None:
    assert evaluate_transcript("one two", " one  two ").word_edits == 0


@given(TEXTS, TEXTS)
def test_edits_are_bounded_by_the_texts(reference: str, hypothesis: str) -> None:
    counts = evaluate_transcript(reference, hypothesis)
    assert abs(len(reference) - len(hypothesis)) <= counts.character_edits <= max(len(reference), len(hypothesis))
    assert (counts.character_edits == 0) == (reference == hypothesis)
    assert counts.word_edits <= max(len(reference.split()), len(hypothesis.split()))
    assert (counts.word_edits == 0) == (reference.split() == hypothesis.split())


@given(st.lists(st.tuples(TEXTS, TEXTS)))
def test_counts_add_up(pairs: list[tuple[str, str]]) -> None:
    total = sum((evaluate_transcript(*pair) for pair in pairs), EditCounts())
    assert total.utterances == len(pairs)
    assert total.characters == sum(len(reference) for reference, _ in pairs)
