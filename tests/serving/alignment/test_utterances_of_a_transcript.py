"""The utterances of a transcript have all of its words, and none of its long pauses."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from deepspeech.serving.alignment.utterances import MARGIN_SECONDS, PAUSE_SECONDS, utterances_of
from deepspeech.serving.transcripts import TimedWord, Transcript


def transcript(*words: tuple[str, float, float, float]) -> Transcript:
    return Transcript(" ".join(text for text, *_ in words), tuple(TimedWord(*word) for word in words), -1.0)


def test_a_pause_ends_an_utterance_and_its_lowest_confidence_counts() -> None:
    first, second = utterances_of(transcript(("good", 0.1, 0.4, 0.9), ("day", 0.6, 0.9, 0.7), ("yes", 2.0, 2.2, 0.95)))
    assert (first.text, first.part, first.confidence) == ("good day", (0.0, 1.15), 0.7)
    assert (second.text, second.part, second.confidence) == ("yes", (1.75, 2.45), 0.95)


def test_text_without_spaces_gets_none() -> None:
    words = (TimedWord("你好", 0.3, 0.9, 0.8), TimedWord("世界", 1.0, 1.5, 0.8), TimedWord("再见", 3.0, 3.5, 0.8))
    assert [each.text for each in utterances_of(Transcript("你好世界再见", words, -1.0))] == ["你好世界", "再见"]


def test_nothing_said_is_no_utterance() -> None:
    assert not list(utterances_of(Transcript("", (), -1.0)))


@given(st.lists(st.tuples(st.sampled_from(["a", "bc"]), st.floats(0, 2), st.floats(0.02, 1), st.floats(0, 1))))
def test_utterances_have_all_words_in_order_do_not_overlap_and_have_no_long_pause(
    said: list[tuple[str, float, float, float]],
) -> None:
    words, now = [], 0.0
    for text, pause, seconds, confidence in said:
        words.append((text, now + pause, now + pause + seconds, confidence))
        now += pause + seconds
    utterances = list(utterances_of(transcript(*words)))
    assert " ".join(each.text for each in utterances) == " ".join(text for text, *_ in words)
    assert all(before.part.end <= after.part.start + 1e-9 for before, after in pairwise(utterances))
    pauses = [after[1] - before[2] for before, after in pairwise(words)]
    assert len(utterances) == (sum(pause > PAUSE_SECONDS for pause in pauses) + 1 if words else 0)
    assert all(each.part.end - each.part.start > MARGIN_SECONDS for each in utterances)
