"""Faults in the characters of many transcripts, summed up in few lines that say what to do."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import product

from ..errors import AlphabetError, BadRow
from ..text import Alphabet, describe
from ..transcripts import CASES, REPLACEMENT, Normalizer

MOST_LISTED = 20
"""The most rows with characters outside the alphabet that are listed one by one; more are summed up."""
MOST_LOOKED_AT = 100
"""The most texts among which an example is sought that flags would fix."""
MOST_CHARACTERS = 20
"""The most characters that a summary names."""

_LOOKALIKE_SCRIPTS = ("LATIN", "CYRILLIC", "GREEK")
"""Scripts with letters of the same shape, by the first word of their letters' names."""
_INVISIBLE = ("Cc", "Cf", "Zs", "Zl", "Zp")
"""Categories: control characters, spaces, and characters that only change how others look."""
_MEANT = (" ", "\u200c", "\u200d")
"""The space, and the joiners and non-joiners of letters, which Persian and the scripts of India need."""
_FEW = 0.01
"""Letters of another script count as mistakes up to this share of all letters."""

SAID_IN_WORDS = "write numbers out as they are said"

_BRACKETS = frozenset("[{<")
"""What stands for a note in brackets among what is lost of a transcript."""
TURKISH = frozenset("\u0131\u0130")
"""Letters of the languages, such as Turkish and Azerbaijani, in which I is not the capital of i."""
TURKISH_SHARE = 0.05
"""Transcripts are in such a language if at least this share of them has one of these letters."""
_CAPITALS = frozenset("I\u0130")
"""Capitals that become i, among what is lost of a transcript."""

_REMEDIES: Mapping[str, Callable[[str], str]] = {
    "in lower case": str.lower,
    "in upper case": str.upper,
    "in Unicode's form NFC (one character for a letter and its accents)": partial(unicodedata.normalize, "NFC"),
    "in Unicode's form NFD (accents as characters of their own)": partial(unicodedata.normalize, "NFD"),
    "in lower case and Unicode's form NFC": lambda text: unicodedata.normalize("NFC", text.lower()),
}


def summed_up(bad_rows: Sequence[BadRow], alphabet: Alphabet, normalizer: Normalizer | None = None) -> list[BadRow]:
    """Return bad rows; many rows with characters outside the alphabet become one row for each remedy.

    Rows that another way of writing brings into the alphabet are counted together; for the others, the characters are
    counted. If normalizing would bring a transcript into the alphabet, or another way of normalizing than that of the
    `normalizer`, which has written the transcripts, its row names the flags.
    """
    changes = _changes(normalizer)
    outside = [row for row in bad_rows if row.transcript]
    if len(outside) <= MOST_LISTED:
        return [_with_flags(row, alphabet, changes) for row in bad_rows]

    def ways(text: str) -> tuple[str, str]:
        return "" if normalizer else _remedy(text, alphabet), _normalization(text, alphabet, changes)

    groups: dict[tuple[str, str, bool], list[BadRow]] = {}
    for row in outside:
        remedy, flags = ways(row.transcript)
        others = "".join(each for each in row.transcript if not each.isdecimal())
        has_numbers = not (remedy or flags) and bool(alphabet.missing(others)) and any(ways(others))
        groups.setdefault((*ways(others), True) if has_numbers else (remedy, flags, False), []).append(row)
    summaries = [BadRow(rows[0].source, _summary(*ways, rows, alphabet)) for ways, rows in groups.items()]
    return [*summaries, *(row for row in bad_rows if not row.transcript)]


def example_outside(texts: Sequence[str], alphabet: Alphabet, normalizer: Normalizer | None = None) -> str:
    """Return one of some texts outside the alphabet, in quotes, if possible with the flags that would fix it.

    The `normalizer` has written the texts, of which the first are looked at.
    """
    changes = _changes(normalizer)
    for text in texts[:MOST_LOOKED_AT]:
        if flags := _normalization(text, alphabet, changes):
            return f"{text!r}, which {flags} would fix"
    return repr(texts[0])


def odd_characters(transcripts: Sequence[tuple[str, str]]) -> Iterator[str]:
    """Yield a line for each kind of character that is in the alphabet but probably a mistake.

    `transcripts` are pairs of a transcript's place and its text. Odd characters are control characters, tabs and
    unusual spaces, what stands for bytes that were no text, and a few letters of a script that looks like the script of
    nearly all others.
    """
    counts: Counter[str] = Counter()
    for _, text in transcripts:
        counts.update(text)
    invisible = {each for each in counts if each not in _MEANT and unicodedata.category(each) in _INVISIBLE}
    if invisible:
        yield f"{_having(invisible, transcripts)} invisible characters other than the space: {_named(invisible)}"
    if REPLACEMENT in counts:
        lost = f"{describe(REPLACEMENT)} in place of what was no text; write what is said, or leave the rows out"
        yield f"{_having({REPLACEMENT}, transcripts)} {lost}"
    scripts: Counter[str] = Counter()
    for character, count in counts.items():
        scripts[_script(character)] += count
    common, letters = max(scripts.items(), key=lambda item: item[1], default=("", 0))
    if common not in _LOOKALIKE_SCRIPTS:
        return
    for script in _LOOKALIKE_SCRIPTS:
        if script != common and 0 < scripts[script] <= _FEW * letters:
            strange = {each for each in counts if _script(each) == script}
            kinds = f"{script.title()} letters among {common.title()} ones, which can look the same"
            yield f"{_having(strange, transcripts)} {kinds}: {_named(strange)}"


