"""The times of a transcript's words and characters, by the Python interface and by the command."""

from __future__ import annotations

import itertools
import json
import re
import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import cast

import numpy as np
import numpy.typing as npt
import pytest
import soundfile
from corpora import CHARACTER_SECONDS, RATE, say, write_wav

from deepspeech import Model
from deepspeech.align import AlignedCharacter, AlignedWord, Alignment, align
from deepspeech.cli.align import main
from deepspeech.errors import AlignmentError, AlphabetError
from deepspeech.serving.alignment.formats import ctm, subtitles, textgrid
from deepspeech.serving.arguments.samples import as_signal
from deepspeech.serving.long_audio import Part, parts_of_blocks
from deepspeech.util.output_units import ByteAlphabet
from deepspeech.util.text import Alphabet

SENTENCES = ("abc de", "eda", "cab bed ad", "dab ebb")


def test_words_are_where_they_are_said(model: Model, tmp_path: Path) -> None:
    random = np.random.default_rng(5)
    late = []
    for text in SENTENCES:
        wav = write_wav(tmp_path / "speech.wav", say(text, random))
        alignment = align(model, wav, f" {text.replace(' ', '  ')}\n")
        assert alignment.text == text
        assert alignment.duration == pytest.approx(soundfile.info(wav).duration, abs=0.001)
        for word, begins in zip(alignment.words, re.finditer("[a-e]+", text), strict=True):
            late.append(word.start - (0.06 + begins.start() * CHARACTER_SECONDS))
            assert "".join(character.text for character in word.characters) == word.text
            assert (word.start, word.end) == (word.characters[0].start, word.characters[-1].end)
        characters = [character for word in alignment.words for character in word.characters]
        assert all(before.end <= after.start for before, after in itertools.pairwise(characters))
        assert all(character.start < character.end and character.score <= 0 for character in characters)
    assert np.median(np.abs(late)) < CHARACTER_SECONDS


