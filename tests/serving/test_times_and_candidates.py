"""Transcripts: the times of their words, and joining those of a recording's parts."""

from __future__ import annotations

import itertools
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from untrained import MODELS, signal, untrained

from deepspeech import Model
from deepspeech.decoder import CTCDecoder, Hypothesis
from deepspeech.decoder.hypotheses import LabelTexts
from deepspeech.export.formats import FORMATS
from deepspeech.options import ExportOptions
from deepspeech.serving.server.partials import PartialTranscripts
from deepspeech.serving.subtitles import cues
from deepspeech.serving.transcripts import TimedWord, Transcript, joined, joined_candidates, metadata, transcript
from deepspeech.util.transcripts import letters_with_marks


def hypothesis(text: str, frames: list[int], other_labels: str = " ") -> Hypothesis:
    """Return a hypothesis whose characters appear at these frames; the alphabet has other labels besides."""
    alphabet = f"{text}{other_labels}"
    texts = LabelTexts(alphabet, range(len(alphabet)))
    return Hypothesis(-1.0, -1.0, 0.0, tuple(range(len(text))), tuple(frames), texts)


def sure(heard: Hypothesis, confidence: float = 1.0) -> Transcript:
    """Return a hypothesis with a step of 20 ms, all of whose words and letters have one confidence."""
    return transcript(heard, 0.02, [confidence] * sum(map(len, heard.parts)))


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
    heard = sure(hypothesis(text, frames))
    assert [(word.start, word.end) for word in heard.words] == times


def test_words_end_with_the_audio_where_the_last_step_of_the_network_reaches_further(tmp_path: Path) -> None:
    trained = untrained(*MODELS["lstm_in_shifted_chunks"])
    trained = replace(trained, weights={name: 2 * weights for name, weights in trained.weights.items()})
    (tmp_path / "graph.pb").write_bytes(FORMATS["graph"].serialized(trained, ExportOptions()))
    model = Model(tmp_path / "graph.pb")
    cut_off = 0
    for samples in range(1000, 8000, 500):
        said, end = (signal(samples) * 32_767).astype(np.int16), round(samples / 16_000, 3)
        with model.stream() as stream:
            stream.feed(said)
            partial = stream.partial().transcript
            whole = stream.finish()
        assert whole.words == model.transcribe(said).words
        assert all(word.start <= word.end <= end for word in (*partial.words, *whole.words))
        cut_off += bool(whole.words) and whole.words[-1].end == end
    assert cut_off > 0


def test_texts_without_spaces_have_times_by_phrases() -> None:
    frames = [5, 12, 20, *range(95, 815, 15), 930]  # said in 0.1, 14.1 and 0.02 seconds, with pauses of 1.5 and 2.3
    text = "今天好" + "天气很好我们去" * 6 + "公园散步吧" + "走吧"
    heard = sure(hypothesis(text, frames), 0.5)
    assert heard.text == text == "".join(word.text for word in heard.words)
    assert [(word.text, word.start, word.end) for word in (heard.words[0], heard.words[-1])] == [
        ("今天好", 0.1, 0.42),
        ("吧", 18.6, 18.62),
    ]
    assert {word.confidence for word in heard.words} == {0.5}
    assert len(heard.words) > 4 and max(word.end - word.start for word in heard.words) <= 6
    shown = cues(heard.words)
    assert "".join(cue.text.replace(" ", "") for cue in shown) == text
    assert [cue.start for cue in shown if cue.text[0] in "今吧"] == [0.1, 18.6]


def test_a_phrase_has_the_lowest_confidence_of_its_own_letters() -> None:
    best = hypothesis("好" * 400, list(range(400)))  # eight seconds without a pause
    first, second = transcript(best, 0.02, [0.98766] * 200 + [0.5] * 200).words
    assert (first.end, second.start) == (4.0, 4.0)
    assert (first.confidence, second.confidence) == (0.9877, 0.5)


