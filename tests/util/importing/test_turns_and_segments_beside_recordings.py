"""Transcripts beside recordings in the layouts of published corpora: turns of speakers, and JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from trees import Import, tone, write

from deepspeech.util.importing import format_of
from deepspeech.util.importing.pipeline.records import Choices

ALL_TRAIN = Choices(split=(1, 0, 0))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "corpus"


def imported(folder: Path) -> list[tuple[str, str, str]]:
    """Return the transcript, speaker and duration of each row."""
    assert format_of(folder, Choices()) == "folder"
    done = Import("folder", folder, folder.with_name("out"), ALL_TRAIN)
    assert not done.left_out
    return [(row["transcript"], row["speaker"], row["duration"]) for row in done.all_rows]


def test_turns_of_magic_data_are_cut_without_what_is_known_of_the_speaker(folder: Path) -> None:
    tone(folder / "WAV" / "A1.wav", 3)
    turns = ("[0.0,1.0]\tG1\t女,普通话\t今天", "[1.0,1.5]\t0\tnone\t[ENS]", "[1.5,2.5]\tG2\t男,普通话\t[+]好 的")
    write(folder / "TXT" / "A1.txt", "\n".join(turns))
    assert imported(folder) == [("今天", "G1", "1.000"), ("好的", "G2", "1.000")]


def test_turns_of_calls_are_cut_out_of_the_speakers_channel(folder: Path) -> None:
    tone(folder / "audio" / "000" / "fe_1.sph", 3, channels=2)
    text = "# fe_1.sph\n\n0.50 1.00 A: yes [laughter] ((well))\n\n1.0 2.0 B1: and {breath} so\n  on\n"
    write(folder / "tran" / "data" / "trans" / "000" / "fe_1.txt", text)
    assert imported(folder) == [("yes well", "fe_1-A", "0.500"), ("and so on", "fe_1-B1", "1.000")]
    clips = sorted(path.name for path in (folder.with_name("out") / "clips").rglob("*.flac"))
    assert [name.partition("-channel-")[2] for name in clips] == ["0.flac", "1.flac"]


def test_turns_of_transcriber_are_cut_at_their_points_of_time(folder: Path) -> None:
    tone(folder / "news.wav", 4)
    turns = (
        '<Turn speaker="s1" startTime="0" endTime="2">\n<Sync time="0"/>\nun mot\n<Event desc="r"/>\nencore'
        '<Sync time="1.5"/>là</Turn><Turn speaker="s1 s2" startTime="2" endTime="3"><Sync time="2"/>non</Turn>'
        '<Turn startTime="3" endTime="3.5"><Sync time="3"/>oui</Turn>'
    )
    text = (
        '<?xml version="1.0" encoding="ISO-8859-1"?>\n<!DOCTYPE Trans SYSTEM "trans-14.dtd">\n<Trans><Speakers>'
        f'<Speaker id="s1" name="Zoé"/></Speakers><Episode><Section type="report">{turns}</Section>'
        '<Section type="nontrans"><Turn startTime="3.5" endTime="4"><Sync time="3.5"/>pub</Turn></Section>'
        "</Episode></Trans>"
    )
    write(folder / "news.trs", text.encode("latin-1"))
    assert imported(folder) == [("un mot encore", "Zoé", "1.500"), ("là", "Zoé", "0.500"), ("oui", "", "0.500")]


def test_utterances_of_chat_lose_their_codes(folder: Path) -> None:
    tone(folder / "a.wav", 6)
    lines = (
        "@Media:\ta, audio",
        "*CHI:\t(be)cause &-um <I want> [/] I want (.) the co:ld &=laughs milk@c .\n\t\x150_1000\x15",
        "%mor:\tx|y",
        "*MOT:\txxx what ? \x151000_2000\x15",
        "*MOT:\tNew_York &+fr 0is [= here] far +/. \x152000_3000\x15",
        "*MOT:\tno time .",
    )
    write(folder / "a.cha", "\n".join(lines))
    assert imported(folder) == [
        ("cause um I want I want the cold milk", "a-CHI", "1.000"),
        ("New York far", "a-MOT", "1.000"),
    ]


@pytest.mark.parametrize(
    ("value", "rows"),
    [
        ({"id": "a", "text": " One.", "speaker": "EN_7", "wav": "a.mp3"}, [("One.", "EN_7", "2.000")]),
        (
            {"text": "One two.", "segments": [{"start": 0.0, "end": 1, "text": " One", "words": []}]},
            [("One", "", "1.000")],
        ),
        (
            {
                "speaker_id": "S7",
                "verbatim": [{"start": 0, "end": 1, "text": "uh one"}],
                "normalized": [{"start": 0, "end": 1, "text": "one"}],
            },
            [("one", "S7", "1.000")],
        ),
        ([{"start": 0, "end": 1, "speaker": "SPEAKER_00", "text": "one"}], [("one", "a-SPEAKER_00", "1.000")]),
    ],
)
def test_json_beside_a_recording_has_its_text_or_its_segments(
    value: Any, rows: list[tuple[str, str, str]], folder: Path
) -> None:
    tone(folder / "b" / "a.wav", 2)
    write(folder / "b" / "a.json", json.dumps(value))
    assert imported(folder) == rows


def test_json_without_a_transcript_is_told(folder: Path) -> None:
    for name, content in (("a", '{"duration": 2}'), ("b", "{"), ("c", '{"text": "yes"}')):
        tone(folder / f"{name}.wav")
        write(folder / f"{name}.json", content)
    done = Import("folder", folder, folder.with_name("out"), ALL_TRAIN)
    assert done.transcripts == {"c.wav": "yes"}
    assert set(done.left_out) == {"a.json", "b.json"}


@pytest.mark.parametrize("ending", ["TextGrid", "txt", "TXT"])
def test_texts_of_parallel_folders_may_be_in_any_folder_if_no_other_recording_has_the_name(
    ending: str, folder: Path
) -> None:
    pytest.importorskip("pympi")
    for name in ("one/a", "one/b", "two/b", "three/c"):  # texts of a and b may be missing, and be of another a or b
        tone(folder / "speech" / f"{name}.wav", 2)
    grid = 'File type = "ooTextFile"\nObject class = "TextGrid"\n\n0\n2\n<exists>\n1\n'
    grid += '"IntervalTier"\n"A"\n0\n2\n1\n0\n2\n"yes"\n'
    for name in ("1/x/a", "1/x/b", "2/x/c"):
        write(folder / "texts" / f"{name}.{ending}", grid if ending == "TextGrid" else "yes")
    done = Import("folder", folder, folder.with_name("out"), ALL_TRAIN)
    assert [row["transcript"] for row in done.all_rows] == ["yes"]
    assert set(done.left_out.values()) == {"no transcript beside it"}


def test_no_recording_gets_the_text_of_one_that_is_missing(folder: Path) -> None:
    recordings = ("ann/wav/1", "bob/wav/1", "bob/wav/2", "eve/a/1", "eve/a/3", "x/4", "z/4")
    for name in recordings:
        tone(folder / f"{name}.{'flac' if name == 'z/4' else 'wav'}")
    for name in ("ann/txt/1", "ann/txt/2", "bob/txt/1", "eve/a/1", "eve/b/3", "texts/4"):
        write(folder / f"{name}.txt", f"that of {name[:3]}")
    done = Import("folder", folder, folder.with_name("out"), ALL_TRAIN)
    assert sorted(row["transcript"] for row in done.all_rows) == ["that of ann", "that of bob", "that of eve"]


def test_a_text_in_a_parallel_folder_counts_where_json_beside_the_recording_has_facts_about_it(folder: Path) -> None:
    for name in ("a", "b"):
        tone(folder / "wav" / f"{name}.wav")
        write(folder / "wav" / f"{name}.json", '{"microphone": "near"}')
        write(folder / "txt" / f"{name}.txt", f"the text of {name}")
    done = Import("folder", folder, folder.with_name("out"), ALL_TRAIN)
    assert done.transcripts == {"a.wav": "the text of a", "b.wav": "the text of b"}
