# ruff: noqa: RUF001 - the letters that look like others are what is tested
"""Many transcripts with wrong characters are summed up, and characters that are probably mistakes are named."""

import logging
import unicodedata
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from corpora import RATE, write_csv, write_wav

from deepspeech.util.corpus import Corpus, read_corpus
from deepspeech.util.errors import AlphabetError, CorpusError
from deepspeech.util.features import FeatureOptions, front_end
from deepspeech.util.text import Alphabet
from deepspeech.util.transcripts import Normalizer

LETTERS = tuple(" abcdefghijklmnopqrstuvwxyzé")
RUSSIAN = tuple(" абвгдежзиклмнопрстуфхцчшщъыьэюяa")


def read(
    folder: Path, transcripts: Sequence[str], labels: Sequence[str] = LETTERS, normalizer: Normalizer | None = None
) -> Corpus:
    sound = (np.sin(np.arange(RATE) / 5) / 10).astype(np.float32)
    rows = [(write_wav(folder / f"{number}.wav", sound), text) for number, text in enumerate(transcripts)]
    csv_file = write_csv(folder / "all.csv", rows)
    extractor = front_end(FeatureOptions())
    return read_corpus([csv_file], Alphabet(tuple(labels)), extractor, progress=False, normalizer=normalizer)


def complaints(
    folder: Path, transcripts: Sequence[str], labels: Sequence[str] = LETTERS, normalizer: Normalizer | None = None
) -> list[str]:
    with pytest.raises(CorpusError) as error:
        read(folder, transcripts, labels, normalizer)
    return str(error.value).replace(f"{folder}/", "").splitlines()


def test_an_upper_case_corpus_is_one_line_that_says_what_to_do(tmp_path: Path) -> None:
    assert complaints(tmp_path, ["TURN ON", "off"] * 30) == [
        "30 bad rows of 60 in all.csv; correct or remove the rows listed here:",
        "all.csv:2: the first of 30 transcripts with characters outside the alphabet that would fit it in lower case; "
        "write them so, or give --normalize_transcripts",
    ]


def test_an_upper_case_corpus_with_numbers_is_one_line_that_says_what_to_do_about_both(tmp_path: Path) -> None:
    (line,) = complaints(tmp_path, ["TURN ON 7", "OFF IN 10"] * 15)[1:]
    assert line == (
        "all.csv:2: the first of 30 transcripts with digits and other characters outside the alphabet; write numbers "
        "out as they are said, and write the others in lower case or give --normalize_transcripts"
    )
    (line,) = complaints(tmp_path, ["Turn on, 7!"] * 30)[1:]
    assert line.endswith("; write numbers out as they are said, and give --normalize_transcripts")


def test_other_ways_of_writing_and_other_characters_have_a_line_each(tmp_path: Path) -> None:
    decomposed = unicodedata.normalize("NFD", "café")
    rows = [decomposed] * 20 + ["A"] * 2 + ["x 1", "x 12", "y 1"] + [""]
    head, *lines = complaints(tmp_path, rows)
    assert head.startswith("26 bad rows of 26")
    assert [line.split(": ")[0] for line in lines] == ["all.csv:2", "all.csv:22", "all.csv:24", "all.csv:27"]
    assert "20 transcripts" in lines[0] and "form NFC" in lines[0]
    assert "; write numbers out as they are said, change the rest, or add" in lines[2]
    assert lines[2].endswith("add the characters: '1' (U+0031 DIGIT ONE) in 3, '2' (U+0032 DIGIT TWO) in 1")
    assert lines[3] == "all.csv:27: empty transcript"


def test_characters_that_are_equally_frequent_are_named_in_the_order_of_the_text(tmp_path: Path) -> None:
    _, line = complaints(tmp_path, ["qwertzuiop"] * 21, "ab")
    named = line.partition("add the characters: ")[2].split(", ")
    assert "".join(each[1] for each in named) == "qwertzuiop"


def test_what_normalizing_would_mend_is_said_with_the_flags_for_it(tmp_path: Path) -> None:
    lines = complaints(tmp_path, ["Off!", "a1", "off"])[1:]
    assert ["; --normalize_transcripts would fix it" in line for line in lines] == [True, False]
    (line,) = complaints(tmp_path, ["Turn on, OFF!"] * 30)[1:]
    assert line == (
        "all.csv:2: the first of 30 transcripts with characters outside the alphabet; "
        "--normalize_transcripts would fix this"
    )
    (line,) = complaints(tmp_path, ["Turn on."] * 30, [" ", *(each.upper() for each in LETTERS[1:])])[1:]
    assert line.endswith("; --normalize_transcripts --transcript_case upper would fix this")


@pytest.mark.parametrize(
    ("given", "text", "flags"),
    [
        (Normalizer(kept="'-"), "well-known", '--keep_punctuation "\'"'),
        (Normalizer("upper"), "Off!", "--transcript_case lower"),
        (Normalizer("keep", "'-"), "Well-known!", '--transcript_case lower --keep_punctuation "\'"'),
        (Normalizer("upper", "'-"), "a1", ""),
    ],
)
def test_flags_that_are_given_are_not_recommended(tmp_path: Path, given: Normalizer, text: str, flags: str) -> None:
    (line,) = complaints(tmp_path, [text], normalizer=given)[1:]
    assert line.rpartition(")")[2] == (f"; {flags} would fix it" if flags else "")
    (line,) = complaints(tmp_path, [text] * 30, normalizer=given)[1:]
    assert line.endswith(f"outside the alphabet; {flags} would fix this") == bool(flags)


