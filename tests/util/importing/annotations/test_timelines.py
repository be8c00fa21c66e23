"""EXMARaLDA's and FOLKER's transcriptions beside recordings."""

from __future__ import annotations

from pathlib import Path

import pytest
from trees import Import, tone, write

from deepspeech.util.importing.pipeline.records import Choices

EXB = (
    '<basic-transcription><head><speakertable><speaker id="SPK0"><abbreviation>ANN</abbreviation></speaker>'
    '<speaker id="SPK1"><abbreviation>TOM</abbreviation></speaker></speakertable></head><basic-body><common-timeline>'
    '<tli id="T0" time="0.5"/><tli id="T1"/><tli id="T2" time="1.5"/><tli id="T3" time="3"/></common-timeline>'
    '<tier id="A" speaker="SPK0" category="v" type="t"><event start="T0" end="T1">good </event>'
    '<event start="T1" end="T2">((laughs)) morning </event></tier>'
    '<tier id="B" speaker="SPK1" category="v" type="t"><event start="T2" end="T3">how are you?</event></tier>'
    '<tier id="C" speaker="SPK0" category="de" type="a"><event start="T0" end="T2">guten Morgen</event></tier>'
    "</basic-body></basic-transcription>"
)
TIMELINE = (
    '<folker-transcription><head/><speakers><speaker speaker-id="A"><name>ANN</name></speaker>'
    '<speaker speaker-id="T"><name>TOM</name></speaker></speakers><recording path="a.wav"/><timeline>'
    '<timepoint timepoint-id="TLI_0" absolute-time="0.5"/><timepoint timepoint-id="TLI_1" absolute-time="1.5"/>'
    '<timepoint timepoint-id="TLI_2" absolute-time="3"/></timeline>'
)
FLK = (
    f'{TIMELINE}<contribution speaker-reference="A" start-reference="TLI_0" end-reference="TLI_1" parse-level="1">'
    "<unparsed>good (.) morning</unparsed></contribution>"
    '<contribution speaker-reference="T" start-reference="TLI_1" end-reference="TLI_2" parse-level="1">'
    "<unparsed>how are you?</unparsed></contribution></folker-transcription>"
)
FLN = (
    f'{TIMELINE}<contribution speaker-reference="A" start-reference="TLI_0" end-reference="TLI_1" parse-level="2">'
    '<w id="w1">good</w><pause duration="micro"/><w id="w2">morning</w>'
    '</contribution><contribution speaker-reference="T" start-reference="TLI_1" end-reference="TLI_2" parse-level="2">'
    '<breathe type="in"/><w>how</w><w>are</w><w>you?</w></contribution></folker-transcription>'
)


@pytest.mark.parametrize(("ending", "text"), [("exb", EXB), ("flk", FLK), ("fln", FLN)])
def test_recordings_are_cut_at_the_times_of_what_speakers_say(ending: str, text: str, tmp_path: Path) -> None:
    tone(tmp_path / "corpus" / "a.wav", 4)
    write(tmp_path / "corpus" / f"a.{ending}", f'<?xml version="1.0" encoding="UTF-8"?>{text}')
    done = Import("folder", tmp_path / "corpus", tmp_path / "out", Choices(split=(1, 0, 0)))
    assert not done.left_out
    assert [(row["transcript"], row["speaker"], row["duration"]) for row in done.all_rows] == [
        ("good morning", "ANN", "1.000"),
        ("how are you?", "TOM", "1.500"),
    ]


def test_what_follows_the_last_time_is_left_out(tmp_path: Path) -> None:
    tone(tmp_path / "corpus" / "a.wav", 4)
    write(tmp_path / "corpus" / "a.exb", EXB.replace(' time="3"', ""))
    done = Import("folder", tmp_path / "corpus", tmp_path / "out", Choices(split=(1, 0, 0)))
    assert [row["transcript"] for row in done.all_rows] == ["good morning"]
    assert list(done.left_out.values()) == ["an annotation without a time"]
