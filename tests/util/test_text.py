import re
import unicodedata
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from deepspeech.util.errors import AlphabetError
from deepspeech.util.text import Alphabet, outputs_needed

NO_LABELS = "\n\r\0"
CHARACTERS = st.characters(codec="utf-8", exclude_characters=NO_LABELS)
LABELS = st.lists(CHARACTERS, min_size=1, max_size=40, unique=True).map(tuple)
SEQUENCES = st.text(CHARACTERS.filter(lambda each: not each.isspace()), min_size=1, max_size=3)
TAMIL = ("\u0b95", "\u0b95\u0bbf", "\u0ba4\u0bcd", "\u0ba4")
"""A consonant, the same consonant with a vowel sign, and another consonant without and with its vowel."""


def written(tmp_path: Path, content: str | bytes) -> Path:
    path = tmp_path / "alphabet.txt"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def test_label_order_is_line_order_and_the_blank_comes_last(tmp_path: Path) -> None:
    alphabet = Alphabet.load(written(tmp_path, "# letters\n \nb\na\n'\n# the end\n"))
    assert alphabet.labels == (" ", "b", "a", "'")
    assert (alphabet.size, alphabet.blank) == (4, 4)


def test_an_escaped_hash_is_a_label(tmp_path: Path) -> None:
    assert Alphabet.load(written(tmp_path, "#comment\n\\#\n\\\n")).labels == ("#", "\\")


@given(LABELS)
@example(("\ufeff", "a"))  # a byte order mark at the beginning of a file
def test_the_text_of_a_file_is_read_back_as_the_same_labels(
    tmp_path_factory: pytest.TempPathFactory, labels: tuple[str, ...]
) -> None:
    path = written(tmp_path_factory.getbasetemp(), Alphabet(labels).file_text)
    assert Alphabet.load(path).labels == labels


def test_labels_in_decomposed_form_can_be_read_composed(tmp_path: Path) -> None:
    assert Alphabet.load(written(tmp_path, "a\ne\u0301\n\\#\n\u212b\n"), composed=True).labels == (
        "a",
        "\u00e9",
        "#",
        "\u00c5",
    )


@pytest.mark.parametrize("content", ["\ufeff \na\n", " \r\na\r\n", " \na", " \n\na\n", " \na\n\n\n"])
def test_byte_order_mark_line_ends_and_empty_lines_do_not_matter(tmp_path: Path, content: str) -> None:
    assert Alphabet.load(written(tmp_path, content)).labels == (" ", "a")