def test_a_few_rows_are_still_listed_one_by_one(tmp_path: Path) -> None:
    assert len(complaints(tmp_path, ["A"] * 20)) == 21


def test_a_label_in_decomposed_form_gets_a_word_about_it(tmp_path: Path) -> None:
    path = tmp_path / "alphabet.txt"
    path.write_text(f"a\n{unicodedata.normalize('NFD', 'é')}\n", encoding="utf-8")
    with pytest.raises(AlphabetError, match="form NFC"):
        Alphabet.load(path)


def test_letters_that_look_like_others_invisible_characters_and_lost_ones_are_named(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    words = ["привет мир"] * 50
    read(tmp_path, [*words, "мaма"], RUSSIAN)
    read(tmp_path, [*words, "привет\tмир", "мир\u00a0мир"], [*RUSSIAN, "\t", "\u00a0"])
    read(tmp_path, [*words, "при\ufffd"], [*RUSSIAN, "\ufffd"])
    assert [each.getMessage().replace(f"{tmp_path}/", "") for each in caplog.records] == [
        "all.csv: 1 transcript, that of all.csv:52, has Latin letters among Cyrillic ones, which can look the "
        "same: 'a' (U+0061 LATIN SMALL LETTER A)",
        "all.csv: 2 transcripts, such as that of all.csv:52, have invisible characters other than the space: "
        r"'\t' (U+0009), '\xa0' (U+00A0 NO-BREAK SPACE)",
        "all.csv: 1 transcript, that of all.csv:52, has '\ufffd' (U+FFFD REPLACEMENT CHARACTER) in place of what was "
        "no text; write what is said, or leave the rows out",
    ]
    assert all(each.levelno == logging.WARNING for each in caplog.records)


def test_the_parts_of_a_check_that_take_long_for_many_rows_tell_what_is_done(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    caplog.set_level(logging.INFO)
    for seconds in (1000.0, 0.0):
        monkeypatch.setattr("deepspeech.util.progress.SHORT_SECONDS", seconds)
        read(tmp_path, ["a", "b"])
    told = [each.replace(f"{tmp_path}/", "").partition(" in ")[0] for each in caplog.messages]
    always = "Checking all.csv: 2 rows"
    assert told == [always, "Reading all.csv: 2 rows", always, "Comparing the transcripts of all.csv: 2 rows"]


def test_scripts_that_are_mixed_on_purpose_and_joiners_need_no_word(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    read(tmp_path, ["abc где", "где abc", "a\u200cb"], [*LETTERS, *RUSSIAN[1:-1], "\u200c"])
    assert not caplog.records


def test_normalized_transcripts_are_what_is_learned_and_words_that_they_lack_are_counted(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    rows = ["  Off!", unicodedata.normalize("NFD", "caf\u00e9"), "5 % \u2013 3 \u20ac", "a 12", "[off] a"]
    corpus = read(tmp_path, rows, [*LETTERS, *"1235"], Normalizer())
    assert [utterance.transcript for utterance in corpus] == ["off", "caf\u00e9", "5 3", "a 12", "off a"]
    assert [each.getMessage().replace(f"{tmp_path}/", "") for each in caplog.records] == [
        "all.csv: 2 transcripts, such as that of all.csv:4, have digits, which stay as they are: write numbers out as "
        "they are said; --write_out_numbers does so for whole ones",
        "all.csv: 1 transcript, that of all.csv:6, has notes in brackets, such as [laughs], and their words stay: "
        "remove what is not said",
        "all.csv: 1 transcript, that of all.csv:4, has symbols that are said as words, and are left out: "
        "'%' (U+0025 PERCENT SIGN), '\u20ac' (U+20AC EURO SIGN); write them out",
    ]


TURKISH = [*" abcdefghijklmnoprstuvyz\u0131\u015f\u011f"]


@pytest.mark.parametrize("marked", ["\u0131\u015f\u0131k", "\u0130zmir", unicodedata.normalize("NFD", "\u0130zmir")])
def test_a_capital_that_lower_case_mistakes_in_turkish_is_told_with_the_flag_that_writes_it(
    marked: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    for case in ("lower", "turkish"):
        read(tmp_path, ["Irmak", marked, "deniz"], TURKISH, Normalizer(case))
    assert [each.getMessage().replace(f"{tmp_path}/", "") for each in caplog.records] == [
        "all.csv: 1 transcript, that of all.csv:2, has I, which becomes i; in Turkish and Azerbaijani, which have "
        "\u0131 and \u0130, --transcript_case turkish makes \u0131 of it"
    ]


def test_a_turkish_name_in_another_language_and_turkish_without_capitals_need_no_word(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    read(tmp_path, [*["I am"] * 30, "\u0130zmir"], TURKISH, Normalizer())
    read(tmp_path, ["\u0131\u015f\u0131k", "\u0130zmir"], TURKISH, Normalizer())
    assert not [each for each in caplog.records if "Turkish" in each.getMessage()]
