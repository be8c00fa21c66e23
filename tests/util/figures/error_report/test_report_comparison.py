"""The comparison of two tests of the same utterances."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tested_utterances import results

from deepspeech.errors import CorpusError
from deepspeech.util.figures.error_report.comparison import compare
from deepspeech.util.figures.error_report.comparison_text import comparison_lines


def test_a_model_does_not_differ_from_itself() -> None:
    comparison = compare(results(50), results(50))
    assert {rate.probability for rate in comparison.rates} == {1}
    assert (comparison.better, comparison.worse, comparison.better_words, comparison.worse_words) == ((), (), (), ())
    lines = comparison_lines(comparison, "a", "b")
    assert lines[-1] == "No difference: both heard the same in every utterance."


def test_a_better_model_is_told_from_a_worse_one() -> None:
    worse, better = results(300, error_rate=0.2), results(300, error_rate=0.1)
    comparison = compare(worse, better)
    wer = comparison.rates[0]
    assert wer.second < wer.first
    assert wer.interval.low < wer.second - wer.first < wer.interval.high < 0
    assert wer.probability < 0.05
    assert comparison.by_speaker
    assert any(line.startswith("B is better: ") for line in comparison_lines(comparison, "a", "b"))
    backwards = compare(better, worse)
    assert [each.more_errors for each in backwards.worse] == [-each.more_errors for each in comparison.better]
    assert any(line.startswith("A is better: ") for line in comparison_lines(backwards, "a", "b"))


@pytest.mark.parametrize("speakers", range(1, 9))
def test_a_model_that_hears_all_speakers_better_is_better_however_few_they_are(speakers: int) -> None:
    first, second = (
        [replace(each, columns={"speaker": f"s{each.line % speakers}"}) for each in results(80, error_rate=rate)]
        for rate in (0.5, 0.1)
    )
    assert any(line.startswith("B is better: ") for line in comparison_lines(compare(first, second), "a", "b"))


def test_speakers_that_only_one_report_names_are_drawn_all_the_same() -> None:
    """One model was tested before its CSV had a column with the speakers."""
    named, unnamed = results(80, error_rate=0.5), [replace(each, columns={}) for each in results(80, error_rate=0.4)]
    both = compare(named, [replace(each, columns=one.columns) for each, one in zip(unnamed, named, strict=True)])
    assert both.by_speaker
    for one, two in ((named, unnamed), (unnamed, named)):
        assert compare(one, two).by_speaker
    assert compare(named, unnamed).rates == both.rates


def test_a_difference_of_one_word_is_not_significant() -> None:
    first = results(50, error_rate=0)
    second = [replace(first[0], hypothesis="six six six six six six six six"), *first[1:]]
    comparison = compare(first, second)
    (changed,) = comparison.worse
    assert changed.first is first[0]
    assert any(line.startswith("No significant difference") for line in comparison_lines(comparison, "a", "b"))


def test_words_that_changed_are_counted_in_both() -> None:
    first, second = (
        [replace(each, reference="four eight", hypothesis=heard) for each in results(10)]
        for heard in ("for eight", "four ate")
    )
    comparison = compare(first, second)
    (better,) = comparison.better_words
    assert (better.word, better.first, better.second) == ("four", 10, 0)
    (worse,) = comparison.worse_words
    assert (worse.word, worse.first, worse.second) == ("eight", 0, 10)


def test_only_what_both_were_tested_on_counts() -> None:
    comparison = compare(results(40), results(50)[10:])
    assert (comparison.utterances, comparison.only_first, comparison.only_second) == (30, 10, 10)


def test_a_corpus_that_was_moved_is_still_the_same() -> None:
    comparison = compare(results(20), results(20, folder=Path("/elsewhere/wav")))
    assert comparison.utterances == 20


def test_recordings_that_are_listed_twice_are_paired_in_order() -> None:
    twice = [*results(5), *results(5)]
    assert compare(twice, twice).utterances == 10


def test_reports_of_different_corpora_cannot_be_compared() -> None:
    with pytest.raises(CorpusError, match="no utterance in common"):
        compare(results(5), results(5, folder=Path("/other")))


def test_reports_with_other_transcripts_of_the_same_recordings_are_told_so() -> None:
    syllables = [replace(result, reference="ni3 hao3", hypothesis="ni3 hao4") for result in results(5)]
    with pytest.raises(CorpusError, match=r"other transcripts of the same recordings, such as .* 'ni3 hao3'"):
        compare(results(5), syllables)
