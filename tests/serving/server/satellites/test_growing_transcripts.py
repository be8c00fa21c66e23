"""Transcripts that are told while they grow, as events of Wyoming's protocol."""

from __future__ import annotations

import pytest

pytest.importorskip("wyoming")

from wyoming.asr import Transcript, TranscriptChunk

from deepspeech.serving.server.live.protocol import Alternative, Final, Partial
from deepspeech.serving.server.wyoming.answers import GrowingTranscript


def test_words_are_told_once_they_stay() -> None:
    def final(number: int, text: str, *, spaced: bool = True) -> Final:
        return Final(number, [Alternative(text, [], None, spaced)], 0, 1, "silence")

    growing = GrowingTranscript("xx")
    events = [
        *growing.grow(Partial(0, "turn", [], 0, "", 0.1)),
        *growing.grow(Partial(0, "turn on the", [], 2, "turn on", 0.2)),
        *growing.grow(Partial(0, "turn on the light", [], 2, "turn on", 0.3)),
        *growing.grow(final(0, "turn on the  lights")),  # two spaces, as a search without a language model may find
        *growing.grow(final(1, "")),
        *growing.grow(final(1, "please")),
        *growing.end(),
    ]
    told = [TranscriptChunk.from_event(event).text for event in events if TranscriptChunk.is_type(event.type)]
    assert told == ["turn on", " the lights", " please"]
    assert Transcript.from_event(events[-2]) == Transcript("turn on the lights please", language="xx")
    for parts, spaced in ((["打开", "灯"], True), (["12", "3"], False)):  # the digits of a model without a space
        joined = GrowingTranscript("zh")
        events = [event for each in parts for event in joined.grow(final(0, each, spaced=spaced))] + [*joined.end()]
        assert [TranscriptChunk.from_event(event).text for event in events[1:3]] == parts
        assert Transcript.from_event(events[-2]) == Transcript("".join(parts), language="zh")


@pytest.mark.parametrize(("text", "spaced"), [("打开灯", True), ("123", False)])
def test_letters_are_told_once_they_stay_where_there_are_no_spaces(text: str, spaced: bool) -> None:
    growing = GrowingTranscript("zh")
    events = [
        *growing.grow(Partial(0, text[:2], [], 0, text[:1], 0.1, spaced)),
        *growing.grow(Partial(0, text, [], 0, text[:2], 0.2, spaced)),
        *growing.grow(Final(0, [Alternative(text, [], None, spaced)], 0, 1, "silence")),
        *growing.grow(Partial(1, text, [], 0, text[:2], 0.2, spaced)),
    ]
    assert [TranscriptChunk.from_event(event).text for event in events[1:]] == [*text, text[:2]]


def test_a_word_that_goes_on_in_a_script_without_spaces_is_told_once() -> None:
    growing = GrowingTranscript("zh")
    events = [
        *growing.grow(Partial(0, "iPhone手", [], 0, "iPhone", 0.1)),
        *growing.grow(Partial(0, "iPhone手机", [], 0, "iPhone手", 0.2)),
        *growing.grow(Final(0, [Alternative("iPhone手机", [], None)], 0, 1, "silence")),
    ]
    assert [TranscriptChunk.from_event(event).text for event in events[1:]] == ["iPhone", "手", "机"]