def test_labels_without_a_space_have_times_by_phrases_in_any_script() -> None:
    heard = sure(hypothesis("123سِنٌ", [0, 10, 20, 100, 110, 120, 200], other_labels="4"))
    assert [(word.text, word.start, word.end) for word in heard.words] == [("123", 0.0, 0.42), ("سِنٌ", 2.0, 4.02)]
    assert [cue.text for cue in cues(heard.words, text=heard.text)] == ["123", "سِنٌ"]


class Heard:
    """The results so far, as far as partial results need them."""

    has_language_model = False
    step_seconds, start, end = 0.02, 1.0, 9.0

    def __init__(self, so_far: Hypothesis) -> None:
        self.so_far = so_far

    def peek(self, _count: int = 1) -> list[Hypothesis]:
        return [self.so_far]

    def confidences(self, _hypotheses: list[Hypothesis], places: range) -> list[float]:
        return [0.1 * place for place in places]


def test_the_last_phrase_of_a_partial_result_is_open_as_its_last_word_is() -> None:
    heard: Any = Heard(hypothesis("今天好吗", [5, 12, 95, 100]))
    partial = PartialTranscripts(heard).newest()
    assert partial is not None
    assert [(word.text, word.start) for word in partial.words] == [("今天", 1.1), ("好吗", 2.9)]
    assert partial.confidences == [0.0, None] and partial.stable_text == "今天好" and partial.stable == 1


def test_phrases_are_cut_where_characters_begin() -> None:
    spelled = "好คำกิ่".encode()
    of_bytes = LabelTexts([bytes([each]) for each in spelled], range(len(spelled)))
    far_apart = Hypothesis(-1, -1, 0, tuple(range(len(spelled))), tuple(range(0, 100 * len(spelled), 100)), of_bytes)
    assert [word.text for word in sure(far_apart).words] == ["好", "ค", "ำ", "กิ่"]
    spaced = sure(hypothesis("ก็ดี go", [0, 99, 300, 399, 400, 500, 501]))
    assert [word.text for word in spaced.words] == ["ก็", "ดี", "go"]


def test_a_phrase_has_the_lowest_confidence_of_its_letters() -> None:
    heard = hypothesis("ก็ดี go", [0, 9, 300, 310, 400, 500, 501])
    assert [[part.text for part in parts] for parts in heard.parts] == [["ก็", "ดี"], ["go"]]
    confidences = [word.confidence for word in transcript(heard, 0.02, [0.2, 0.4, 0.9]).words]
    assert confidences == [0.2, 0.4, 0.9]
    together = hypothesis("今天好", [0, 3, 30])
    assert [(part.start, part.end) for parts in together.parts for part in parts] == [(0, 3), (3, 10), (30, 37)]
    assert [word.confidence for word in transcript(together, 0.02, [0.4, 0.2, 0.9]).words] == [0.2, 0.9]


@pytest.mark.parametrize("spelled", ["ก็ดี go好", "ิ今今"])
def test_letters_are_those_of_the_text_whatever_the_labels_are(spelled: str) -> None:
    said = spelled.encode()
    of_bytes = LabelTexts([bytes([each]) for each in said], range(len(said)))
    places = tuple(range(len(said)))
    letters = [Hypothesis(-1, -1, 0, places, places, of_bytes).parts, hypothesis(spelled, [*range(len(spelled))]).parts]
    bytes_of, characters_of = ([[part.text for part in parts] for parts in each] for each in letters)
    assert bytes_of == characters_of == [letters_with_marks(word) for word in spelled.split()]


