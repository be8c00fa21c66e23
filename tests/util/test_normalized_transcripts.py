"""Transcripts are written in one form, however they were typed."""

import importlib.util
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deepspeech.util.errors import FlagError
from deepspeech.util.transcripts import CASES, Normalizer

needs_num2words = pytest.mark.skipif(
    importlib.util.find_spec("num2words") is None, reason="num2words, of the extra `numbers`, is not installed"
)

TELLING = "aA\u00e9e\u0301 \t\n\u00a0'\u2019\u02bc`\u2010-\u2014.,!%_1\u0663\u00b2\u0130I\u0131\u03a3\u00df\u0149\u01c5"
TELLING += (
    "\u0345\u0308\u0307\u200c\u200d\u200e\u00ad\u0640\u0b95\u0bcd\u0bb7\u1100\u1161\u11a8\u212b\u2260\u0338=\u1fef"
)
TELLING += '\u4e2d\uff0c\u30fb\u2764\ufe0f\u05d0\u05b7\u05f4"\u0565\u055el\u00b7'
TELLING += "\uff21\uff76\u300d\uff9e\ufe70\ufefb\ufdfa\u0140\u034f\u3164"
TEXTS = st.text(st.sampled_from(TELLING) | st.characters(codec="utf-8"), max_size=24)
NORMALIZERS = [Normalizer(case, kept) for case in CASES for kept in ("", "'", "'-.\u2019\u00e9")]


@settings(max_examples=300, deadline=None)
@given(TEXTS, st.sampled_from(NORMALIZERS))
def test_a_normalized_text_stays_as_it_is_and_forms_of_unicode_are_one(text: str, normalizer: Normalizer) -> None:
    normalized = normalizer(text)
    assert normalizer(normalized) == normalized
    assert "  " not in normalized and normalized == normalized.strip()
    assert (
        normalized == normalizer(unicodedata.normalize("NFD", text)) == normalizer(unicodedata.normalize("NFC", text))
    )
    assert unicodedata.is_normalized("NFC", normalized)


@needs_num2words
@settings(max_examples=100, deadline=None)
@given(st.text(st.sampled_from(" 012.,:-'_%a\u0663\u00b2\u0301\u200d\u200e"), max_size=12))
def test_writing_numbers_out_twice_is_writing_them_out_once(text: str) -> None:
    normalizer = Normalizer(numbers_in="en")
    assert normalizer(normalizer(text)) == normalizer(text)


@pytest.mark.parametrize(
    ("written", "normalized"),
    [
        ("Turn it ON!", "turn it on"),
        ("\u00abL\u2019ann\u00e9e\u00bb, dit-il\u2026", "l'ann\u00e9e dit il"),
        ("\u2018Rock\u2019n\u2019roll\u2019 o\u00b4clock", "rock'n'roll o'clock"),
        ("U.S.A.,now", "u s a now"),
        ("\u30ab\u300d\uff9e", "\u30ab"),
        ("soft\u00adhyphen\u200e and\u00a0tab\tend", "softhyphen and tab end"),
        ("\u0645\u0640\u0640\u0627 \u0647\u0630\u0627\u061f", "\u0645\u0627 \u0647\u0630\u0627"),
        ("\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645", "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645"),
        (
            "\u0645\u06cc\u200c\u200c\u0631\u200c \u06a9\u200c. \u0928\u094d\u200d",
            "\u0645\u06cc\u200c\u0631 \u06a9 \u0928\u094d\u200d",
        ),
        ("Col\u00b7lecci\u00f3 PARAL\u00b7LEL l\u00b7 \u00b7l k\u00b7l", "col\u00b7lecci\u00f3 paral\u00b7lel l l k l"),
        ("\u0bb5\u0ba3\u0b95\u0bcd\u0b95\u0bae\u0bcd.", "\u0bb5\u0ba3\u0b95\u0bcd\u0b95\u0bae\u0bcd"),
        ("3,000 at 2:30, 12.", "3,000 at 2:30 12"),
        ("\u2764\ufe0f ok", "ok"),
        ("ok \U0001f926\U0001f3fd\u200d\u2642\ufe0f \u2764\ufe0f\u200d\U0001f525! \u200d", "ok"),
        ("1\ufe0f\u20e3 \u845b\U000e0100\u98fe \u3164 \uffa0 e\u034f\u0301", "1 \u845b\u98fe \u00e9"),
        ("\u738b\U0001f469\u200d\U0001f680\u7c4d", "\u738b\u7c4d"),
        ("\u0565\u055e\u057d \u0565\u0584\u0589 \u0578\u055c, \u055b", "\u0565\u057d \u0565\u0584 \u0578"),
        (
            '\u05e6\u05d4"\u05dc \u05d3\u05f4\u05e8 \u05e6\u05f3\u05d0 "\u05db"',
            "\u05e6\u05d4\u05dc \u05d3\u05e8 \u05e6'\u05d0 \u05db",
        ),
        ('\u05d0\u05b7\u201d\u05d1\u200f"\u200f\u05d2:"\u05d3"', "\u05d0\u05b7\u05d1\u05d2 \u05d3"),
        ("\u738b\u7c4d\uff0c\u300a\u5b57\u300b\u3002", "\u738b\u7c4d\u5b57"),
        (
            "\uff23\uff24\u3092\uff13\u679a\uff0c\uff76\uff9e\uff9a\uff70\uff7c\uff9e",
            "cd\u30923\u679a\u30ac\u30ec\u30fc\u30b8",
        ),
        ("\ufee3\ufeae\ufea3\ufe92\ufe8e \ufefb", "\u0645\u0631\u062d\u0628\u0627 \u0644\u0627"),
        (
            "\ufb01n o\ufb03ce \u0133s co\u0140lecci\u00f3 \ud55c \u314b",
            "fin office ijs col\u00b7lecci\u00f3 \ud55c \u314b",
        ),
        ("!?", ""),
    ],
)
def test_punctuation_goes_and_what_is_said_stays(written: str, normalized: str) -> None:
    assert Normalizer()(written) == normalized


