"""Trie files: their contents, and that all damage is found."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from exhaustive import write_arpa
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from deepspeech.decoder import CTCDecoder, DecoderError, DecoderOptions, Scorer

LABELS = (" ", "a", "b")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_arpa(tmp_path / "lm.arpa", ["a", "b", "ab", "bba"], np.random.default_rng(0))
    Scorer.load(LABELS, tmp_path / "lm.arpa").write_trie(tmp_path / "words.trie")
    return tmp_path


def test_decoding_with_the_file_gives_what_the_built_trie_gives(folder: Path) -> None:
    posteriors = np.random.default_rng(1).dirichlet([0.3] * 4, 50)
    built = Scorer.load(LABELS, folder / "lm.arpa")
    mapped = Scorer.load(LABELS, folder / "lm.arpa", folder / "words.trie")
    options = DecoderOptions(beam_width=50, result_count=50)
    assert CTCDecoder(LABELS, options, mapped).decode(posteriors) == CTCDecoder(LABELS, options, built).decode(
        posteriors
    )


def test_the_file_knows_that_it_is_of_characters(tmp_path: Path) -> None:
    write_arpa(tmp_path / "lm.arpa", ["<space>", "a"], np.random.default_rng(0))
    Scorer.load(LABELS, tmp_path / "lm.arpa", characters=True).write_trie(tmp_path / "characters.trie")
    assert Scorer.load(LABELS, tmp_path / "lm.arpa", tmp_path / "characters.trie").characters


@given(st.data())
@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_flipped_bits_and_missing_bytes_are_noticed(folder: Path, data: st.DataObject) -> None:
    content = bytearray((folder / "words.trie").read_bytes())
    if data.draw(st.booleans()):
        content = content[: data.draw(st.integers(0, len(content) - 1))]
    else:
        content[data.draw(st.integers(0, len(content) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    damaged = folder / "damaged.trie"
    damaged.write_bytes(content)
    with pytest.raises(DecoderError, match=r"damaged\.trie cannot be used: it"):
        Scorer.load(LABELS, folder / "lm.arpa", damaged)


def test_a_trie_of_other_labels_is_refused(folder: Path) -> None:
    with pytest.raises(DecoderError, match="made for another alphabet; without a trie file, one is made in memory"):
        Scorer.load((" ", "b", "a"), folder / "lm.arpa", folder / "words.trie")


@pytest.mark.parametrize(
    ("words", "seed"),
    [(["a", "b", "ab", "bba", "bb"], 0), (["a", "b", "ab", "baa"], 0), (["a", "b", "ab", "bba"], 1)],
    ids=["one word more", "another word", "other scores"],
)
def test_a_trie_of_another_language_model_is_refused(folder: Path, words: list[str], seed: int) -> None:
    write_arpa(folder / "other.arpa", words, np.random.default_rng(seed))
    with pytest.raises(DecoderError, match=r"made for another language model than .*other\.arpa"):
        Scorer.load(LABELS, folder / "other.arpa", folder / "words.trie")


def test_a_trie_that_cannot_be_written_is_an_error_and_leaves_nothing(folder: Path) -> None:
    scorer = Scorer.load(LABELS, folder / "lm.arpa")
    with pytest.raises(DecoderError, match="cannot be created: No such file or directory"):
        scorer.write_trie(folder / "missing" / "words.trie")
    (folder / "taken").mkdir()
    with pytest.raises(DecoderError, match="taken cannot be replaced"):
        scorer.write_trie(folder / "taken")
    assert not (folder / "taken.partial").exists()
