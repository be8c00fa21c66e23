"""Texts and subtitles beside recordings, with times of paragraphs and names of speakers in them."""

from __future__ import annotations

from pathlib import Path

import pytest
from trees import Import, tone, write

from deepspeech.util.importing.pipeline.records import Choices

Rows = list[tuple[str, str, str]]

WITHOUT_NAMES: Rows = [("good morning", "", "4.000"), ("how are you?", "", "5.000")]
WITH_NAMES: Rows = [("good morning", "Ann Lee", "4.000"), ("how are you?", "Tom", "5.000")]
WITH_ENDS: Rows = [("good morning", "", "0.800"), ("how are you?", "", "0.800")]

WITH_NAMES_AND_ENDS: Rows = [("good morning", "Ann Lee", "0.800"), ("how are you?", "Tom", "0.800")]


def imported(folder: Path, name: str, text: str | bytes) -> tuple[Rows, list[str]]:
    """Return the transcript, speaker and duration of each row of a recording of 9 seconds, and what is left out."""
    tone(folder / "a.wav", 9)
    write(folder / name, text)
    done = Import("folder", folder, folder.with_name("out"), Choices(split=(1, 0, 0)))
    return [(row["transcript"], row["speaker"], row["duration"]) for row in done.all_rows], [*done.left_out.values()]


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("Ann Lee  0:00  \ngood\nmorning\n\nTom  0:04 \nhow are you?\n\nTranscribed by https://otter.ai\n", WITH_NAMES),
        ("[00:00:00] Ann Lee: good morning\n[00:00:04] Tom: how are you?\n", WITH_NAMES),
        ("Ann Lee (00:00):\ngood morning\n\nTom (00:04):\nhow are you?\n", WITH_NAMES),
        ("Ann Lee: [00:00] good morning\nTom: [00:04] how are you?", WITH_NAMES),
        ("Ann Lee: good morning #00:00:04-0#\nTom: how are you? #00:00:09-0#\n", WITH_NAMES),
        ("[00:00] good morning\n[00:04] how are you?", WITHOUT_NAMES),
        ("(0:00) good morning (0:04) how are you?", WITHOUT_NAMES),
        ("0:00\ngood morning\n0:04\nhow are you?", WITHOUT_NAMES),
        ("00:00:00 good morning\r\n00:00:04 how are you?\r\n", WITHOUT_NAMES),
        ("[00:00.200 --> 00:01.000]  good morning\n[00:02.000 --> 00:02.800]  how are you?\n", WITH_ENDS),
        ("[0.20s -> 1.00s]  good morning\n[2.00s -> 2.80s]  how are you?\n", WITH_ENDS),
        ("[0.2 - 1.0] Ann Lee: good morning\n[2.0 - 2.8] Tom: how are you?\n", WITH_NAMES_AND_ENDS),
        ("[0.000]\ngood morning\n[4.000]\nhow are you?\n", WITHOUT_NAMES),
        ("[00:00:00:00] good morning\n[00:00:04:00] how are you?", WITHOUT_NAMES),
        ("00:00:00:00\ngood morning\n00:00:04:00\nhow are you?", WITHOUT_NAMES),
        ("[00:00:00:06 - 00:00:01:00]\ngood morning\n[00:00:02:00 - 00:00:02:24]\nhow are you?", WITH_ENDS),
        ("00:00:00,200 - 00:00:01,000\ngood morning\n00:00:02,000 - 00:00:02,800\nhow are you?", WITH_ENDS),
    ],
)
def test_a_text_is_cut_at_its_times(text: str, rows: Rows, tmp_path: Path) -> None:
    assert imported(tmp_path / "corpus", "a.txt", text) == (rows, [])


@pytest.mark.parametrize(
    "text",
    [
        "10:30 is too late",
        "we meet at 10:30\nor at 9:15",
        "it is 10:30\nsaid Tom",
        "as (3:16) says (4:20)",
        "(0.5) so (1.5)",
        "[12] so [13]",
    ],
)
def test_times_may_be_words_of_a_text(text: str, tmp_path: Path) -> None:
    assert imported(tmp_path / "corpus", "a.txt", text) == ([(" ".join(text.split()), "", "9.000")], [])