def test_the_shipped_alphabet_is_english() -> None:
    alphabet = Alphabet.load(Path(__file__).parents[2] / "data" / "alphabet.txt")
    assert alphabet.decode(alphabet.encode("it's a zoo")) == "it's a zoo"
    assert alphabet.size == 28


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a\nb\n# x\na\n", r"alphabet.txt:4: label 'a' was given before, in line 1"),
        ("a\nb c\n", r"alphabet.txt:2: a line holds one label, without spaces in it, but this one holds 'b c'"),
        ("a\nb \n", r"alphabet.txt:2: a line holds one label, without spaces in it, but this one holds 'b '"),
        ("a\ne\u0301\n", r"alphabet.txt:2: label .* is one character in two parts; .* --normalize_transcripts"),
        (
            "a\n<space>\n",
            r"alphabet.txt:2: <space> is a token of another toolkit, and no label; bin/make_alphabet.py makes",
        ),
        ("<blank> 0\n", r"alphabet.txt:1: a line holds one label, .* '<blank> 0'; bin/make_alphabet.py makes"),
        ("a\0\n\0", r"alphabet.txt:1: a NUL character, as in UTF-16; save the alphabet in UTF-8"),
        ("# nothing\n\n", r"alphabet.txt: no labels"),
        ("", r"alphabet.txt: no labels"),
        ("# the editor took the space\n\na\nb\n", r"alphabet.txt:2: empty line; put the space back"),
        (b"a\n\xff\n", r"alphabet.txt: the alphabet is not UTF-8: .*; a model of sentencepiece .*=wordpieces"),
    ],
)
def test_a_malformed_file_is_refused_with_its_line(tmp_path: Path, content: str | bytes, message: str) -> None:
    with pytest.raises(AlphabetError, match=message) as error:
        Alphabet.load(written(tmp_path, content))
    assert "\n" not in str(error.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(
        AlphabetError, match=re.escape(f"{tmp_path / 'none.txt'}: cannot read the alphabet: No such file")
    ):
        Alphabet.load(tmp_path / "none.txt")


def test_characters_outside_the_alphabet_are_named() -> None:
    with pytest.raises(AlphabetError, match=r"'\?' \(U\+003F QUESTION MARK\), 'É' \(U\+00C9") as error:
        Alphabet(("a", "b")).encode("ab?É?")
    assert str(error.value).count("?") == 1
    assert Alphabet(("a", "b")).missing("ab?É?") == ["?", "É", "?"]


@pytest.mark.parametrize("label", [-1, 2, 3])
def test_the_blank_and_other_numbers_are_no_labels(label: int) -> None:
    with pytest.raises(AlphabetError, match=f"{label} is not a label; the alphabet has labels 0 to 1"):
        Alphabet(("a", "b")).decode([0, label])


@pytest.mark.parametrize("labels", [(), ("a", "a"), ("a b",), (" a",), ("",), ("a\0",)])
def test_labels_must_be_distinct_and_without_spaces_beside_others(labels: tuple[str, ...]) -> None:
    with pytest.raises(AlphabetError, match=r"at least one label|distinct characters .* without NUL"):
        Alphabet(labels)


@given(LABELS, st.data())
def test_decoding_undoes_encoding(labels: tuple[str, ...], data: st.DataObject) -> None:
    alphabet = Alphabet(labels)
    text = data.draw(st.text(st.sampled_from(labels)))
    encoded = alphabet.encode(text)
    assert encoded.dtype == np.int32
    assert encoded.shape == (len(text),)
    assert alphabet.decode(encoded) == text


@pytest.mark.parametrize(("labels", "outputs"), [([], 0), ([3], 1), ([0, 1, 0], 3), ([5, 5, 2, 2, 2], 8)])
def test_ctc_needs_an_output_for_each_label_and_one_between_equal_ones(labels: list[int], outputs: int) -> None:
    assert outputs_needed(np.array(labels, np.int32)) == outputs


def test_letters_with_their_marks_are_labels_and_the_longest_that_fits_is_taken(tmp_path: Path) -> None:
    alphabet = Alphabet.load(written(tmp_path, "".join(f"{label}\n" for label in TAMIL)))
    assert alphabet.encode("".join(TAMIL)).tolist() == [0, 1, 2, 3]
    assert alphabet.pieces(TAMIL[1] + TAMIL[2]) == [(TAMIL[1], 1), (TAMIL[2], 1)]
    assert alphabet.decode([1, 2]) == TAMIL[1] + TAMIL[2]
    with pytest.raises(AlphabetError, match=r"U\+0BBF TAMIL VOWEL SIGN I"):
        alphabet.encode(TAMIL[0] + TAMIL[1] + TAMIL[1][1])


@given(st.lists(SEQUENCES, min_size=1, max_size=20, unique=True), st.data())
def test_what_labels_spell_is_spelled_again_with_as_few_or_fewer(labels: list[str], data: st.DataObject) -> None:
    single = dict.fromkeys("".join(labels))
    alphabet = Alphabet(tuple(dict.fromkeys([*labels, *single])))
    text = "".join(data.draw(st.lists(st.sampled_from(labels), max_size=10)))
    assert alphabet.decode(alphabet.encode(text)) == text
    assert sum(count for _, count in alphabet.pieces(text)) == len(alphabet.encode(text)) <= len(text)


@given(st.lists(SEQUENCES | st.sampled_from(["#", "\\#", "\\\\#", "#a", "\\a"]), min_size=1, max_size=20, unique=True))
def test_labels_of_several_characters_survive_a_file(
    tmp_path_factory: pytest.TempPathFactory, labels: list[str]
) -> None:
    composed = [each for each in labels if len(each) == 1 or len(unicodedata.normalize("NFC", each)) > 1]
    if composed:
        path = written(tmp_path_factory.getbasetemp(), Alphabet(tuple(composed)).file_text)
        assert Alphabet.load(path).labels == tuple(composed)


@given(st.binary(max_size=60))
def test_any_bytes_are_an_alphabet_or_an_alphabet_error(
    tmp_path_factory: pytest.TempPathFactory, content: bytes
) -> None:
    try:
        alphabet = Alphabet.load(written(tmp_path_factory.mktemp("alphabet"), content))
    except AlphabetError:
        return
    assert len(set(alphabet.labels)) == alphabet.size > 0