@pytest.mark.parametrize(
    ("said", "so_far"),
    [
        *(("น้".encode()[:count], "น"[: count // 3]) for count in range(6)),
        (b"a\xf0\x9f\x98", "a"),
        (b"a\xff", "a\ufffd"),
        (b"\xe0\x80", "\ufffd\ufffd"),
        (b"\x80\x80\x80\x80\xc3", "\ufffd" * 4),
    ],
)
def test_a_character_is_so_far_left_out_until_all_its_bytes_are_there(said: bytes, so_far: str) -> None:
    texts, places = LabelTexts([bytes([each]) for each in said], range(len(said))), tuple(range(len(said)))
    heard = Hypothesis(-1.0, -1.0, 0.0, places, places, texts).so_far()
    assert heard.text == so_far and len(heard.timesteps) == len(heard.labels)


@pytest.mark.parametrize(
    ("labels", "spaced", "tokens"),
    [
        (("s", "i", "x", " "), True, [("s", 0), ("i", 1), ("x", 2)]),
        ((" ", "s", "i", " ", "x"), True, [("s", 1), ("i", 2), (" ", 3), ("x", 4)]),
        ((" ",), True, []),
        ((" six", "ty", " one", " "), False, [("six", 0), ("ty", 1), (" one", 2)]),
        ((" ", "s", "i", "x", " "), False, [(" ", 0), ("s", 1), ("i", 2), ("x", 3), (" ", 4)]),
    ],
)
def test_tokens_spell_the_text(labels: tuple[str, ...], spaced: bool, tokens: list[tuple[str, int]]) -> None:
    texts, places = LabelTexts(labels, range(len(labels)), spaced=spaced), tuple(range(len(labels)))
    heard = Hypothesis(-1.0, -1.0, 0.0, places, places, texts)
    (told,) = metadata([heard], 0.02, 0.0).transcripts
    assert [(token.text, token.timestep) for token in told.tokens] == tokens
    assert "".join(token.text for token in told.tokens) == heard.text


@pytest.mark.parametrize(
    "labels",
    [" ab'-", [" ", " a", " ab", "a", "b"], [b" ", b"a", b"\xc3", b"\xa4", b"\xe4"], [" ", "ch", "a", "b", "'"]],
)
@given(st.lists(st.integers(0, 4), max_size=12))
def test_the_text_of_words_has_one_space_between_them(labels: Sequence[str | bytes], heard: list[int]) -> None:
    texts = LabelTexts(labels, range(len(labels)), spaced=True)
    words = texts.words(heard, range(len(heard)))
    assert texts.text(heard) == " ".join(word.text for word in words)


def test_the_times_of_joined_parts_are_rounded_too() -> None:
    part = Transcript("a", (TimedWord("a", 0.2, 0.7),), -1.0)
    (word,) = joined([(0.1, part)]).words
    assert (word.start, word.end) == (0.3, 0.8)


def test_parts_of_a_model_without_a_space_are_joined_without_one() -> None:
    texts = ("abc", "", "ba")
    decoder = CTCDecoder("abc")
    rows = [np.eye(4, dtype=np.float32)[["abc".index(each) for each in text]] for text in texts]
    hypotheses = [decoder.decode(each)[0] for each in rows]
    parts = [(30.0 * place, sure(each)) for place, each in enumerate(hypotheses)]
    assert joined(parts).text == "abcba"
    assert joined([(0.0, joined(parts)), parts[0]]).text == "abcbaabc"
    assert joined_candidates([(start, [one]) for start, one in parts], 1)[0].text == "abcba"


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


def test_hours_of_parts_are_joined_in_no_more_time_than_their_texts_need() -> None:
    words = [" ".join(f"word{number}x{place}" for place in range(50)) for number in range(3)]
    parts = [(20.0 * place, [part(text, -1.0 - number) for number, text in enumerate(words)]) for place in range(1000)]
    begin = time.process_time()
    found = joined_candidates(parts, 3)
    assert time.process_time() - begin < 3
    assert [one.confidence for one in found] == [-1000.0, -1001.0, -1001.0]


@pytest.mark.parametrize(
    ("texts", "whole"),
    [
        (["two seven ", "", " ", " six "], "two seven six "),
        (["今天", "天气", "很好"], "今天天气很好"),
        (["我们去", "starbucks", "吧"], "我们去 starbucks 吧"),
        (["ไป", "ไหน"], "ไปไหน"),
        ([""], ""),
    ],
)
def test_parts_are_one_text_with_the_spaces_of_its_script(texts: list[str], whole: str) -> None:
    parts = [(30.0 * number, part(text, -1.0)) for number, text in enumerate(texts)]
    assert joined(parts).text == whole
    assert joined_candidates([(start, [one]) for start, one in parts], 1)[0].text == whole
