"""A language model of characters is recognized by its vocabulary, in every kind of file."""

import subprocess
import sys
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from exhaustive import write_arpa
from running import LM_TOOLS, needs_lm_tools, run_script

from deepspeech.decoder import UTF8_BYTES, DecoderError, Scorer
from deepspeech.decoder.of_alphabet import in_words, load_scorer, make_decoder
from deepspeech.errors import AlphabetError
from deepspeech.options import LanguageModelOptions
from deepspeech.util.language_model import is_of_characters
from deepspeech.util.output_units import WordPieceAlphabet
from deepspeech.util.text import Alphabet

DIGITS = tuple("设二九四")


def binary(folder: Path, arpa: Path, labels: Sequence[str], words: Sequence[str]) -> Path:
    """Return a KenLM binary: a scorer package without its trailer, and with the words, which a package lacks."""
    Scorer.load((" ", *set(labels) - {" "}), arpa, characters=False).write_package(folder / "lm.scorer", 1, 1)
    content = (folder / "lm.scorer").read_bytes()
    path = folder / "lm.binary"
    vocabulary = b"".join(word.encode() + b"\0" for word in ("<unk>", "<s>", "</s>", *words))
    path.write_bytes(content[: content.rindex(b"EIRT")] + vocabulary)
    return path


@pytest.mark.parametrize(
    ("labels", "words", "of_characters"),
    [
        (DIGITS, ["设", "二", "九"], True),
        ((" ", *DIGITS), ["设", "二", "九"], True),
        ((" ", *DIGITS), ["设", "二", "二九"], False),
        ((" ", "a", "b"), ["<space>", "a", "b"], True),
        ((" ", "a", "b"), ["a", "b"], False),
        ((" ", "a", "b"), ["a", "ab"], False),
    ],
)
def test_the_vocabulary_says_whether_words_are_characters(
    labels: Sequence[str], words: list[str], of_characters: bool, tmp_path: Path
) -> None:
    arpa = tmp_path / "lm.arpa"
    write_arpa(arpa, words, np.random.default_rng(0))
    scorer = make_decoder(Alphabet(tuple(labels)), LanguageModelOptions(binary_path=arpa)).scorer
    assert scorer is not None
    assert scorer.characters == of_characters
    assert is_of_characters(binary(tmp_path, arpa, labels, words), labels) == of_characters


def test_bytes_spell_characters(tmp_path: Path) -> None:
    write_arpa(tmp_path / "lm.arpa", list(DIGITS), np.random.default_rng(0))
    assert is_of_characters(tmp_path / "lm.arpa", UTF8_BYTES)


def test_a_package_says_itself_what_it_is(tmp_path: Path) -> None:
    labels = (" ", *DIGITS)
    write_arpa(tmp_path / "lm.arpa", list(DIGITS), np.random.default_rng(0))
    Scorer.load(labels, tmp_path / "lm.arpa").write_package(tmp_path / "lm.scorer", 1, 1)
    scorer = make_decoder(Alphabet(tuple(labels)), LanguageModelOptions(scorer_path=tmp_path / "lm.scorer")).scorer
    assert scorer is not None
    assert not scorer.characters


def test_the_weights_that_are_told_are_those_that_decode_whichever_flag_names_the_model(tmp_path: Path) -> None:
    labels, arpa, package = (" ", "a", "b"), tmp_path / "lm.arpa", tmp_path / "lm.scorer"
    write_arpa(arpa, ["a", "ab"], np.random.default_rng(0))
    Scorer.load(labels, arpa).write_package(package, 0.9, 1.2)

    def told(**options: Any) -> str:
        chosen = LanguageModelOptions(beam_width=16, **options)
        return in_words(make_decoder(Alphabet(labels), chosen), chosen)

    assert told() == "with a beam of 16 and no language model"
    for flag in ("binary_path", "scorer_path"):
        with_model = "with a beam of 16 and the language model lm."
        assert told(**{flag: arpa}) == f"{with_model}arpa (weight 1.5, bonus of a word 2.25)"
        assert told(**{flag: package}) == f"{with_model}scorer (its own weights)"
        assert told(**{flag: package}, lm_weight=2.0) == f"{with_model}scorer (weight 2, bonus of a word 2.25)"


def test_words_that_word_pieces_write_otherwise_are_left_out(tmp_path: Path) -> None:
    sentencepiece = pytest.importorskip("sentencepiece")
    model = BytesIO()
    texts = iter(["find one", "two five fine"] * 20)
    options = {"vocab_size": 30, "hard_vocab_limit": False, "minloglevel": 2}  # with its default normalization
    sentencepiece.SentencePieceTrainer.train(sentence_iterator=texts, model_writer=model, **options)
    write_arpa(tmp_path / "lm.arpa", ["find", "\ufb01nd", "two"], np.random.default_rng(0))
    scorer = load_scorer(WordPieceAlphabet.of(model.getvalue()), tmp_path / "lm.arpa")
    assert scorer.can_spell("find two")
    assert not scorer.can_spell("\ufb01nd")


def build(*arguments: str | Path) -> str:
    """Return the message of bin/build_lm.py about arguments that it refuses."""
    script = Path(__file__).resolve().parents[2] / "bin/build_lm.py"
    refused = subprocess.run([sys.executable, script, *arguments], capture_output=True, text=True)
    assert refused.returncode == 1
    return refused.stderr


