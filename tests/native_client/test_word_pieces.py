"""Labels that begin words, such as a tokenizer's pieces: " the", "r", "mo", and " " alone if no longer label fits."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from exhaustive import acoustic_scores, write_arpa
from hypothesis import given, settings
from hypothesis import strategies as st

from deepspeech.decoder import CTCDecoder, DecoderError, DecoderOptions, Scorer, Word

kenlm = pytest.importorskip("kenlm", reason="KenLM's own package cannot be built for this Python")

WORDS = ("a", "b", "ab", "ba", "aab")
PIECES = (" ", " a", "a", "b", " ab")
Spellings = dict[str, list[tuple[int, ...]]]


def spellings(text: str) -> Iterator[tuple[int, ...]]:
    """Yield every spelling of `text` in pieces."""
    if not text:
        yield ()
    for label, piece in enumerate(PIECES):
        if text.startswith(piece):
            yield from ((label, *rest) for rest in spellings(text[len(piece) :]))


def words_of(labels: Sequence[int], allowed: Spellings) -> tuple[str, ...] | None:
    """Return the words, or nothing if one is not allowed; a space at the end is ignored."""
    groups: list[tuple[int, ...]] = []
    for label in labels:
        if PIECES[label].startswith(" ") or not groups:
            groups.append(())
        groups[-1] += (label,)
    if groups and groups[-1] == (0,):
        groups.pop()
    words = tuple("".join(PIECES[label] for label in group)[1:] for group in groups)
    return words if all(group in allowed.get(word, ()) for word, group in zip(words, groups, strict=True)) else None


def sure_of(pieces: Sequence[str]) -> npt.NDArray[np.float32]:
    """Return posteriors of an acoustic model that is sure of these pieces, one a frame, "-" being the blank."""
    columns = [(*PIECES, "-").index(piece) for piece in pieces]
    return (0.994 * np.eye(6)[columns] + 0.001).astype(np.float32)


@pytest.fixture
def arpa(tmp_path: Path) -> Path:
    write_arpa(tmp_path / "lm.arpa", WORDS, np.random.default_rng(0))
    return tmp_path / "lm.arpa"


@given(
    seed=st.integers(0, 2**32 - 1),
    frames=st.integers(1, 4),
    lm_weight=st.floats(0, 3),
    bonus=st.floats(-3, 3),
    sentence_end=st.booleans(),
    hot_words=st.dictionaries(st.sampled_from(["a", "ab", "bb"]), st.floats(-3, 3)),
)
@settings(max_examples=300, deadline=None)
def test_every_sentence_has_the_score_of_all_its_spellings(
    tmp_path_factory: pytest.TempPathFactory,
    seed: int,
    frames: int,
    lm_weight: float,
    bonus: float,
    sentence_end: bool,
    hot_words: dict[str, float],
) -> None:
    rng = np.random.default_rng(seed)
    path = tmp_path_factory.getbasetemp() / "random.arpa"
    write_arpa(path, WORDS, rng)
    allowed = {word: [s for s in spellings(" " + word) if rng.random() < 0.7] for word in {*WORDS, *hot_words}}
    allowed |= {word: list(spellings(" " + word)) for word in {"a", *hot_words}}
    posteriors = rng.dirichlet(np.ones(6), frames)
    options = DecoderOptions(4096, lm_weight, bonus, sentence_end=sentence_end, result_count=4096, hot_words=hot_words)
    results = CTCDecoder(PIECES, options, Scorer.load(PIECES, path, spell=lambda word: allowed[word])).decode(
        posteriors
    )
    found = {tuple(result.text.split()): result for result in results}
    assert len(found) == len(results)
    expected: dict[tuple[str, ...], float] = {}
    for labels, score in acoustic_scores(posteriors).items():
        words = words_of(labels, allowed)
        if words is not None:
            expected[words] = float(np.logaddexp(expected.get(words, -math.inf), score))
    assert found.keys() == expected.keys()
    model = kenlm.Model(str(path))
    for words, acoustic in expected.items():
        lm_score = model.score(" ".join(words), eos=sentence_end) * math.log(10)
        bonuses = sum(hot_words.get(word, 0) + bonus * (word in WORDS) for word in words)
        assert found[words].acoustic_score == pytest.approx(acoustic, abs=2e-4)
        assert found[words].lm_score == pytest.approx(lm_score, abs=2e-4)
        assert found[words].score == pytest.approx(acoustic + lm_weight * lm_score + bonuses, abs=1e-3)
        assert " ".join(word.text for word in found[words].words) == found[words].text


def test_words_begin_at_the_frames_of_their_first_pieces(arpa: Path) -> None:
    posteriors = sure_of([" ab", "-", " a", "b", " ", "b", "-"])
    for scorer in (None, Scorer.load(PIECES, arpa, spell=lambda word: list(spellings(" " + word)))):
        best = CTCDecoder(PIECES, None, scorer).decode(posteriors)[0]
        assert best.text == "ab ab b"
        assert best.words == (Word("ab", 0, 1), Word("ab", 2, 4), Word("b", 5, 6))


def test_without_a_scorer_a_text_has_the_score_of_all_its_pieces() -> None:
    posteriors = np.array([[0, 0.3, 0, 0, 0.5, 0.2], [0, 0.1, 0, 0.9, 0, 0]])
    results = CTCDecoder(PIECES, DecoderOptions(result_count=10)).decode(posteriors)
    assert {result.text: math.exp(result.score) for result in results if result.score > -60} == pytest.approx(
        {"ab": 0.3 * 0.9, "abb": 0.5 * 0.9, "ab a": 0.5 * 0.1, "a": 0.3 * 0.1 + 0.2 * 0.1, "b": 0.2 * 0.9}, abs=1e-4
    )


def test_trie_files_and_packages_keep_the_spellings(tmp_path: Path, arpa: Path) -> None:
    spelled = {word: list(spellings(" " + word))[-2:] for word in WORDS}
    scorer = Scorer.load(PIECES, arpa, spell=spelled.__getitem__)
    scorer.write_trie(tmp_path / "lm.trie")
    scorer.write_package(tmp_path / "lm.scorer", 1, 1)
    posteriors = np.random.default_rng(1).dirichlet(np.full(6, 0.3), 30)
    options = DecoderOptions(beam_width=50, result_count=50, hot_words={"aab": 2.0})
    expected = CTCDecoder(PIECES, options, scorer).decode(posteriors)
    mapped = Scorer.load(PIECES, arpa, tmp_path / "lm.trie")
    package = Scorer.load(PIECES, tmp_path / "lm.scorer")
    assert not mapped.characters and not package.characters
    for again in (mapped, package):
        assert CTCDecoder(PIECES, options, again).decode(posteriors) == expected
    package.write_package(tmp_path / "again.scorer", 1, 1)
    assert (tmp_path / "again.scorer").read_bytes() == (tmp_path / "lm.scorer").read_bytes()
    with pytest.raises(DecoderError, match="scorer package"):
        Scorer.load((" ", "a", "b", " b", "x"), tmp_path / "lm.scorer")


def test_words_are_spelled_by_the_longest_pieces_unless_told_otherwise(arpa: Path) -> None:
    decoder = CTCDecoder(PIECES, DecoderOptions(lm_weight=0, valid_word_count_weight=0), Scorer.load(PIECES, arpa))
    assert decoder.decode(sure_of([" ab", "-", " a", "-"]))[0].text == "ab a"
    assert decoder.decode(sure_of([" ", "b", " a"]))[0].text == "b a"
    assert decoder.decode(sure_of([" a", "b"]))[0].text != "ab"


def test_unknown_words_begin_at_pieces_too(arpa: Path) -> None:
    options = DecoderOptions(lm_weight=0, unknown_word_score=0, valid_word_count_weight=0)
    decoder = CTCDecoder(PIECES, options, Scorer.load(PIECES, arpa))
    best = decoder.decode(sure_of([" ab", "b", "a", " ", "b", "-", "b", " a"]))[0]
    assert best.text == "abba bb a"
    assert [word.start for word in best.words] == [0, 4, 7]


@pytest.mark.parametrize("said", [(" ab", "b"), (" a", "b", "-", "b"), (" ", "a", "b", "-", "b")])
def test_a_hot_word_is_heard_in_whichever_pieces_it_is_said_where_nothing_spells_it(
    said: Sequence[str], tmp_path: Path, arpa: Path
) -> None:
    Scorer.load(PIECES, arpa, spell=lambda word: list(spellings(" " + word))).write_package(tmp_path / "s", 1, 1)
    options = DecoderOptions(lm_weight=1, hot_words={"abb": 10.0, "b" * 100_000: 1.0})
    assert CTCDecoder(PIECES, options, Scorer.load(PIECES, tmp_path / "s")).decode(sure_of(said))[0].text == "abb"


def test_a_tokenizer_is_not_asked_for_half_a_character(arpa: Path) -> None:
    scorer = Scorer.load(PIECES, arpa, spell=lambda word: list(spellings(" " + word)))
    assert scorer.can_spell("abb")
    assert not scorer.can_spell("abb\ud83d")


@pytest.mark.parametrize(
    ("spell", "message"),
    [
        (lambda _: [[1]], "the spelling of ' b' reads ' a'"),
        (lambda _: [[7]], "the spelling of ' .*' has label 7, which does not exist"),
        (lambda _: [], "the labels fit none of the"),
    ],
)
def test_bad_spellings_are_refused(spell: object, message: str, tmp_path: Path) -> None:
    write_arpa(tmp_path / "lm.arpa", ["b"], np.random.default_rng(0))
    with pytest.raises(DecoderError, match=message):
        Scorer.load(PIECES, tmp_path / "lm.arpa", spell=spell)  # type: ignore[arg-type]


def test_an_error_of_the_tokenizer_comes_through(arpa: Path) -> None:
    def fail(word: str) -> list[list[int]]:
        raise RuntimeError(f"cannot spell {word}")

    with pytest.raises(RuntimeError, match="cannot spell"):
        Scorer.load(PIECES, arpa, spell=fail)
