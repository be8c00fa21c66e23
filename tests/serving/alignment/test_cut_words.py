"""`python -m deepspeech.cut_words` lists words of sentences as utterances to train on."""

from __future__ import annotations

import csv
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
import soundfile
from corpora import CHARACTER_SECONDS, RATE, TinyCorpus, say, write_wav
from hypothesis import given
from hypothesis import strategies as st
from running import assert_fails_with

from deepspeech.cli.importing.words import Word, equally_often
from deepspeech.serving.alignment.isolated_words import is_in_one_place
from deepspeech.serving.alignment.transcript import AlignedCharacter, AlignedWord
from deepspeech.util.corpus import read_corpus
from deepspeech.util.features import FeatureOptions, front_end
from deepspeech.util.text import Alphabet

BEGIN = 0.06
"""Seconds before the first character of speech."""


def cut_words(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "deepspeech.cut_words", *map(str, arguments)]
    return subprocess.run(command, cwd=Path(__file__).parents[3], capture_output=True, text=True)


@pytest.fixture
def sentences(tmp_path: Path) -> Path:
    """Return a list of two sentences; the second begins one second into its recording."""
    random = np.random.default_rng(3)
    write_wav(tmp_path / "first.wav", say("abc de", random))
    write_wav(tmp_path / "second.wav", np.concatenate([np.zeros(RATE, np.float32), say("cab bed ad", random)]))
    listed = tmp_path / "sentences.csv"
    listed.write_text(
        "wav_filename,transcript,start,duration,speaker\nfirst.wav,abc de,,,Ann\nsecond.wav,cab bed ad,1,,Bob\n"
    )
    return listed


def test_words_are_listed_where_they_are_said_and_are_read_as_utterances(
    graph_file: Path, sentences: Path, tiny_corpus: TinyCorpus, tmp_path: Path
) -> None:
    listed = tmp_path / "words.csv"
    done = cut_words(graph_file, sentences, "--words", "de", "bed", "fee", "--output", listed)
    assert done.returncode == 0, done.stderr
    assert done.stderr.endswith(
        f"{listed}: 2 words; 0 more are not recognized at their place\n"
        "not listed, as they are in no transcript or not recognized: fee\n"
    )
    with listed.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["transcript"], row["speaker"]) for row in rows] == [("de", "Ann"), ("bed", "Bob")]
    for row, characters_before, offset in zip(rows, (4, 4), (0.0, 1.0), strict=True):
        begin = offset + BEGIN + characters_before * CHARACTER_SECONDS
        end = begin + len(row["transcript"]) * CHARACTER_SECONDS
        start, stop = float(row["start"]), float(row["start"]) + float(row["duration"])
        assert begin - 2 * CHARACTER_SECONDS < start < begin + CHARACTER_SECONDS / 2
        assert end - CHARACTER_SECONDS / 2 < stop < end + 2 * CHARACTER_SECONDS
    read = read_corpus([listed], Alphabet.load(tiny_corpus.alphabet), front_end(FeatureOptions(feature_type="psf")))
    assert [each.transcript for each in read] == ["de", "bed"]


def test_recordings_without_a_wanted_word_are_not_heard(graph_file: Path, sentences: Path) -> None:
    sentences.write_text(f"{sentences.read_text()}none.wav,bad cab,,,Bob\nlost.wav,ad de,,,Bob\n")
    done = cut_words(graph_file, sentences, "--words", "de", "--output", sentences.with_name("words.csv"))
    assert [line for line in done.stderr.splitlines() if "Left out" in line] == [
        f"W Left out: {sentences}:5: {sentences.with_name('lost.wav')}: No such file or directory"
    ]