def doubts(transcripts: Sequence[tuple[str, str, str]]) -> Iterator[str]:
    """Yield a line for digits, and one for symbols, in normalized transcripts: both are spoken as words.

    Yield another for notes in brackets, as their words are not spoken, and one for I that became i in Turkish. Each of
    `transcripts` has the place, the text, and what was lost of it; see `Normalizer.lost`.
    """
    numbers = [source for source, text, _ in transcripts if any(map(str.isdecimal, text))]
    if numbers:
        yield (
            f"{_count(numbers)} digits, which stay as they are: {SAID_IN_WORDS}; "
            "--write_out_numbers does so for whole ones"
        )
    noted = [source for source, _, lost in transcripts if _BRACKETS & {*lost}]
    if noted:
        yield f"{_count(noted)} notes in brackets, such as [laughs], and their words stay: remove what is not said"
    symbols = {each for _, _, lost in transcripts for each in lost} - _BRACKETS - _CAPITALS
    if symbols:
        dropped = [source for source, _, lost in transcripts if not symbols.isdisjoint(lost)]
        yield f"{_count(dropped)} symbols that are said as words, and are left out: {_named(symbols)}; write them out"
    capital = [source for source, _, lost in transcripts if "I" in lost]
    turkish = sum(not TURKISH.isdisjoint(text + lost) for _, text, lost in transcripts)
    if capital and turkish >= TURKISH_SHARE * len(transcripts):
        yield (
            f"{_count(capital)} I, which becomes i; in Turkish and Azerbaijani, which have \u0131 and \u0130, "
            "--transcript_case turkish makes \u0131 of it"
        )


def _changes(given: Normalizer | None) -> Mapping[str, Normalizer]:
    """Return normalizations by the flags that select them where those of `given` are given, if any."""
    now, default = given or Normalizer(), Normalizer()
    changes = {}
    for kept, case in product(dict.fromkeys((now.kept, default.kept)), CASES):
        flags = [] if given else ["--normalize_transcripts"]
        flags += [f"--transcript_case {case}"] if case != now.case else []
        flags += [f'--keep_punctuation "{kept}"'] if kept != now.kept else []
        if flags:
            changes[" ".join(flags)] = Normalizer(case, kept)
    return changes


def _with_flags(row: BadRow, alphabet: Alphabet, changes: Mapping[str, Normalizer]) -> BadRow:
    flags = _normalization(row.transcript, alphabet, changes) if row.transcript else ""
    return replace(row, reason=f"{row.reason}; {flags} would fix it") if flags else row


def _normalization(text: str, alphabet: Alphabet, changes: Mapping[str, Normalizer]) -> str:
    """Return the flags that make a text fit the alphabet; empty if there are none, or the text would become empty."""
    for flags, normalized in changes.items():
        with suppress(AlphabetError):
            if len(alphabet.encode(normalized(text))):
                return flags
    return ""


def _remedy(text: str, alphabet: Alphabet) -> str:
    """Return the way of writing that makes a text fit the alphabet; empty if there is none."""
    for remedy, change in _REMEDIES.items():
        with suppress(AlphabetError):
            alphabet.encode(change(text))
            return remedy
    return ""


def _summary(remedy: str, flags: str, has_numbers: bool, rows: Sequence[BadRow], alphabet: Alphabet) -> str:
    """Return the line for rows that one of these ways would fix, once any numbers in them are written out."""
    count = f"the first of {len(rows)} transcripts" if len(rows) > 1 else "a transcript"
    if has_numbers:
        way = f"write the others {remedy}" if remedy else f"give {flags}"
        given = f" or give {flags}" if remedy and flags else ""
        return f"{count} with digits and other characters outside the alphabet; {SAID_IN_WORDS}, and {way}{given}"
    if remedy:
        given = f", or give {flags}" if flags else ""
        return f"{count} with characters outside the alphabet that would fit it {remedy}; write them so{given}"
    if flags:
        return f"{count} with characters outside the alphabet; {flags} would fix this"
    missing = Counter(each for row in rows for each in dict.fromkeys(alphabet.missing(row.transcript)))
    named = ", ".join(f"{describe(each)} in {having}" for each, having in missing.most_common(MOST_CHARACTERS))
    more = f" and {len(missing) - MOST_CHARACTERS} others" if len(missing) > MOST_CHARACTERS else ""
    how = f"{SAID_IN_WORDS}, change the rest," if any(map(str.isdecimal, missing)) else "change them,"
    return f"{count} with characters outside the alphabet; {how} or add the characters: {named}{more}"


def _script(character: str) -> str:
    return unicodedata.name(character, "").partition(" ")[0] if character.isalpha() else ""


def _having(characters: set[str], transcripts: Sequence[tuple[str, str]]) -> str:
    return _count([source for source, text in transcripts if not characters.isdisjoint(text)])


def _count(having: Sequence[str]) -> str:
    first = having[0]
    if len(having) == 1:
        return f"1 transcript, that of {first}, has"
    return f"{len(having)} transcripts, such as that of {first}, have"


def _named(characters: set[str]) -> str:
    shown = sorted(characters)[:MOST_CHARACTERS]
    more = f" and {len(characters) - len(shown)} others" if len(characters) > len(shown) else ""
    return ", ".join(map(describe, shown)) + more
