"""Normalizes transcripts, so that the same words are always written in the same way; and divides them into words."""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial, reduce
from itertools import groupby
from typing import Any

from .errors import FlagError
from .web.libraries import check_libraries

_DOTTED_I = re.compile("i\u0307+")
_FINAL_SIGMA = re.compile(r"(?<=[^\W\d_])\u03c3(?!\S)")
"""A sigma at the end of a Greek word, which has another form there; before a dot, Unicode sees no end of a word."""


def _lower(text: str) -> str:
    """Return a text in Unicode's lower case, where İ is an i with a combining dot, without that dot."""
    return _DOTTED_I.sub("i", text.lower())


def _lower_turkish(text: str) -> str:
    """Return a text in the lower case of Turkish and Azerbaijani, in which I is not the capital of i."""
    return _lower(text.replace("I", "\u0131"))


CASES: Mapping[str, Callable[[str], str]] = {
    "lower": _lower,
    "upper": str.upper,
    "keep": str,
    "turkish": _lower_turkish,
}
"""The conversions of case, by name; only the last is for some languages, in place of `lower`."""

REPLACEMENT = "\ufffd"
"""What programs write in place of bytes that are no text."""
APOSTROPHES = "\u2019\u2018\u02bc\u201b\u2032\u00b4`\uff07\u05f3\u055a"
"""Characters that are used as apostrophes, also Hebrew's and Armenian's; each is replaced by '."""
HYPHENS = "\u2010\u2011"
"""Typographic hyphens; each is replaced by -."""
_INSIDE_WORDS = f"'-{APOSTROPHES}{HYPHENS}"
"""Characters that are kept only inside words."""
_JOINERS = "\u200c\u200d"
"""The invisible characters that Persian and the scripts of India need."""
_LONE_JOINERS = re.compile(rf"(?<!\S)[{_JOINERS}]+|(?<=\u200c)\u200c+|(?<=\u200d)\u200d+")
"""Joiners that join nothing, which would be invisible words, and repeated ones."""
_UNSEEN = "\u034f\u115f\u1160\u20d0-\u20ff\u3164\ufe00-\ufe0f\U000e0100-\U000e01ef"
"""Invisible characters that Unicode has among letters and marks, such as selectors of emoji, and marks of symbols."""
_INSIDE_LL = "(?<=[lL]\u00b7)(?=[lL])"
"""The place after the dot of Catalan's l·l, which is one letter of a word."""
_WITHIN_WORDS = "\u0640\u055b\u055c\u055e\u055f\u05f4"
"""Arabic's tatweel, which stretches words, and the marks that Armenian and Hebrew write within words: no letters."""
_GERSHAYIM = re.compile('(?<=[\u0591-\u05bd\u05bf-\u05ea])["\u201c\u201d](?=[\u05d0-\u05ea])')
"""Quotation marks in Hebrew's acronyms, in place of the gershayim that keyboards lack."""

_FORMS = ("<wide>", "<narrow>", "<initial>", "<medial>", "<final>", "<isolated>", "<compat>")
"""Unicode's names for letters of another width, forms of Arabic letters by their place in a word, and ligatures."""
_HAVING_FORMS = (0x132, 0x133, 0x13F, 0x140, *range(0xFB00, 0xFFF0))
"""The code points of such characters: the ligatures of Dutch and Catalan, and all others."""

_SPOKEN = "%\u2030\u066a\uff05&\uff06@\uff20+\uff0b=\uff1d\u00b0\u2103\u2109\u00a7\u2116"
"""Symbols that are said as words, beside those of currencies; also Arabic's percent sign and those of full width."""
_RIAL = "\ufdfc"
"""The symbol of a currency whose usual form is its name."""
_NOTE = re.compile(r"\[ ?\w[^][]*\]|\{ ?\w[^{}]*\}|<\w[^<>]*>")
"""Words in brackets that say what is heard besides speech, such as [laughs] and <noise>."""
_WITHOUT_SPACES = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3041-\u30ff\u31f0-\u31ff\u3400-\u9fff"
_WITHOUT_SPACES += "\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
"""Thai, Lao, Burmese, Khmer, Japanese and Chinese, written without spaces between words."""
_MARKS_BY_USE = f"\uff9e\uff9f{_JOINERS}"
"""Marks that Unicode has in other categories: those of katakana of half the width, and joiners."""
_UNSPACED = re.compile(f"[{_WITHOUT_SPACES}]")
_LETTER_OR_DIGIT = r"[^\W_]"
_DIGIT = re.compile(r"\d")
_GROUPED = r"\d{1,3}(?: \d{3})+(?:[.,]\d+)?"
_SPACED_LETTER = rf"[^\W_{_WITHOUT_SPACES}]"
_SPACED, _SEPARATOR = rf"[^\s{_WITHOUT_SPACES}]", r"[^\w\s]"
_BEFORE_NUMBER = rf"(?<!\d)(?<!{_SPACED_LETTER})(?<!\d{_SPACED})(?<!\d{_SEPARATOR})"
_AFTER_NUMBER = rf"(?!\d|{_SPACED_LETTER}|{_SPACED}\d|{_SEPARATOR}\d)"
_NUMBER = re.compile(rf"{_BEFORE_NUMBER}(?:{_GROUPED}|\d+){_AFTER_NUMBER}")
"""Digits, also in groups as in 1 000, but not in words, as in 1st, nor with separators, as in 3,000 and 2:30.

Letters of scripts without spaces are other words, as in 3\u6708.
"""