def test_a_long_recording_is_aligned_across_its_parts(model: Model) -> None:
    random = np.random.default_rng(6)
    sentences = [*SENTENCES] * 16
    pieces = [np.concatenate([say(text, random), np.zeros(RATE // 2, np.float32)]) for text in sentences]
    samples = np.concatenate(pieces)
    assert len(samples) > 60 * RATE  # so that it is cut
    alignment = align(model, (samples * 32767).astype(np.int16), " ".join(sentences))
    begins = np.cumsum([0, *map(len, pieces)])[:-1] / RATE + 0.06
    firsts = np.cumsum([0, *(len(text.split()) for text in sentences)])[:-1]
    found = np.array([alignment.words[number].start for number in firsts])
    assert np.percentile(np.abs(found - begins), 90) < 0.3


def test_what_cannot_be_aligned_is_an_error_of_one_line(model: Model, recordings: list[Path]) -> None:
    with pytest.raises(AlphabetError, match=r"cannot be spelled with the model's labels: .*LATIN SMALL LETTER X"):
        align(model, recordings[0], "ax")
    with pytest.raises(AlignmentError, match=r"wav: the transcript does not fit the recording: 5999 labels need"):
        align(model, recordings[0], "ab " * 2000)
    with pytest.raises(AlignmentError, match="no words"):
        align(model, recordings[0], " \n")


def test_the_command_prints_or_writes_each_format(
    graph_file: Path, recordings: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = tmp_path / "said.txt"
    text.write_text("ab\ncd\n")
    flags = [f"--model={graph_file}", f"--audio={recordings[0]}", f"--transcript={text}"]
    command = [sys.executable, "-m", "deepspeech.align", *flags]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    lines = [line.split() for line in printed.splitlines()]
    assert [(line[0], line[1], line[4]) for line in lines] == [(recordings[0].stem, "1", word) for word in ("ab", "cd")]
    output = tmp_path / "said.json"
    assert main([*flags, "--format=json", f"--output={output}"]) == 0
    read = json.loads(output.read_text())
    assert [f"{word['start']:.3f}" for word in read["words"]] == [line[2] for line in lines]
    assert [character["text"] for character in read["words"][1]["characters"]] == ["c", "d"]
    assert main([*flags[:2], f"--transcript={tmp_path / 'none.txt'}"]) == 1
    assert main([*flags, f"--output={tmp_path / 'none' / 'file'}"]) == 1
    text.write_text("ab " * 2000)
    assert main(flags) == 1
    text.write_text("ab 7")
    assert main(flags) == 1
    errors = capsys.readouterr().err.splitlines()
    assert [error.split(":")[1].strip() for error in errors[:2]] == [
        f"--transcript={tmp_path / 'none.txt'}",
        f"--output={tmp_path / 'none' / 'file'}",
    ]
    assert errors[0].endswith("; give a file of text, not the transcript itself")
    assert errors[2].startswith(f"deepspeech: {text}: {recordings[0]}: the transcript does not fit the recording")
    assert errors[3].startswith(f"deepspeech: {text}: the transcript cannot be spelled with the model's labels: ")
    assert "; write it like the transcripts that the model was trained on" in errors[3]
    assert len(errors) == 4


def test_what_is_read_is_not_written_over(
    graph_file: Path, recordings: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text, recording = tmp_path / "said.txt", tmp_path / "said.wav"
    text.write_text("ab\ncd\n")
    recording.write_bytes(recordings[0].read_bytes())
    for read in (text, recording):
        given = tmp_path / "link"
        given.symlink_to(read)
        assert main([f"--model={graph_file}", f"--audio={recording}", f"--transcript={text}", f"--output={given}"]) == 1
        assert capsys.readouterr().err == (
            f"deepspeech: --output={given}: is read here, and would be written over; name another file\n"
        )
        given.unlink()
    assert text.read_text() == "ab\ncd\n" and recording.read_bytes() == recordings[0].read_bytes()


def test_a_folder_is_refused_as_output_before_the_recording_is_aligned(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    read = (f"--{each}={tmp_path / 'none'}" for each in ("model", "audio", "transcript"))
    assert main([*read, f"--output={tmp_path}"]) == 1
    assert capsys.readouterr().err == f"deepspeech: --output={tmp_path}: is a folder; name a file in it\n"


class SpelledModel:
    """Replaces a model: it recognizes one label in every second frame."""

    step_seconds = 0.02

    def __init__(self, alphabet: Alphabet, labels: Sequence[int]) -> None:
        self.alphabet = alphabet
        frames = np.full(2 * len(labels), alphabet.blank)
        frames[1::2] = labels
        self._posteriors = np.asarray(np.eye(alphabet.size + 1)[frames], np.float32)

    def sampleRate(self) -> int:  # noqa: N802
        return RATE

    def parts(self, audio: npt.NDArray[np.int16]) -> Iterable[Part]:
        return parts_of_blocks([as_signal(audio)], RATE)

    def posteriors(self, _signal: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        return self._posteriors


@pytest.mark.parametrize(
    ("alphabet", "spelled", "starts"),
    [
        (ByteAlphabet(tuple(map(chr, range(1, 256)))), "é 字".encode(), [0.02, 0.14]),
        (Alphabet(("é", "字")), [1, 2], [0.02, 0.06]),
    ],
)
def test_characters_of_several_labels_and_alphabets_without_a_space_are_aligned(
    alphabet: Alphabet, spelled: Sequence[int], starts: list[float]
) -> None:
    model = SpelledModel(alphabet, [label - 1 for label in spelled])
    alignment = align(cast(Model, model), np.zeros(RATE, np.int16), "é 字")
    assert [(word.text, len(word.characters)) for word in alignment.words] == [("é", 1), ("字", 1)]
    assert [word.start for word in alignment.words] == starts
    assert all(word.score == 0 for word in alignment.words)


def test_files_are_of_their_formats() -> None:
    characters = tuple(AlignedCharacter(text, at, at + 0.5, -0.1) for text, at in (('"', 0.5), ("a", 1.0)))
    alignment = Alignment((AlignedWord('"a', 0.5, 1.5, -0.1, characters),), 2.0)
    assert ctm(alignment, "my talk") == 'my_talk 1 0.500 1.000 "a 0.905\n'
    assert subtitles(alignment) == '1\n00:00:00,500 --> 00:00:01,500\n"a\n'
    lines = [line.strip() for line in textgrid(alignment).splitlines()]
    assert lines[:7] == [
        *('File type = "ooTextFile"', 'Object class = "TextGrid"', "", "xmin = 0", "xmax = 2.0"),
        *("tiers? <exists>", "size = 2"),
    ]
    texts = [line for line in lines if line.startswith(("text", "intervals: size"))]
    assert texts[:4] == ["intervals: size = 3", 'text = ""', 'text = """a"', 'text = ""']
    assert texts[4:] == ["intervals: size = 4", 'text = ""', 'text = """"', 'text = "a"', 'text = ""']


def test_subtitles_of_a_text_without_spaces_are_cut_where_its_characters_are_furthest_apart() -> None:
    begins = [*(0.4 * place for place in range(12)), *(6.0 + 0.4 * place for place in range(12))]
    characters = tuple(AlignedCharacter("字", at, at + 0.3, -0.1) for at in begins)
    word = AlignedWord("字" * 24, 0.0, characters[-1].end, -0.1, characters)
    said = "字" * 12
    assert subtitles(Alignment((word,), 12.0)) == (
        f"1\n00:00:00,000 --> 00:00:04,700\n{said}\n\n2\n00:00:06,000 --> 00:00:10,700\n{said}\n"
    )


def aligned(text: str, begins: Iterable[float]) -> AlignedWord:
    """Return a word whose characters begin at these times, in seconds."""
    characters = tuple(AlignedCharacter(each, at, at + 0.1, -0.1) for each, at in zip(text, begins, strict=True))
    return AlignedWord(text, characters[0].start, characters[-1].end, -0.1, characters)


def test_subtitles_have_the_spaces_of_the_transcript_in_any_script() -> None:
    words = (aligned("กา", (0.0, 0.2)), aligned("มา", (0.5, 0.7)), aligned("go", (1.0, 1.1)))
    alignment = Alignment(words, 2.0)
    assert subtitles(alignment) == f"1\n00:00:00,000 --> 00:00:01,200\n{alignment.text}\n"
    long = Alignment((aligned("ab" * 45, (0.1 * place for place in range(90))),), 10.0)
    assert not any(" " in line for line in subtitles(long).splitlines()[2::4])


def test_subtitles_are_not_cut_before_a_combining_mark() -> None:
    word = aligned("กิก", (0.0, 6.0, 7.0))
    space = AlignedCharacter("", 0.0, 0.02, -0.1)  # as of a word piece
    for characters in (word.characters, (space, *word.characters)):
        alignment = Alignment((replace(word, characters=characters),), 8.0)
        assert subtitles(alignment).splitlines()[2::4] == ["กิ", "ก"]


def test_subtitles_show_a_word_whole_where_most_of_its_characters_are() -> None:
    times = zip("three", (1.0, 1.1, 1.2, 13.0, 13.1), strict=True)
    characters = tuple(AlignedCharacter(text, at, at + 0.02, -0.1) for text, at in times)
    word = AlignedWord("three", 1.0, 13.12, -0.1, characters)
    assert subtitles(Alignment((word,), 14.0)) == "1\n00:00:01,000 --> 00:00:01,700\nthree\n"
