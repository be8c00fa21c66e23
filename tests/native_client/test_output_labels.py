"""Labels that share columns or texts: the search agrees with a sum over all alignments, by columns."""

from __future__ import annotations

import math
from itertools import pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from exhaustive import label_scores, text_scores, write_arpa
from hypothesis import given, settings
from hypothesis import strategies as st

from deepspeech.decoder import CTCDecoder, DecoderError, DecoderOptions, OutputLabels, Scorer

kenlm = pytest.importorskip("kenlm", reason="KenLM's own package cannot be built for this Python")

UNITS = ("ni3", "hang2", "xing2")
READINGS = OutputLabels(tuple("你拟行行杭"), (0, 0, 2, 1, 1), len(UNITS))
EVERYTHING = DecoderOptions(beam_width=4096, result_count=4096)


def sure_of(units: str) -> npt.NDArray[np.float32]:
    """Return posteriors of an acoustic model that is sure of these units, one a frame, "-" being the blank."""
    columns = [(*UNITS, "-").index(unit) for unit in units.split()]
    return (0.996 * np.eye(4)[columns] + 0.001).astype(np.float32)


@pytest.fixture
def scorer(tmp_path: Path) -> Scorer:
    write_arpa(tmp_path / "lm.arpa", list("你拟行杭"), np.random.default_rng(0))
    return Scorer.load(READINGS, tmp_path / "lm.arpa", characters=True)


@given(seed=st.integers(0, 2**32 - 1), frames=st.integers(1, 5), labels=st.integers(1, 4))
@settings(max_examples=300, deadline=None)
def test_labels_of_one_column_have_the_exact_score_of_their_columns(seed: int, frames: int, labels: int) -> None:
    rng = np.random.default_rng(seed)
    output = OutputLabels(tuple("wxyz"[:labels]), tuple(int(column) for column in rng.integers(2, size=labels)), 2)
    posteriors = rng.dirichlet(np.ones(3), frames)
    results = CTCDecoder(output, EVERYTHING).decode(posteriors)
    expected = label_scores(posteriors, output.columns)
    found = {result.labels: result.score for result in results}
    assert len(found) == len(results)
    assert found == pytest.approx(expected, abs=2e-4)
    assert all(result.columns == tuple(output.columns[label] for label in result.labels) for result in results)


@given(seed=st.integers(0, 2**32 - 1), frames=st.integers(1, 4), lm_weight=st.floats(0, 3), bonus=st.floats(-3, 3))
@settings(max_examples=150, deadline=None)
def test_with_a_model_of_characters_every_text_has_the_score_of_all_its_readings(
    tmp_path_factory: pytest.TempPathFactory, seed: int, frames: int, lm_weight: float, bonus: float
) -> None:
    rng = np.random.default_rng(seed)
    path = tmp_path_factory.getbasetemp() / "random.arpa"
    write_arpa(path, list("你拟行杭"), rng)
    model = kenlm.Model(str(path))
    posteriors = rng.dirichlet(np.ones(4), frames)
    options = DecoderOptions(4096, lm_weight, bonus, result_count=4096)
    results = CTCDecoder(READINGS, options, Scorer.load(READINGS, path, characters=True)).decode(posteriors)
    found = {result.text: result for result in results}
    assert len(found) == len(results)
    assert all(before.score >= after.score for before, after in pairwise(results))
    expected = text_scores(posteriors, READINGS.texts, READINGS.columns)
    assert found.keys() == expected.keys()
    for text, acoustic in expected.items():
        lm_score = model.score(" ".join(text)) * math.log(10)
        result = found[text]
        assert result.lm_score == pytest.approx(lm_score, abs=2e-4)
        assert result.acoustic_score == pytest.approx(acoustic, abs=2e-4)
        assert result.score == pytest.approx(acoustic + lm_weight * lm_score + bonus * len(text), abs=1e-3)


def test_different_characters_of_one_syllable_need_a_blank_between_them(scorer: Scorer) -> None:
    decoder = CTCDecoder(READINGS, EVERYTHING, scorer)
    assert len(decoder.decode(sure_of("ni3 ni3"))[0].text) == 1
    best = decoder.decode(sure_of("ni3 - ni3 xing2"))[0]
    assert best.columns == (0, 0, 2)
    assert best.timesteps == (0, 2, 3)


def test_trie_files_and_packages_keep_all_readings(tmp_path: Path, scorer: Scorer) -> None:
    posteriors = np.random.default_rng(1).dirichlet(np.full(4, 0.3), 20)
    options = DecoderOptions(beam_width=50, result_count=50)
    scorer.write_trie(tmp_path / "lm.trie")
    scorer.write_package(tmp_path / "lm.scorer", 1, 1)
    expected = CTCDecoder(READINGS, options, scorer).decode(posteriors)
    for again in (
        Scorer.load(READINGS, tmp_path / "lm.arpa", tmp_path / "lm.trie"),
        Scorer.load(READINGS, tmp_path / "lm.scorer"),
    ):
        assert again.characters
        assert CTCDecoder(READINGS, options, again).decode(posteriors) == expected
    others = OutputLabels(READINGS.texts, READINGS.columns[::-1], 3)
    with pytest.raises(DecoderError, match="made for another alphabet"):
        Scorer.load(others, tmp_path / "lm.arpa", tmp_path / "lm.trie")
    with pytest.raises(DecoderError, match="other labels"):
        CTCDecoder(others, None, scorer)


def test_hot_characters_win_in_every_reading(scorer: Scorer) -> None:
    decoder = CTCDecoder(READINGS, DecoderOptions(hot_words={"行": 5.0}), scorer)
    assert decoder.decode(sure_of("hang2 - xing2"))[0].text == "行行"


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (OutputLabels(("a", "a"), (1, 1), 2), "labels 0 and 1 are both 'a' of column 1"),
        (OutputLabels((" ", " "), (0, 1), 2), "labels 0 and 1 are both ' '"),
        (OutputLabels(("a", "b"), (0, 2), 2), "label 1 has column 2, but there are only 2"),
        (OutputLabels(("a", "b"), (0,), 2), "1 columns for 2 labels"),
        (("a", "a"), "labels 0 and 1 are both 'a'"),
    ],
)
def test_bad_labels_are_refused(labels: OutputLabels, message: str) -> None:
    with pytest.raises(DecoderError, match=message):
        CTCDecoder(labels)


def test_posteriors_need_a_column_for_each_unit() -> None:
    with pytest.raises(DecoderError, match="5 columns, but 3 labels and the blank make 4"):
        CTCDecoder(READINGS).decode(np.full((1, 5), 0.2))