def test_word_pieces_are_told_at_once_that_they_need_words(tmp_path: Path) -> None:
    write_arpa(tmp_path / "lm.arpa", list(DIGITS), np.random.default_rng(0))
    with pytest.raises(DecoderError, match=r"lm\.arpa: is of characters, but word pieces need .* of words"):
        load_scorer(WordPieceAlphabet((" 设", "二", "九", "四"), b""), tmp_path / "lm.arpa")
    flags = ["--unit=character", "--output_unit=wordpieces", f"--alphabet={tmp_path / 'pieces.model'}"]
    said = build(tmp_path / "lm.arpa", "--out", tmp_path / "lm", *flags)
    assert "--unit=character: word pieces need a language model of words" in said


def test_a_package_of_characters_is_none_for_word_pieces(tmp_path: Path) -> None:
    pieces = WordPieceAlphabet((" 设", "二", "九", "四"), b"")
    write_arpa(tmp_path / "lm.arpa", list(DIGITS), np.random.default_rng(0))
    Scorer.load(DIGITS, tmp_path / "lm.arpa", characters=True).write_package(tmp_path / "lm.scorer", 1, 1)
    with pytest.raises(DecoderError, match=r"lm\.scorer: is of characters, but word pieces need .* of words"):
        load_scorer(pieces, tmp_path / "lm.scorer")
    for labels in (pieces.output_labels, (" ", "设二", "二九", "九四", "四")):
        with pytest.raises(DecoderError, match=r"lm\.arpa: .* build one"):
            Scorer.load(labels, tmp_path / "lm.arpa", characters=True)


def test_a_package_of_word_pieces_and_any_hot_words_need_no_sentencepiece(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "sentencepiece", None)
    pieces = WordPieceAlphabet((" ", " a", "a", "b", " ab"), b"")
    write_arpa(tmp_path / "lm.arpa", ["a", "ab"], np.random.default_rng(0))
    Scorer.load(pieces.output_labels, tmp_path / "lm.arpa").write_package(tmp_path / "lm.scorer", 1, 1)
    scorer = load_scorer(pieces, tmp_path / "lm.scorer")
    assert scorer.can_spell("ab abb")
    assert not scorer.can_spell("c")
    with pytest.raises(AlphabetError, match="word pieces needs sentencepiece: install"):
        load_scorer(pieces, tmp_path / "lm.arpa")


def test_letters_that_are_one_label_with_their_marks_are_told_to_need_words(tmp_path: Path) -> None:
    alphabet = Alphabet((" ", "க", "கு", "ம்", "டு"))
    write_arpa(tmp_path / "lm.arpa", ["<space>", "க", "ம", "ு"], np.random.default_rng(0))
    refusal = "are several characters, as 'கு', which a language model of characters cannot write; build one of words"
    with pytest.raises(DecoderError, match=rf"lm\.arpa: most labels of the alphabet {refusal}"):
        load_scorer(alphabet, tmp_path / "lm.arpa")
    (tmp_path / "alphabet.txt").write_text(alphabet.file_text, encoding="utf-8")
    for tool in ("lmplz", "filter", "build_binary"):
        (tmp_path / tool).touch()
    flags = ["--unit=character", f"--alphabet={tmp_path / 'alphabet.txt'}", f"--tools={tmp_path}"]
    said = build(tmp_path / "lm.arpa", "--out", tmp_path / "lm", *flags)
    assert f"--unit=character: most labels of the alphabet {refusal}" in said
    few = Alphabet((*"க ம", "<noise>"))
    assert load_scorer(few, tmp_path / "lm.arpa").characters


def test_words_of_characters_are_none_of_syllables_which_need_an_alphabet(tmp_path: Path) -> None:
    for name, content in (("text.txt", "设定\n"), ("pinyin.txt", "she4\nding4\n")):
        (tmp_path / name).write_text(content, encoding="utf-8")
    for tool in ("lmplz", "filter", "build_binary"):
        (tmp_path / tool).touch()
    flags = ["--output_unit=pinyin", f"--alphabet={tmp_path / 'pinyin.txt'}", f"--tools={tmp_path}"]
    said = build(tmp_path / "text.txt", "--out", tmp_path / "lm", *flags)
    assert "can be spelled with the labels of" in said and "give --unit character" in said
    without = build(tmp_path / "text.txt", "--out", tmp_path / "lm", "--output_unit=pinyin", f"--tools={tmp_path}")
    assert "--output_unit=pinyin: needs --alphabet; bin/make_alphabet.py" in without


@needs_lm_tools
def test_files_of_the_model_before_that_a_model_has_not_are_removed(tmp_path: Path) -> None:
    (tmp_path / "text.txt").write_text("设定 设定\n", encoding="utf-8")
    (tmp_path / "characters.txt").write_text("设\n定\n", encoding="utf-8")
    (tmp_path / "pinyin.txt").write_text("she4\nding4\n", encoding="utf-8")
    model = ("--out", tmp_path / "lm", "--unit", "character", "--prune", "0", "--tools", LM_TOOLS)
    built = []
    for flags in (["--alphabet", "characters.txt"], ["--output_unit", "pinyin", "--alphabet", "pinyin.txt"]):
        *of_unit, name = flags
        result = run_script("build_lm.py", tmp_path / "text.txt", *model, *of_unit, tmp_path / name)
        assert result.returncode == 0, result.stderr
        built.append(sorted(path.name for path in (tmp_path / "lm").iterdir()))
    assert built == [["lm.arpa", "lm.binary", "lm.scorer", "lm.trie"], ["lm.arpa", "lm.binary"]]