@dataclass(frozen=True)
class Normalizer:
    """Writes texts in one form: Unicode NFC, one case, and only letters, digits and the characters in `kept`.

    Letters and digits of full and half width, Arabic's presentation forms and ligatures become the usual ones.
    Punctuation and symbols, with their marks and joiners, become spaces; in scripts without spaces they are removed.
    Those in `kept` stay, but apostrophes and hyphens only inside words. Typographic apostrophes and hyphens become '
    and - unless `kept` has them. Spaces of all kinds, tabs and line breaks become single spaces, with none at the ends.
    Other invisible characters, except joiners in words, are removed; so are Arabic's tatweel, and the marks that
    Armenian and Hebrew write within words. Numbers stay, with their separators, and so does Catalan's l·l.
    """

    case: str = "lower"
    """One of `CASES`."""
    kept: str = "'"
    numbers_in: str = ""
    """The language, by num2words' name, in which whole numbers are written out; empty: they stay digits."""

    def __post_init__(self) -> None:
        """Raise FlagError for a case that is not in CASES, or if num2words is missing or lacks the language."""
        if self.case not in CASES:
            raise FlagError(f"--transcript_case={self.case}: must be one of {', '.join(CASES)}")
        if self.numbers_in:
            _check_language(self.numbers_in)

    def __call__(self, text: str) -> str:
        """Return the normal form of a text. A normal form stays unchanged; NFC and NFD of a text become the same."""
        text = self._spelled(text)
        if self.numbers_in and _DIGIT.search(text):
            text = self._spelled(_NUMBER.sub(self._in_words, text))
        within, dropped = self._dropped
        words = dropped.sub(" ", within.sub("", text)).split(" ")
        joined = " ".join(filter(None, (word.rstrip("\u200c") for word in words)))
        return joined if self.case in ("upper", "keep") else _FINAL_SIGMA.sub("\u03c2", joined)

    def spoken_symbols(self, text: str) -> str:
        """Return the distinct symbols of a text that are spoken as words, such as %, and not kept.

        The first bracket of a note that is not kept, such as [laughs], counts as one of them.
        """
        notes = [note for note in _NOTE.findall(text.translate(self._usual_forms)) if note[0] not in self.kept]
        return "".join(dict.fromkeys([note[0] for note in notes] + self._spoken.findall(text)))

    def lost(self, text: str) -> str:
        """Return what the normal form of a text lacks that matters: the symbols above, and I and İ that become i."""
        capitals = set(unicodedata.normalize("NFC", text)) & {"I", "\u0130"} if self.case == "lower" else ()
        return self.spoken_symbols(text) + "".join(sorted(capitals))

    def _spelled(self, text: str) -> str:
        """Return a text in NFC and one case, with one form of each letter, space, apostrophe and hyphen."""
        cased = self._cased(unicodedata.normalize("NFC", text)).translate(self._usual_forms)
        plain = self._untypographic.sub(_plain, cased)
        plain = _GERSHAYIM.sub(lambda mark: mark[0] if mark[0] in self.kept else "", plain)
        plain = _LONE_JOINERS.sub("", plain)
        return self._cased(plain)  # again: removed characters may have separated an i from its dot

    def _cased(self, text: str) -> str:
        return unicodedata.normalize("NFC", CASES[self.case](text))

    def _in_words(self, number: re.Match[str]) -> str:
        if " " in number[0] or (len(number[0]) > 1 and unicodedata.digit(number[0][0]) == 0):
            return number[0]  # it may be several numbers, or one that is spoken digit by digit
        from num2words import num2words

        try:
            return str(num2words(int(number[0]), lang=self.numbers_in))
        except Exception:  # each language raises its own error for numbers without words
            return number[0]

    @cached_property
    def _usual_forms(self) -> Mapping[int, str]:
        """The usual form of each character in `_HAVING_FORMS` that is not kept, as of A for a fullwidth one."""
        decompositions = ((code, *unicodedata.decomposition(chr(code)).partition(" ")) for code in _HAVING_FORMS)
        return {
            code: "".join(chr(int(each, 16)) for each in usual.split()).strip()
            for code, form, _, usual in decompositions
            if form in _FORMS and chr(code) not in self.kept
        }

    @cached_property
    def _untypographic(self) -> re.Pattern[str]:
        """The characters that `_plain` replaces."""
        typographic = "".join(each for each in APOSTROPHES + HYPHENS + _WITHIN_WORDS if each not in self.kept)
        return re.compile(f"[{_characters(('Z', 'Cc', 'Cf'), f' {_JOINERS}')}{_UNSEEN}{typographic}]")

    @cached_property
    def _dropped(self) -> tuple[re.Pattern[str], re.Pattern[str]]:
        """Runs of punctuation and symbols to remove, with marks and joiners: first those that leave no space."""
        kept = unicodedata.normalize("NFC", self.kept)
        inner = re.escape("".join(each for each in _INSIDE_WORDS if each in kept))
        dropped = _characters(("P", "S"), "".join(each for each in kept if each not in _INSIDE_WORDS))
        marks = _characters(("M",))
        after_letter = rf"(?:(?<={_LETTER_OR_DIGIT}[{inner}])|(?<=[{marks}{_JOINERS}][{inner}]))"
        inside_word = rf"{after_letter}(?={_LETTER_OR_DIGIT})" if inner else r"(?!)"
        inside_number = rf"(?<=\d[{dropped}])(?=\d)"
        stays = rf"(?!{inside_word}|{inside_number}|{_INSIDE_LL})"
        between = rf"(?<=[{_WITHOUT_SPACES}][{dropped}])"
        first, more = f"[{dropped}]", rf"{stays}[{dropped}{marks}{_JOINERS}]*"
        follows = rf"(?![{marks}])(?=[{_WITHOUT_SPACES}])"
        return re.compile(f"{first}{between}{more}{follows}"), re.compile(f"{first}{more}")

    @cached_property
    def _spoken(self) -> re.Pattern[str]:
        kept = f"{self.kept}{_RIAL}"
        others = "".join(each for each in _SPOKEN if each.translate(self._usual_forms) not in kept)
        return re.compile(f"[{_characters(('Sc',), kept)}{re.escape(others)}]")


