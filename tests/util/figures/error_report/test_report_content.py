"""The content of a report on a test."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

import pytest
from tested_utterances import results

from deepspeech.util.figures.error_report import content
from deepspeech.util.figures.error_report.content import make_report
from deepspeech.util.figures.error_report.findings import quoted
from deepspeech.util.figures.error_report.groups import NO_VALUE, groupings
from deepspeech.util.figures.metrics import EditCounts, evaluate_transcript


def test_the_figures_are_those_of_the_terminals_report() -> None:
    tested = results(80)
    total = sum((evaluate_transcript(each.reference, each.hypothesis) for each in tested), EditCounts())
    report = make_report("a model", tested)
    summary = report.summary
    assert (summary.wer.value, summary.cer.value) == (total.wer, total.cer)
    assert (summary.words, summary.word_errors.total, report.words.kinds.total) == (
        total.words,
        total.word_edits,
        total.word_edits,
    )
    assert report.labels.kinds.total == total.character_edits
    assert summary.sentence_error_rate.value == sum(each.edits.word_edits > 0 for each in tested) / 80
    assert summary.drawn_by_speaker
    for rate in (summary.wer, summary.cer, summary.sentence_error_rate):
        assert rate.interval is not None
        assert rate.interval.low < rate.value < rate.interval.high
    assert sum(error.count for error in report.words.frequent) <= total.word_edits
    written = json.loads(report.to_json())
    assert written["summary"]["wer"]["value"] == total.wer
    assert written["words"]["frequent"][0]["count"] == report.words.frequent[0].count


def test_the_worst_utterances_and_all_examples_are_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(content, "LISTED_UTTERANCES", 5)
    report = make_report("a model", results(200))
    listed = [each.number for each in report.utterances]
    rates = [each.result.edits.wer for each in report.utterances]
    assert rates == sorted(rates, reverse=True)
    assert len(listed) < report.wrong_utterances
    examples = {number for error in (*report.words.frequent, *report.labels.frequent) for number in error.examples}
    assert examples <= set(listed)
    assert len(listed) <= len(examples) + 5


def test_a_worse_speaker_stands_out() -> None:
    report = make_report("a model", results(400))
    (grouping, *_) = report.groupings
    assert (grouping.title, grouping.groups[0].name) == ("Speaker", "s7")
    assert sum(f"{quoted('s7')} is worse than all together" in finding for finding in report.findings) == 1
    assert not any(quoted("s1") in finding for finding in report.findings)


def test_errors_in_few_recordings_are_told_from_errors_everywhere() -> None:
    right = results(90, error_rate=0)
    wrong = [replace(each, hypothesis="") for each in results(20)[10:]]
    assert make_report("a model", [*right, *wrong]).findings[0].startswith("Half of all word errors are in ")
    assert make_report("a model", wrong).findings[0] == (
        "Word errors are spread over the whole test: 100.0\u00a0% of the utterances have one."
    )


def test_a_test_without_errors_says_so() -> None:
    report = make_report("a model", results(20, error_rate=0))
    assert report.findings == ("Every word was recognized correctly.",)
    assert report.utterances == ()
    assert report.words.table.items == ()
    assert report.summary.wer.interval is None  # all draws would give 0 to 0, which promises too much


def test_a_single_utterance_has_no_interval() -> None:
    report = make_report("a model", results(1))
    assert report.summary.wer.interval is None
    assert report.groupings == ()


def test_the_language_models_part_is_told() -> None:
    tested = [replace(each, without_language_model="six") for each in results(40)]
    report = make_report("a model", tested)
    assert report.without_language_model is not None
    assert report.without_language_model.wer.value > 0.5
    assert any(finding.startswith("The language model lowers the word error rate") for finding in report.findings)


def test_utterances_are_grouped_by_what_is_measured_and_by_every_column() -> None:
    tested = [
        replace(
            each,
            columns={
                **each.columns,
                "age": ("teens", "")[number % 2],
                "distance": str(number % 20),
                "sentence": f"sentence {number}",
                "duration": str(each.seconds),
            },
        )
        for number, each in enumerate(results(80))
    ]
    tested[0] = replace(tested[0], loudness=None)
    by_title = {grouping.title: grouping for grouping in groupings(tested)}
    ranges = ["Duration", "Speaking rate", "Loudness", "Signal-to-noise ratio"]
    assert list(by_title) == ["Speaker", *ranges, "age", "distance"]
    assert {group.name for group in by_title["age"].groups} == {"teens", NO_VALUE}
    assert [len(by_title[name].groups) for name in (*ranges, "distance")] == [4] * 5
    for title, grouping in by_title.items():
        counted = sum(group.summary.utterances for group in grouping.groups)
        assert counted == (79 if title == "Loudness" else 80)
    assert by_title["distance"].groups[0].name.startswith("up to ")
    assert by_title["Duration"].groups[-1].name.endswith("\u00a0s")


@pytest.mark.parametrize("texts", [[*"12345678", ""], [*"1234567", "1.0", "2.0"]])
def test_each_of_up_to_eight_numbers_makes_a_group(texts: Sequence[str]) -> None:
    tested = [replace(each, columns={"age": texts[number % 9]}) for number, each in enumerate(results(36))]
    (of_ages,) = (grouping for grouping in groupings(tested) if grouping.title == "age")
    assert {group.name for group in of_ages.groups} == {text or NO_VALUE for text in texts}


def test_speakers_of_lists_that_name_them_in_different_columns_are_all_known() -> None:
    tested = [
        replace(each, columns={("speaker", "client_id", "note")[number % 3]: f"s{number % 4}"})
        for number, each in enumerate(results(24))
    ]
    (speakers, *others) = groupings(tested)
    assert (speakers.title, speakers.definition) == ("Speaker", "by the column speaker or client_id")
    counts = {group.name: group.summary.utterances for group in speakers.groups}
    assert counts == {NO_VALUE: 8, "s0": 4, "s1": 4, "s2": 4, "s3": 4}
    assert not {"speaker", "client_id"} & {each.title for each in others}


def test_of_many_speakers_the_worst_are_listed() -> None:
    tested = [replace(each, columns={"speaker": f"s{number // 2}"}) for number, each in enumerate(results(80))]
    (speakers, *_) = groupings(tested)
    assert (len(speakers.groups), speakers.left_out) == (30, 10)
    rates = [group.summary.wer.value for group in speakers.groups]
    assert rates == sorted(rates, reverse=True)
