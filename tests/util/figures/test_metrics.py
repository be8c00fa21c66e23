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


def test_in_scripts_without_spaces_each_character_counts_as_a_word() -> None:
    counts = evaluate_transcript("我爱 hip-hop音乐", "我爱hip音 月")
    assert (counts.words, counts.word_edits, counts.substitutions) == (5, 2, 2)
    thai = evaluate_transcript("\u0e19\u0e49\u0e33", "\u0e19\u0e33")
    assert (thai.words, thai.word_edits) == (2, 1)


def test_an_invisible_joiner_is_no_word_of_its_own() -> None:
    assert evaluate_transcript("\u1794\u200d\u17c9\u1780", "\u1794\u200d\u17c9\u1780").words == 2


def test_katakana_of_half_the_width_count_as_the_others() -> None:
    counts = evaluate_transcript("\uff76\uff9e\uff72\uff84\uff9e 駅", "\uff76\uff72\uff84\uff9e 駅")
    assert (counts.words, counts.word_edits, counts.syllables) == (4, 1, 0)
    assert evaluate_transcript("\u30a2\u31f0", "\u30a2").words == 2


def test_mandarin_is_compared_in_syllables_with_and_without_tones() -> None:
    counts = evaluate_transcript("妈妈骂马", "妈妈马抹")
    assert counts.word_edits == 2
    assert (counts.syllables, counts.syllable_edits, counts.toneless_syllable_edits) == (4, 2, 1)
    spoken = evaluate_transcript("ma1 ma5 ma4 ma3", "ma1 ma5 ma3 mo3")
    assert (spoken.words, spoken.syllable_edits, spoken.toneless_syllable_edits) == (4, 2, 1)
    homophones = evaluate_transcript("他在公园", "她再公圆")
    assert (homophones.word_edits, homophones.syllable_edits) == (3, 0)
    assert sum([counts, homophones], EditCounts()).syllable_error_rate == 2 / 8


@pytest.mark.parametrize("text", ["mama", "ひらがな漢字", "", "ma 1"])
def test_other_languages_have_no_syllable_errors(text: str) -> None:
    assert evaluate_transcript(text, "妈妈").syllables == 0


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
