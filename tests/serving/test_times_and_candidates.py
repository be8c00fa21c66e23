"""Transcripts: when their words are said, and how those of a recording's parts become those of the whole."""

from __future__ import annotations

import itertools

import pytest

from deepspeech.decoder import Hypothesis
from deepspeech.decoder.hypotheses import LabelTexts
from deepspeech.serving.transcripts import TimedWord, Transcript, joined, joined_candidates, transcript


def hypothesis(text: str, frames: list[int]) -> Hypothesis:
    """Return a hypothesis whose characters appear at these frames."""
    texts = LabelTexts(text, range(len(text)))
    return Hypothesis(-1.0, -1.0, 0.0, tuple(range(len(text))), tuple(frames), texts)


@pytest.mark.parametrize(
    ("text", "frames", "times"),
    [
        ("three", [2, 152, 155, 157, 160], [(3.04, 3.22)]),
        ("set a", [16, 57, 61, 63, 70], [(1.14, 1.24), (1.4, 1.42)]),
        ("two set", [0, 4, 8, 12, 110, 150, 155], [(0.0, 0.18), (3.0, 3.12)]),
        ("four", [10, 14, 18, 99], [(0.2, 0.38)]),
        ("a", [3], [(0.06, 0.08)]),
        ("slow", [0, 25, 50, 75], [(0.0, 1.52)]),
    ],
)
def test_a_word_is_said_where_most_of_its_labels_are(
    text: str, frames: list[int], times: list[tuple[float, float]]
) -> None:
    heard = transcript(hypothesis(text, frames), 0.02, [1.0] * len(times))
    assert [(word.start, word.end) for word in heard.words] == times


def part(text: str, score: float) -> Transcript:
    return Transcript(text, (TimedWord(text, 0.5, 0.75),) if text else (), score)


def test_candidates_of_parts_make_the_best_of_the_whole() -> None:
    parts = [
        (0.0, [part("a", -1.0), part("b", -1.5), part("c", -9.0)]),
        (30.0, [part("d", -2.0), part("", -2.25), part("e", -4.0)]),
        (50.0, [part("", -0.5), part("d", -0.625)]),
    ]
    choices = itertools.product(*(candidates for _, candidates in parts))
    whole = [joined(list(zip((0.0, 30.0, 50.0), choice, strict=True))) for choice in choices]
    whole.sort(key=lambda one: -one.confidence)
    texts = list(dict.fromkeys(one.text for one in whole))
    for count in (1, 5, 100):
        found = joined_candidates(parts, count)
        assert [one.text for one in found] == texts[:count]
        assert [one.confidence for one in found] == sorted((one.confidence for one in found), reverse=True)
    assert joined_candidates(parts, 1)[0] == whole[0]
    assert whole[0].words == (TimedWord("a", 0.5, 0.75), TimedWord("d", 30.5, 30.75))
    assert joined_candidates(parts[:1], 3) == list(parts[0][1])