def words_of(text: str) -> list[str]:
    """Return the words of a text for counting errors; white space separates them.

    In scripts without spaces, each character with its marks is a word, because there is no agreed division into words.
    Letters between such characters form words, too.
    """
    words = text.split()
    return [part for word in words for part in _parts(word)] if has_unspaced(text) else words


def has_unspaced(text: str) -> bool:
    """Return whether a text has a character of a script without spaces between words."""
    return bool(_UNSPACED.search(text))


def written_without_spaces(character: str) -> bool:
    """Return whether a character belongs to a script without spaces between words."""
    return bool(_UNSPACED.fullmatch(character))


def is_mark(character: str) -> bool:
    """Return whether a character belongs to the letter before it: a combining mark, or a joiner."""
    return character in _MARKS_BY_USE or unicodedata.category(character)[0] == "M"


def letters_with_marks(text: str) -> list[str]:
    """Return the characters of a text, each with the combining marks and joiners that follow it."""
    letters: list[str] = []
    for character in text:
        if letters and not letters[-1].isspace() and is_mark(character):
            letters[-1] += character
        else:
            letters.append(character)
    return letters


def continued(text: str, further: str, *, spaced: bool = True) -> str:
    """Return a text followed by another: after one space, or none in scripts without spaces between words.

    There is no space either unless texts are `spaced`, as those of labels without a space are not.
    """
    before, after = text.rstrip(" "), further.lstrip(" ")
    if not before or not after:
        return text if before else further
    unspaced = written_without_spaces(before[-1]) and written_without_spaces(after[0])
    return f"{before}{' ' if spaced and not unspaced else ''}{after}"


def continued_by_all(texts: Iterable[str], *, spaced: bool = True) -> str:
    """Return all texts joined as `continued` joins two."""
    return reduce(partial(continued, spaced=spaced), texts, "")


def one_line(text: str) -> str:
    """Return a text with a space in place of each line break, as labels of models of bytes can be line breaks."""
    return " ".join(text.splitlines())


def _parts(word: str) -> list[str]:
    parts: list[str] = []
    follows = False
    for character in word:
        unspaced = written_without_spaces(character)
        if parts and (is_mark(character) or (follows and not unspaced)):
            parts[-1] += character
        else:
            parts.append(character)
        follows = not written_without_spaces(parts[-1][0])
    return parts


@lru_cache
def _characters(categories: tuple[str, ...], without: str = "") -> str:
    """Return the content of a regular expression's [] for all characters whose category begins with one of these."""
    codes = [
        code
        for code in range(sys.maxunicode + 1)
        if unicodedata.category(chr(code)).startswith(categories) and chr(code) not in without
    ]
    runs = (list(run) for _, run in groupby(enumerate(codes), lambda item: item[1] - item[0]))
    return "".join(f"\\U{run[0][1]:08x}-\\U{run[-1][1]:08x}" for run in runs)


def _plain(character: re.Match[str]) -> str:
    """Return the replacement for a space, an invisible character, an apostrophe, a hyphen or a mark within words."""
    if character[0] in APOSTROPHES:
        return "'"
    if character[0] in HYPHENS:
        return "-"
    return " " if character[0].isspace() else ""


def _check_language(language: str) -> None:
    check_libraries(f"--write_out_numbers={language}:", ["num2words"], "numbers", FlagError)
    from num2words import CONVERTER_CLASSES

    known: dict[str, Any] = CONVERTER_CLASSES
    if language not in known:
        raise FlagError(f"--write_out_numbers={language}: num2words has {', '.join(sorted(known))}")
