"""The search finds the results of an exhaustive search and, with a narrow beam, those of a plain beam search."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from exhaustive import (
    CharacterRanking,
    Ranking,
    acoustic_scores,
    forward_score,
    occurrences,
    pruned_scores,
    sentence_scores,
    write_arpa,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from deepspeech.decoder import CTCDecoder, DecoderOptions, Scorer

kenlm = pytest.importorskip("kenlm", reason="KenLM's own package cannot be built for this Python")

WORDS = ("a", "b", "ab", "ba", "bb", "aab")
LABELS = (" ", "a", "b")
EVERYTHING = DecoderOptions(beam_width=4096, result_count=4096)


def random_posteriors(rng: np.random.Generator, frames: int, columns: int) -> npt.NDArray[np.float64]:
    return rng.dirichlet(np.full(columns, rng.choice([0.1, 1.0])), frames)


@given(seed=st.integers(0, 2**32 - 1), frames=st.integers(1, 6), columns=st.integers(2, 4))
@settings(max_examples=1000, deadline=None)
def test_without_scorer_every_transcript_has_its_exact_score(seed: int, frames: int, columns: int) -> None:
    posteriors = random_posteriors(np.random.default_rng(seed), frames, columns)
    expected = acoustic_scores(posteriors)
    results = CTCDecoder("xyz"[: columns - 1], EVERYTHING).decode(posteriors)
    found = {result.labels: result.score for result in results}
    assert len(found) == len(results)
    for transcript, score in expected.items():
        if score > -60:
            assert found[transcript] == pytest.approx(score, abs=2e-4)
    scores = [result.score for result in results]
    assert scores == sorted(scores, reverse=True)


@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=50, deadline=None)
def test_with_more_than_64_labels_every_transcript_has_its_exact_score(seed: int) -> None:
    columns = [0, 5, 64, 65]  # 0 and 64 are the same modulo 64
    posteriors = np.zeros((4, 66))
    posteriors[:, columns] = random_posteriors(np.random.default_rng(seed), 4, len(columns))
    results = CTCDecoder([chr(ord("0") + label) for label in range(65)], EVERYTHING).decode(posteriors)
    found = {result.labels: result.score for result in results}
    for transcript, score in acoustic_scores(posteriors[:, columns]).items():
        if score > -60:
            assert found[tuple(columns[label] for label in transcript)] == pytest.approx(score, abs=2e-4)


@given(
    seed=st.integers(0, 2**32 - 1),
    frames=st.integers(1, 6),
    lm_weight=st.just(0.0) | st.floats(-2, 3),
    bonus=st.floats(-3, 3),
    unknown=st.just(-math.inf) | st.floats(-5, 5),
    sentence_end=st.booleans(),
    hot_words=st.dictionaries(
        st.sampled_from(["a", "ab", "aa", "baa", "a b", "b a", "a b a", "a aa", "ba", "ba "]), st.floats(-3, 3)
    ),
)
@settings(max_examples=700, deadline=None)
def test_with_scorer_every_sentence_has_its_exact_score(
    tmp_path_factory: pytest.TempPathFactory,
    seed: int,
    frames: int,
    lm_weight: float,
    bonus: float,
    unknown: float,
    sentence_end: bool,
    hot_words: dict[str, float],
) -> None:
    rng = np.random.default_rng(seed)
    path = tmp_path_factory.getbasetemp() / "random.arpa"
    write_arpa(path, WORDS, rng)
    model = kenlm.Model(str(path))
    posteriors = random_posteriors(rng, frames, len(LABELS) + 1)
    options = DecoderOptions(
        beam_width=4096,
        lm_weight=lm_weight,
        valid_word_count_weight=bonus,
        sentence_end=sentence_end,
        result_count=4096,
        unknown_word_score=unknown,
        hot_words=hot_words,
    )
    results = CTCDecoder(LABELS, options, Scorer.load(LABELS, path)).decode(posteriors)
    found = {tuple(result.text.split()): result for result in results}
    assert len(found) == len(results)
    hot = {word for phrase in hot_words for word in phrase.split()}
    for words, acoustic in sentence_scores(posteriors, LABELS).items():
        if acoustic < -60:
            continue
        if any(word not in WORDS and word not in hot for word in words) and unknown == -math.inf:
            assert words not in found
            continue
        lm_score = model.score(" ".join(words), eos=sentence_end) * math.log(10)
        bonuses = sum(bonus if word in WORDS else 0 if word in hot else unknown for word in words)
        bonuses += sum(boost * occurrences(phrase.split(), words) for phrase, boost in hot_words.items())
        result = found[words]
        assert result.acoustic_score == pytest.approx(acoustic, abs=2e-4)
        assert result.lm_score == pytest.approx(lm_score, abs=2e-4)
        assert result.score == pytest.approx(acoustic + lm_weight * lm_score + bonuses, abs=1e-3)


@given(seed=st.integers(0, 2**32 - 1), frames=st.integers(1, 6))
@settings(max_examples=50, deadline=None)
def test_what_is_heard_so_far_is_scored_without_the_end_of_the_sentence(
    tmp_path_factory: pytest.TempPathFactory, seed: int, frames: int
) -> None:
    rng = np.random.default_rng(seed)
    path = tmp_path_factory.getbasetemp() / "random.arpa"
    write_arpa(path, WORDS, rng)
    model = kenlm.Model(str(path))
    stream = CTCDecoder(LABELS, EVERYTHING, Scorer.load(LABELS, path)).stream()
    stream.feed(random_posteriors(rng, frames, len(LABELS) + 1))
    for result in stream.peek():
        if set(result.text.split()) <= {*WORDS}:
            assert result.lm_score == pytest.approx(model.score(result.text, eos=False) * math.log(10), abs=2e-4)


def test_a_phrase_that_has_begun_counts_in_advance_only_while_it_may_still_be_completed(tmp_path: Path) -> None:
    write_arpa(tmp_path / "lm.arpa", WORDS, np.random.default_rng(0))
    scorer = Scorer.load(LABELS, tmp_path / "lm.arpa")
    posteriors = np.full((2, 4), 0.001)
    posteriors[[0, 1], [1, 0]] = 0.997  # "a "

    def scores(hot_words: dict[str, float]) -> list[float]:
        stream = CTCDecoder(LABELS, replace(EVERYTHING, hot_words=hot_words), scorer).stream()
        stream.feed(posteriors)
        results = stream.peek(), stream.finish()
        return [next(each.score for each in so_far if each.text == "a") for so_far in results]

    np.testing.assert_allclose(np.subtract(scores({"a b": 4.0}), scores({})), [2.0, 0.0], atol=1e-4)


@given(
    seed=st.integers(0, 2**32 - 1),
    frames=st.integers(1, 6),
    lm_weight=st.just(0.0) | st.floats(-2, 3),
    bonus=st.floats(-3, 3),
    hot_words=st.dictionaries(st.sampled_from(["a", " ", "ab", "b a", "aba"]), st.floats(-3, 3)),
)
@settings(max_examples=300, deadline=None)
def test_with_a_model_of_characters_every_text_has_its_exact_score(
    tmp_path_factory: pytest.TempPathFactory,
    seed: int,
    frames: int,
    lm_weight: float,
    bonus: float,
    hot_words: dict[str, float],
) -> None:
    rng = np.random.default_rng(seed)
    path = tmp_path_factory.getbasetemp() / "random.arpa"
    write_arpa(path, ["<space>", "a", "b"], rng)
    model = kenlm.Model(str(path))
    posteriors = random_posteriors(rng, frames, len(LABELS) + 1)
    options = DecoderOptions(4096, lm_weight, bonus, result_count=4096, hot_words=hot_words)
    results = CTCDecoder(LABELS, options, Scorer.load(LABELS, path, characters=True)).decode(posteriors)
    found = {result.labels: result for result in results}
    assert len(found) == len(results)
    for transcript, acoustic in acoustic_scores(posteriors).items():
        if acoustic < -60:
            continue
        lm_score = model.score(" ".join(("<space>", "a", "b")[label] for label in transcript)) * math.log(10)
        result = found[transcript]
        assert result.lm_score == pytest.approx(lm_score, abs=2e-4)
        text = [LABELS[label] for label in transcript]
        bonuses = bonus * len(text) + sum(boost * occurrences(phrase, text) for phrase, boost in hot_words.items())
        assert result.score == pytest.approx(acoustic + lm_weight * lm_score + bonuses, abs=1e-3)


@given(seed=st.integers(0, 2**32 - 1), beam_width=st.integers(1, 40), labels=st.sampled_from([3, 70]))
@settings(max_examples=200, deadline=None)
def test_narrow_beam_counts_no_alignment_twice(seed: int, beam_width: int, labels: int) -> None:
    posteriors = np.zeros((40, labels + 1))
    posteriors[:, [0, 1, labels - 1, labels]] = np.random.default_rng(seed).dirichlet(np.full(4, 0.3), 40)
    options = DecoderOptions(beam_width=beam_width, result_count=beam_width)
    results = CTCDecoder([chr(ord("0") + label) for label in range(labels)], options).decode(posteriors)
    assert len({result.labels for result in results}) == len(results) == beam_width
    for result in results:
        assert result.acoustic_score <= forward_score(posteriors, result.labels) + 1e-3
        assert all(before < after for before, after in pairwise(result.timesteps))


MANY = " abc" + "".join(map(chr, range(0x4E00, 0x4E42)))
some_letters = pytest.mark.parametrize("letters", [" abc", MANY], ids=["few letters", "many letters"])


def narrow_search(rng: np.random.Generator, letters: str) -> tuple[npt.NDArray[np.float64], DecoderOptions]:
    posteriors = rng.dirichlet(np.full(len(letters) + 1, 0.1), 10) + 1e-6
    beam_width, lm_weight, bonus = int(rng.integers(1, 9)), rng.uniform(-1, 2), rng.uniform(-3, 6)
    return posteriors / posteriors.sum(axis=1, keepdims=True), DecoderOptions(beam_width, lm_weight, bonus)


@some_letters
def test_a_narrow_beam_holds_the_hypotheses_of_highest_rank(tmp_path: Path, letters: str) -> None:
    for seed in range(30):
        rng = np.random.default_rng(seed)
        words = {"".join(rng.choice([*"abc"], rng.integers(1, 4))) for _ in range(8)} | {*letters[4:]}
        write_arpa(tmp_path / "lm.arpa", sorted(words), rng)
        phrases = [" ".join(rng.choice([*sorted(words)[:8], "cc"], rng.integers(1, 4))) for _ in range(seed % 4)]
        hot_words = {phrase: rng.uniform(-3, 6) for phrase in phrases}
        posteriors, options = narrow_search(rng, letters)
        options = replace(options, hot_words=hot_words, unknown_word_score=[-math.inf, -3, 0][seed % 3])
        ranking = Ranking(sorted(words), kenlm.Model(str(tmp_path / "lm.arpa")), options)
        expected: dict[str, float] = {}
        for text, score in pruned_scores(posteriors, letters, ranking, options.beam_width).items():
            expected[text.strip()] = float(np.logaddexp(expected.get(text.strip(), -math.inf), score))
        stream = CTCDecoder([*letters], options, Scorer.load([*letters], tmp_path / "lm.arpa")).stream()
        stream.feed(posteriors)
        found = {result.text: result.acoustic_score for result in stream.peek(options.beam_width)}
        assert found == pytest.approx(expected, abs=1e-3)
        complete = {text for text in expected if not text or ranking.allows(text, " ")}
        assert {result.text for result in stream.finish(options.beam_width)} == (complete or {*expected})


@some_letters
def test_with_a_model_of_characters_a_narrow_beam_holds_those_of_highest_rank(tmp_path: Path, letters: str) -> None:
    for seed in range(10):
        rng = np.random.default_rng(seed)
        words = ["<space>", *letters[1:]]
        write_arpa(tmp_path / "lm.arpa", words, rng)
        posteriors, options = narrow_search(rng, letters)
        ranking = CharacterRanking(words, kenlm.Model(str(tmp_path / "lm.arpa")), options)
        scorer = Scorer.load([*letters], tmp_path / "lm.arpa", characters=True)
        stream = CTCDecoder([*letters], options, scorer).stream()
        stream.feed(posteriors)
        found = {result.text: result.acoustic_score for result in stream.peek(options.beam_width)}
        assert found == pytest.approx(pruned_scores(posteriors, letters, ranking, options.beam_width), abs=1e-3)


@given(
    seed=st.integers(0, 2**32 - 1),
    frames=st.integers(1, 4),
    cutoff_prob=st.sampled_from([0.2, 0.5, 0.8, 0.95, 1.0]),
    cutoff_top_n=st.integers(0, 5),
)
@settings(max_examples=100, deadline=None)
def test_cutoffs_keep_only_the_most_probable_columns_of_each_frame(
    seed: int, frames: int, cutoff_prob: float, cutoff_top_n: int
) -> None:
    posteriors = random_posteriors(np.random.default_rng(seed), frames, 4)
    options = replace(EVERYTHING, cutoff_prob=cutoff_prob, cutoff_top_n=cutoff_top_n)
    places = np.argsort(np.argsort(-posteriors))
    more_probable = np.take_along_axis(np.cumsum(np.sort(posteriors)[:, ::-1], axis=1), places, axis=1) - posteriors
    kept = ((more_probable < cutoff_prob) | (cutoff_prob == 1)) & (places < (cutoff_top_n or 4))
    found = {result.labels: result.score for result in CTCDecoder("xyz", options).decode(posteriors)}
    expected = acoustic_scores(posteriors * kept)
    assert found.keys() <= expected.keys()
    for transcript, score in expected.items():
        if score > -60:
            assert found[transcript] == pytest.approx(score, abs=2e-4)


@given(seed=st.integers(0, 2**32 - 1), threshold=st.floats(0.5, 20))
@settings(max_examples=100, deadline=None)
def test_no_transcript_is_further_below_the_best_than_the_threshold(seed: int, threshold: float) -> None:
    posteriors = random_posteriors(np.random.default_rng(seed), 6, 4)
    results = CTCDecoder("xyz", replace(EVERYTHING, score_threshold=threshold)).decode(posteriors)
    assert results[-1].score >= results[0].score - threshold - 1e-3
