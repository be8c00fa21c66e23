from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepspeech.util.errors import AlphabetError
from deepspeech.util.output_units import SyllableAlphabet, load_alphabet, restored_alphabet
from deepspeech.util.output_units.syllables import readings_of, syllables_of

GREETING = SyllableAlphabet.of(["ni3", "hao3", "shi4", "jie4", "hang2", "xing2"])


def test_characters_become_the_syllables_that_the_words_around_them_give() -> None:
    assert syllables_of("银行不行") == ["yin2", "hang2", "bu4", "xing2"]
    assert syllables_of("绿桌 子") == ["lv4", "zhuo1", "zi5"]


def test_characters_and_syllables_are_spelled_alike() -> None:
    labels = GREETING.encode("你好 世界")
    assert labels.tolist() == [0, 1, 2, 3] == GREETING.encode("ni3 hao3 shi4 jie4").tolist()
    assert GREETING.decode(labels) == "ni3 hao3 shi4 jie4"
    assert GREETING.output_labels[:2] == (" ni3", " hao3")
    assert GREETING.pieces("你好") == [("你", 1), ("好", 1)]


def test_what_has_no_reading_and_what_the_alphabet_lacks_is_named() -> None:
    with pytest.raises(AlphabetError, match=r"'a' \(U\+0061 .*\), 'ma1'") as error:
        GREETING.encode("你a好妈")
    assert "ni3" not in str(error.value)


def test_each_reading_of_a_character_has_its_label() -> None:
    texts, labels = GREETING.readings("行你妈x")
    assert set(zip(texts, labels, strict=True)) == {("行", 4), ("行", 5), ("你", 0)}
    assert "ge5" in readings_of("个")


def test_a_file_of_syllables_is_read_back(tmp_path: Path) -> None:
    (tmp_path / "syllables.txt").write_text("# Mandarin\n" + GREETING.file_text)
    assert load_alphabet("pinyin", tmp_path / "syllables.txt") == GREETING
    assert restored_alphabet("pinyin", GREETING.output_labels, b"") == GREETING
    (tmp_path / "wrong.txt").write_text("ni3\nhao\n")
    with pytest.raises(AlphabetError, match=r"wrong.txt: ' hao' is not a syllable of pinyin with its tone"):
        load_alphabet("pinyin", tmp_path / "wrong.txt")
    with pytest.raises(
        AlphabetError, match=r"--output_unit=pinyin: needs --alphabet_config_path; bin/make_alphabet.py"
    ):
        load_alphabet("pinyin", None)


@given(st.text(st.characters(min_codepoint=0x4E00, max_codepoint=0x9FA5), min_size=1, max_size=12))
def test_every_chinese_character_has_one_syllable(text: str) -> None:
    syllables = syllables_of(text)
    assert len(syllables) == len(text)
    regular = [each for each in syllables if each[-1:] in "12345" and each[:-1].isalpha() and each.isascii()]
    if len(regular) == len(text):
        alphabet = SyllableAlphabet.of(dict.fromkeys(regular))
        assert alphabet.decode(alphabet.encode(text)) == " ".join(syllables)