def test_each_word_is_listed_equally_often_and_of_the_speakers_in_turn(graph_file: Path, sentences: Path) -> None:
    listed = sentences.with_name("words.csv")
    done = cut_words(graph_file, sentences, "--of_each", "2", "--output", listed)
    assert done.returncode == 0, done.stderr
    assert f"{listed}: 10 words of 5; " in done.stderr
    with listed.open(encoding="utf-8", newline="") as file:
        assert Counter(row["transcript"] for row in csv.DictReader(file)) == dict.fromkeys(
            ["abc", "de", "cab", "bed", "ad"], 2
        )
    assert_fails_with(cut_words(graph_file, sentences, "--of_each", "0"), "'0' is not a number of at least 1")


@given(st.lists(st.tuples(st.sampled_from("xyz"), st.sampled_from(["", "Ann", "Bob"]))), st.integers(1, 5))
def test_a_word_is_chosen_again_only_when_all_were_and_a_speaker_only_when_the_others_have_had_a_turn(
    said: list[tuple[str, str]], count: int
) -> None:
    words = [Word(str(place), transcript, "0", "1", speaker) for place, (transcript, speaker) in enumerate(said)]
    chosen = equally_often(words, count)
    assert chosen == sorted(chosen, key=words.index)
    times = Counter(chosen)
    for transcript in {word.transcript for word in words}:
        of_it = [word for word in words if word.transcript == transcript]
        assert sum(times[word] for word in of_it) == count
        assert max(times[word] for word in of_it) - min(times[word] for word in of_it) <= 1
        if max(times[word] for word in of_it) == 1:
            by_speaker = Counter(word.speaker for word in of_it if times[word])
            left = {word.speaker for word in of_it if not times[word]}
            assert all(by_speaker[speaker] >= max(by_speaker.values()) - 1 for speaker in left)


def test_words_that_are_not_heard_and_rows_that_cannot_be_used_are_left_out(
    graph_file: Path, sentences: Path, tmp_path: Path
) -> None:
    sentences.write_text("wav_filename,transcript\nfirst.wav,ebb dad\nnone.wav,abc\nfirst.wav,xyz\n")
    listed = tmp_path / "words.csv"
    done = cut_words(graph_file, sentences, "--output", listed)
    assert_fails_with(done, "none of the words is recognized in its recording")
    assert f"{sentences}:3: {tmp_path / 'none.wav'}: " in done.stderr
    assert f"{sentences}:4: " in done.stderr
    assert not listed.exists()
    assert_fails_with(cut_words(graph_file, sentences, "--words", "fed"), "none of the words is in a transcript")


@pytest.mark.parametrize(
    ("text", "begin_of_last", "kept"), [("yes", 1.7, True), ("yes", 1.8, False), ("你好吗", 1.8, True)]
)
def test_a_word_is_kept_only_if_no_other_word_can_be_between_its_characters(
    text: str, begin_of_last: float, kept: bool
) -> None:
    begins = zip(text, (1.0, 1.1, begin_of_last), strict=True)
    characters = tuple(AlignedCharacter(character, at, at + 0.12, -0.1) for character, at in begins)
    assert is_in_one_place(AlignedWord(text, 1.0, characters[-1].end, -0.1, characters)) == kept


def test_a_row_that_ends_after_its_recording_has_the_words_that_training_hears(
    graph_file: Path, sentences: Path
) -> None:
    rows = "wav_filename,transcript,start,duration\nsecond.wav,cab bed ad,1,{}\nsecond.wav,cab bed ad,1,99\n"
    listed = sentences.with_name("words.csv")
    seconds = soundfile.info(sentences.with_name("second.wav")).duration - 1
    words = []
    for duration in (seconds, seconds + 0.3):
        sentences.write_text(rows.format(duration))
        done = cut_words(graph_file, sentences, "--output", listed)
        assert done.stderr.count("Left out: ") == 1, done.stderr
        assert f"{sentences}:3: {sentences.with_name('second.wav')}: a part that ends more than" in done.stderr
        words.append(listed.read_text())
    assert words[0] == words[1]
    assert words[0].count("\n") == 4


def test_a_list_that_is_read_is_not_written_over(graph_file: Path, sentences: Path) -> None:
    done = cut_words(graph_file, sentences, "--output", sentences)
    assert_fails_with(done, "is read here, and would be written over")