def test_what_is_listed_is_kept_and_hyphens_only_inside_words() -> None:
    assert Normalizer(kept="'-?")("Porte\u2010monnaie - l'a-t-il? -non- 'si'") == "porte-monnaie l'a-t-il? non si"
    marked = '\u05d4"\u05dc \u05d3\u05f4\u05e8 \u0565\u055e\u057d'
    assert Normalizer(kept='"\u05f4\u055e')(marked) == marked
    assert Normalizer(kept="\uff41\uff05")("\uff21\uff22 5\uff05") == "\uff41b 5\uff05"
    assert Normalizer(kept="%")("5\uff05") == "5%"
    assert Normalizer(kept="\u2019")("L\u2019an, l'an") == "l\u2019an l an"
    assert Normalizer(kept="]^\\-")("a]^\\b-c") == "a]^\\b-c"


def test_the_case_is_lower_upper_or_kept() -> None:
    assert Normalizer()("\u0130yi I\u015f\u0131k i\u0307yi i\xad\u0307yi \u00c9") == "iyi i\u015f\u0131k iyi iyi \u00e9"
    assert [Normalizer(case)("Stra\u00dfe \u039f\u0394\u039f\u03a3.") for case in ("lower", "upper", "keep")] == [
        "stra\u00dfe \u03bf\u03b4\u03bf\u03c2",
        "STRASSE \u039f\u0394\u039f\u03a3",
        "Stra\u00dfe \u039f\u0394\u039f\u03a3",
    ]
    with pytest.raises(FlagError, match="--transcript_case=title: must be one of lower, upper, keep, turkish"):
        Normalizer("title")


def test_the_lower_case_of_turkish_has_two_letters_i() -> None:
    assert Normalizer("turkish")("I\u015eIK \u0130zmir I\u0307yi Iyi i") == "\u0131\u015f\u0131k izmir iyi \u0131yi i"


def test_a_greek_word_ends_with_its_own_sigma_whatever_follows() -> None:
    texts = "\u03a9\u03a3{}\u03a9\u03a3", "\u03c9\u03c2 \u03c9\u03c2"
    assert {Normalizer()(texts[0].format(mark)) for mark in " .\u00b7:,;"} == {texts[1]}
    assert Normalizer()("\u03a3'\u03a9. \u03a3") == "\u03c3'\u03c9 \u03c3"
    assert Normalizer("keep")("\u03c9\u03c3.") == "\u03c9\u03c3"


def test_symbols_that_are_said_are_found_unless_they_are_kept() -> None:
    assert Normalizer().spoken_symbols("5 % of 3 \u20ac, 4 %; a-b") == "%\u20ac"
    assert Normalizer().spoken_symbols("5\u066a 5\uff05 \u21165 5\u2103 \uff05") == "\u066a\uff05\u2116\u2103"
    assert Normalizer(kept="%").spoken_symbols("5 % 5\uff05 5\ufdfc") == ""
    assert Normalizer().spoken_symbols("\uff3b\u7b11\uff3d") == "["
    assert Normalizer().spoken_symbols("[laughs] {breath} <noise> [a]") == "[{<"
    assert Normalizer(kept="[]").spoken_symbols("[laughs] 3 < 4 > 2 [...] {} <>") == ""


@needs_num2words
def test_whole_numbers_are_written_out_in_their_language() -> None:
    assert Normalizer(numbers_in="fr")("En 1999, 21!") == "en mille neuf cent quatre vingt dix neuf vingt et un"
    assert Normalizer("upper", "'-", "en")("21 and \u0663") == "TWENTY-ONE AND THREE"
    assert Normalizer(numbers_in="en")("3,000 2:30 1st 4x4 \u00b2 9" + 400 * "9").startswith(
        "3,000 2:30 1st 4x4 \u00b2 99"
    )
    too_large = 80 * "9"
    assert {Normalizer(numbers_in=each)(too_large) for each in ("pl", "cy", "es")} == {too_large}
    with pytest.raises(FlagError, match="--write_out_numbers=xx: num2words has am, ar"):
        Normalizer(numbers_in="xx")


@needs_num2words
@pytest.mark.parametrize("number", ["1 000", "12 345 678", "12 345,5", "0612345678", "007"])
def test_numbers_that_are_not_said_as_their_digits_read_stay(number: str) -> None:
    assert Normalizer(numbers_in="fr")(f"{number}!") == number
    assert Normalizer(numbers_in="fr")(number.replace(" ", "\u202f")) == number


@needs_num2words
def test_numbers_side_by_side_are_written_out_each() -> None:
    assert Normalizer(numbers_in="en")("5 5 0, 2020 150 2000") == (
        "five five zero two thousand and twenty one hundred and fifty two thousand"
    )


@needs_num2words
def test_numbers_beside_letters_of_scripts_without_spaces_are_written_out() -> None:
    assert Normalizer(numbers_in="ja")("3月5日に12人、") == "三月五日に十二人"
    assert Normalizer(numbers_in="th")("มี๓คน") == "มีสามคน"
    for stays in ("10,000円", "๓,๐๐๐บาท", "2:30に", "007は", "3・5", "iphone7は"):
        assert {Normalizer(numbers_in=each)(stays) for each in ("ja", "th")} == {stays}


def test_without_num2words_its_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    with pytest.raises(FlagError, match=r"--write_out_numbers=fr: needs num2words: .* extra `numbers`"):
        Normalizer(numbers_in="fr")
