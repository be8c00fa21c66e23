"""The part of a transcript in progress that will not change."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest

from deepspeech import Model
from deepspeech.decoder import Hypothesis
from deepspeech.decoder.hypotheses import LabelTexts
from deepspeech.serving.confidence.stability import parts, stable_text, stable_words
from deepspeech.serving.transcripts import TimedWord, transcript
from deepspeech.util.audio import read_audio


def said(text: str, score: float = 0.0, other_labels: str = " ") -> Hypothesis:
    """Return a hypothesis with its text and score; a label appears every 10 frames."""
    alphabet = f"{text}{other_labels}"
    frames = tuple(range(0, 10 * len(text), 10))
    return Hypothesis(score, score, 0.0, tuple(range(len(text))), frames, LabelTexts(alphabet, range(len(alphabet))))


def timed(texts: str) -> list[TimedWord]:
    return [TimedWord(text, 0.0, 0.0) for text in texts.split("|")]


@pytest.mark.parametrize("with_scorer", [False, True])
def test_stable_words_of_a_transcript_in_progress_stay(
    graph_file: Path, scorer_file: Path, recordings: list[Path], with_scorer: bool
) -> None:
    model = Model(graph_file)
    if with_scorer:
        model.enableExternalScorer(scorer_file)
    changed, stable, stable_changed = 0, 0, 0
    for recording in recordings:
        samples = (read_audio(recording, model.sampleRate()) * 32767).astype(np.int16)
        stream = model.stream()
        partials = []
        for start in range(0, len(samples), 1600):
            stream.feed(samples[start : start + 1600])
            partials.append(stream.partial())
        final = [word.text for word in stream.finish().words]
        for each in partials:
            words = [word.text for word in each.transcript.words]
            differ = [number >= len(final) or word != final[number] for number, word in enumerate(words)]
            changed += sum(differ)
            stable += each.stable_words
            stable_changed += sum(differ[: each.stable_words])
            assert each.stable_text.split() == words[: each.stable_words]
            assert each.transcript.text.startswith(each.stable_text)
    assert stable > 0
    assert stable_changed <= 0.01 * stable
    assert changed > 0


@pytest.mark.parametrize("text", ["a b c d", "今天天气", "ก็ดีมา", "去 a b好"])
def test_the_last_part_is_never_stable(text: str) -> None:
    finished = "".join(parts(text)[:-1])
    assert finished in ("a b c", "今天天", "ก็ดีม", "去 a b") and text.startswith(finished)
    assert stable_text([said(text)], has_language_model=False) == finished
    assert stable_text([said(text), said(text, -1.0)], has_language_model=True) == finished
    assert stable_text([said("")], has_language_model=True) == ""


@pytest.mark.parametrize("texts", [("a b c d", "a b x d", "y b c d"), ("今天很好", "今天真好", "明天很好")])
def test_the_text_is_stable_up_to_where_the_probable_hypotheses_part(texts: tuple[str, str, str]) -> None:
    likely, rival, unlikely = (said(text, score) for text, score in zip(texts, (0.0, -1.0, -9.0), strict=True))
    for hypotheses, stable in (([likely, unlikely], 3), ([likely, rival, unlikely], 2), ([said("a"), rival], 0)):
        text = hypotheses[0].text
        assert parts(stable_text(hypotheses, has_language_model=True)) == parts(text)[:stable]


def test_the_letters_of_a_model_without_a_space_become_stable_one_by_one() -> None:
    assert stable_text([said("1234", other_labels="")], has_language_model=False) == "123"
    assert stable_text([said("1234")], has_language_model=False) == ""


def test_words_within_the_stable_text_are_stable_and_phrases_before_more_of_it() -> None:
    assert stable_words(timed("turn|on|the"), "turn on the", "turn on") == 2
    assert stable_words(timed("今天|很好"), "今天很好", "今天") == 0
    assert stable_words(timed("今天|很好"), "今天很好", "今天很") == 1
    assert stable_words(timed("今天|好|很好"), "今天 好很好", "今天") == 1
    assert stable_words([], "", "") == 0


def test_the_stable_words_of_an_hour_are_counted_in_no_time() -> None:
    words = " ".join(map(str, range(9000)))
    hypotheses = [said(f"{words} {number}", -float(number)) for number in range(10)]
    heard = transcript(hypotheses[0], 0.02, [1.0] * 9001)
    begin = time.process_time()
    stable = stable_text(hypotheses, has_language_model=True)
    assert stable_words(heard.words, heard.text, stable) == 9000
    assert time.process_time() - begin < 1.0