def test_transcripts_of_babel_lose_their_marks_and_what_was_not_understood(tmp_path: Path) -> None:
    said = ("<no-speech>", "good <laugh> *morn-* x-ray", "how (()) you", "~", "<int> yes", "<no-speech>")
    lines = [f"[{second}.000]\n{text}" for second, text in enumerate(said)]
    for name, text in (("a", "\n".join([*lines, "[6.000]\n"])), ("b", "[0.000]\n<no-speech>\n[6.000]\n")):
        tone(tmp_path / "corpus" / "audio" / f"{name}.sph", 7)
        write(tmp_path / "corpus" / "transcription" / f"{name}.txt", text)
    done = Import("folder", tmp_path / "corpus", tmp_path / "out", Choices(split=(1, 0, 0)))
    clips = {Path(row["wav_filename"]).stem: row["transcript"] for row in done.all_rows}
    assert clips == {"00001000-00002000": "good morn x-ray", "00004000-00005000": "yes"}
    assert done.left_out == {"transcription/b.txt": "no text in the tiers that were chosen"}


def test_a_title_above_the_first_time_is_left_out(tmp_path: Path) -> None:
    rows, left_out = imported(tmp_path / "corpus", "a.txt", "Talk with Ann\n\n[0:00] good morning\n[0:04] how are you?")
    assert (rows, left_out) == (WITHOUT_NAMES, ["an annotation without a time"])


@pytest.mark.parametrize(
    ("text", "transcript", "speaker"),
    [
        ("Ann: good\nTom Lee: morning\nAnn: how", "good morning how", ""),
        ("Ann: good\nmorning\nAnn: how", "good morning how", "Ann"),
        ("[SPEAKER_00]: good morning", "good morning", "a-SPEAKER_00"),
        ("SPEAKER: S1\ngood\n\nSPEAKER: S2\nmorning\n", "good morning", ""),
        ("SPEAKER: S1\ngood\nmorning\n", "good morning", "a-S1"),
        ("I say: good\nmorning", "I say: good morning", ""),
        ("First: good\nSecond: morning", "First: good Second: morning", ""),
        ("chapter 1: good\nmorning", "chapter 1: good morning", ""),
        ("good morning\nAnn: how\nAnn: are you", "good morning Ann: how Ann: are you", ""),
    ],
)
def test_names_of_speakers_are_no_words(text: str, transcript: str, speaker: str, tmp_path: Path) -> None:
    assert imported(tmp_path / "corpus", "a.txt", text) == ([(transcript, speaker, "9.000")], [])


@pytest.mark.parametrize("ending", ["srt", "vtt"])
def test_names_in_subtitles_are_the_speakers(ending: str, tmp_path: Path) -> None:
    said = ("Ann Lee: good morning", "Tom: how are you?", "Ann Lee: fine")
    cues = [f"{n}\n00:00:0{n}.000 --> 00:00:0{n}.500\n{text}\n" for n, text in enumerate(said, start=1)]
    rows, left_out = imported(tmp_path / "corpus", f"a.{ending}", "\n".join(["WEBVTT\n"] * (ending == "vtt") + cues))
    assert rows == [(text.partition(": ")[2], text.partition(": ")[0], "0.500") for text in (*said[::2], said[1])]
    assert not left_out


@pytest.mark.parametrize(("name", "text"), [("a.txt", rb"{\rtf1\ansi good morning\par}"), ("A.docx", b"PK\3\4")])
def test_documents_are_told_to_be_saved_as_text(name: str, text: bytes, tmp_path: Path) -> None:
    write(tmp_path / "corpus" / "b.txt", "yes")
    tone(tmp_path / "corpus" / "b.wav", 9)
    rows, left_out = imported(tmp_path / "corpus", name, text)
    told = "its transcript is a document; save it as plain text (.txt), in UTF-8"
    assert (rows, left_out) == ([("yes", "", "9.000")], [told])


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("0.2\t1.0\tnote: good morning\n2.0\t2.8\thow are you?\n", [("note: good morning", "", "0.800"), WITH_ENDS[1]]),
        ("0.2\t1\tgood morning\n2\t2.8\thow are you?\n", WITH_ENDS),
        ("0\t1\tgood\n", [("0 1 good", "", "9.000")]),
        ("0.2\t4.2\tAnn: good morning\n\\\t0.0\t100.0\n4.0\t9.0\tTom: how are you?\n", None),
    ],
)
def test_labels_may_begin_as_turns_do(tmp_path: Path, text: str, rows: Rows | None) -> None:
    found, _ = imported(tmp_path / "corpus", "a.txt", text)
    assert found == (rows or [("good morning", "Ann", "4.000"), ("how are you?", "Tom", "5.000")])
