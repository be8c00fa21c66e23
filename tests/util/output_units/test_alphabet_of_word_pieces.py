import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sentencepiece

from deepspeech.util.errors import AlphabetError
from deepspeech.util.output_units import WordPieceAlphabet, load_alphabet, restored_alphabet
from deepspeech.util.output_units.making import word_pieces

TEXT = "the cat sat on the mat and the other cat ate that bat at the fattest cattle"
WORDS = TEXT.split(" ")


def model_of(**options: Any) -> bytes:
    lines = [" ".join(WORDS[start : start + 6]) for start in range(len(WORDS) - 5)] * 20
    file = io.BytesIO()
    settings = {"vocab_size": 40, "hard_vocab_limit": False, "bos_id": -1, "eos_id": -1, "minloglevel": 2, **options}
    sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(lines), model_writer=file, **settings)
    return file.getvalue()


@pytest.fixture(scope="module")
def pieces(tmp_path_factory: pytest.TempPathFactory) -> WordPieceAlphabet:
    path = tmp_path_factory.mktemp("pieces") / "pieces.model"
    path.write_bytes(model_of())
    alphabet = load_alphabet("wordpieces", path)
    assert isinstance(alphabet, WordPieceAlphabet)
    return alphabet


def test_words_begin_with_a_space_and_texts_come_back(pieces: WordPieceAlphabet) -> None:
    text = "the other cattle sat"
    labels = pieces.encode(text)
    assert len(labels) < len(text)
    assert pieces.labels[labels[0]].startswith(" ")
    assert pieces.decode(labels) == text
    assert pieces.delimiter is None
    assert "<unk>" not in pieces.labels


def test_a_text_is_cut_as_its_words_are(pieces: WordPieceAlphabet) -> None:
    of_words = [pieces.encode(word) for word in WORDS]
    assert pieces.encode(" ".join(WORDS)).tolist() == np.concatenate(of_words).tolist()
    for word, labels in zip(WORDS, of_words, strict=True):
        assert "".join(piece for piece, _ in pieces.pieces(word)) == word
        assert sum(count for _, count in pieces.pieces(word)) == len(labels)


def test_characters_without_a_piece_are_named(pieces: WordPieceAlphabet) -> None:
    with pytest.raises(AlphabetError, match=r"not in any word piece: 'z' .*, '7' \(U\+0037 DIGIT SEVEN\)"):
        pieces.encode("the zz 7 cats")


def test_they_come_back_from_labels_and_model(pieces: WordPieceAlphabet) -> None:
    assert restored_alphabet("wordpieces", pieces.output_labels, pieces.unit_data) == pieces


def test_other_files_are_refused(tmp_path: Path) -> None:
    (tmp_path / "letters.txt").write_text(" \na\nb\n")
    with pytest.raises(AlphabetError, match=r"letters.txt: not a model of sentencepiece; bin/make_alphabet.py"):
        load_alphabet("wordpieces", tmp_path / "letters.txt")
    (tmp_path / "bytes.model").write_bytes(model_of(byte_fallback=True, vocab_size=300))
    with pytest.raises(AlphabetError, match=r"bytes.model: some of its pieces are bytes"):
        load_alphabet("wordpieces", tmp_path / "bytes.model")
    with pytest.raises(AlphabetError, match=r"none.model: cannot read the word pieces"):
        load_alphabet("wordpieces", tmp_path / "none.model")


def test_they_are_made_of_long_transcripts_too() -> None:
    long = "xylophone " * 1000
    made = WordPieceAlphabet.of(word_pieces([TEXT] * 20 + [long], 60))
    assert made.missing(long) == []
