"""Subtitles from words and their times."""

from __future__ import annotations

import itertools
import re
import sys
from pathlib import Path

from deepspeech.serving.server import page
from deepspeech.serving.subtitles import LONGEST_CUE_CHARACTERS, LONGEST_CUE_SECONDS, Cue, cues, srt, webvtt
from deepspeech.serving.transcripts import TimedWord
from deepspeech.util.transcripts import written_without_spaces

PAGES_FORMATS = Path(page.__file__).with_name("static") / "formats.js"


def test_cues_are_short_and_do_not_overlap() -> None:
    words = [TimedWord(f"word{number}", number * 0.4, number * 0.4 + 0.3) for number in range(100)]
    made = cues(words)
    assert " ".join(cue.text for cue in made) == " ".join(word.text for word in words)
    assert all(len(cue.text) <= LONGEST_CUE_CHARACTERS and cue.end - cue.start <= LONGEST_CUE_SECONDS for cue in made)
    assert all(before.end <= after.start for before, after in itertools.pairwise(made))


def test_a_short_cue_ends_where_the_next_one_begins() -> None:
    made = cues([TimedWord("x" * 60, 1.0, 1.1), TimedWord("y" * 60, 1.5, 1.6)])
    assert [(cue.start, cue.end) for cue in made] == [(1.0, 1.5), (1.5, 2.2)]


def test_a_pause_ends_a_cue_and_a_short_word_stays_readable() -> None:
    made = cues([TimedWord("yes", 1.0, 1.02), TimedWord("no", 3.0, 3.1), TimedWord("maybe", 3.2, 3.5)])
    assert made == [Cue(1.0, 1.7, "yes"), Cue(3.0, 3.7, "no maybe")]
    assert cues([TimedWord("oui", 11.68, 11.72)]) == [Cue(11.68, 12.38, "oui")]  # not 12.379999999999999, as in JSON
    assert cues([]) == []


def test_phrases_of_a_script_without_spaces_are_shown_without_them() -> None:
    assert [cue.text for cue in cues([TimedWord("你好", 0.0, 0.5), TimedWord("世界", 0.6, 1.0)])] == ["你好世界"]
    mixed = [TimedWord("上", 0.0, 0.2), TimedWord("cloud", 0.3, 0.6), TimedWord("nine", 0.7, 1.0)]
    assert [cue.text for cue in cues(mixed)] == ["上 cloud nine"]


def test_spaces_of_the_text_stay_also_in_scripts_without_spaces_between_words() -> None:
    text = "\u0e14\u0e35 \u0e04\u0e23\u0e31\u0e1a\u0e04\u0e38\u0e13"
    phrases = ("\u0e14\u0e35", "\u0e04\u0e23\u0e31\u0e1a", "\u0e04\u0e38\u0e13")
    words = [TimedWord(phrase, second, second + 0.9) for second, phrase in enumerate(phrases)]
    assert [cue.text for cue in cues(words, text=text)] == [text]


def test_the_page_knows_the_same_scripts_without_spaces() -> None:
    found = re.search(r"UNSPACED = /(.*)/u;", PAGES_FORMATS.read_text(encoding="utf-8"))
    assert found
    unspaced = re.compile(re.sub(r"\\u\{(\w+)\}", lambda code: chr(int(code[1], 16)), found[1]))
    characters = "".join(map(chr, range(sys.maxunicode + 1)))
    assert unspaced.findall(characters) == list(filter(written_without_spaces, characters))


def test_files_are_of_their_formats() -> None:
    shown = [Cue(0, 1.5, "a & b"), Cue(3661.0625, 3662, "c")]
    assert srt(shown) == ("1\n00:00:00,000 --> 00:00:01,500\na & b\n\n2\n01:01:01,062 --> 01:01:02,000\nc\n")
    assert webvtt(shown) == ("WEBVTT\n\n00:00:00.000 --> 00:00:01.500\na &amp; b\n\n01:01:01.062 --> 01:01:02.000\nc\n")


def test_a_line_break_of_a_label_ends_no_cue() -> None:
    words = [TimedWord("one\n\ntwo\u2028", 0.0, 1.0), TimedWord("\n", 2.0, 2.1), TimedWord("\tthree", 3.0, 4.0)]
    made = cues(words, text="one\n\ntwo\u2028 \n \tthree")
    assert made == [Cue(0.0, 1.0, "one  two"), Cue(3.0, 4.0, "three")]


def test_a_cue_has_up_to_84_characters_and_6_seconds_and_no_pause_of_0_8_seconds() -> None:
    def number(*words: TimedWord) -> int:
        return len(cues(words))

    one = TimedWord("a" * 40, 0.0, 1.0)
    assert [number(one, TimedWord("b" * size, 1.0, 2.0)) for size in (43, 44)] == [1, 2]
    assert [number(one, TimedWord("b", 1.5, end)) for end in (6.0, 6.1)] == [1, 2]
    assert [number(one, TimedWord("b", begin, 2.0)) for begin in (1.75, 1.8)] == [1, 2]


def test_texts_and_voices_of_webvtt_are_escaped_and_times_rounded() -> None:
    shown = [Cue(0.0, 1.9996, "a & <b>", "<&>")]
    assert webvtt(shown) == "WEBVTT\n\n00:00:00.000 --> 00:00:02.000\n<v &lt;&amp;&gt;>a &amp; &lt;b&gt;\n"
