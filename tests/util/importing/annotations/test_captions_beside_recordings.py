"""Captions of many kinds beside recordings."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from trees import Import, tone, write

from deepspeech.util.importing.pipeline.records import Choices

CAPTIONS = {
    "a.sbv": "0:00:00.200,0:00:01.000\ngood\nmorning\n\n0:00:02.000,0:00:02.800\nhow are you?\n",
    "a.en.srv3": '<?xml version="1.0" encoding="utf-8" ?><timedtext format="3"><body><p t="200" d="1800"> </p>'
    '<p t="200" d="800">good morning</p><p t="2000" d="800"><s>how</s><s t="400"> are you?</s></p></body></timedtext>',
    "a.srv1": '<transcript><text start="0.2" dur="0.8">good morning</text>'
    '<text start="2" dur="0.8">how are you?</text></transcript>',
    "a.en.json3": json.dumps(
        {
            "events": [
                {"tStartMs": 0, "dDurationMs": 9000, "id": 1},
                {"tStartMs": 200, "dDurationMs": 800, "segs": [{"utf8": "good"}, {"utf8": " morning", "tOffsetMs": 9}]},
                {"tStartMs": 900, "dDurationMs": 800, "aAppend": 1, "segs": [{"utf8": "\n"}]},
                {"tStartMs": 2000, "dDurationMs": 800, "segs": [{"utf8": "how are you?"}]},
            ]
        }
    ),
    "a.ttml": '<tt xmlns="http://www.w3.org/ns/ttml"><body><div><p begin="00:00:00.200" end="00:00:01.000">good<br/>'
    'morning</p><p><span begin="2s" dur="800ms">how are you?</span></p></div></body></tt>',
    "a.dfxp": '<tt xmlns="http://www.w3.org/2006/10/ttaf1" xmlns:p="x" p:frameRate="25"><body><p begin="00:00:00:05" '
    'end="00:00:01:00">good morning</p><p begin="00:00:02:00" end="00:00:02:20">how are you?</p></body></tt>',
    "a.en.ttml": '<tt xmlns="http://www.w3.org/ns/ttml" xmlns:p="x" p:tickRate="10"><body begin="0.1s"><div begin="1t">'
    '<p begin="0t" end="8t">good morning</p><p><span begin="18t" dur="8t">how are you?</span></p></div></body></tt>',
    "a.en.dfxp": '<tt xmlns="http://www.w3.org/2006/10/ttaf1" xmlns:p="x" p:frameRate="30" p:frameRateMultiplier="5 6">'
    '<body><p begin="5f" end="25f">good morning</p><p begin="50f" end="70f">how are you?</p></body></tt>',
    "a.ass": "[V4+ Styles]\nFormat: Name, Fontname\n\n[Events]\nFormat: Layer, Start, End, Style, Name, Text\n"
    "Dialogue: 0,0:00:00.20,0:00:01.00,Default,,{\\i1}good{\\i0}\\Nmorning\n"
    "Dialogue: 1,0:00:00.20,0:00:01.00,Sign,,{\\an7\\p1}m 0 0 l 9 9{\\p0}\n"
    "Comment: 0,0:00:01.00,0:00:02.00,Default,,nothing\nDialogue: 0,0:00:02.00,0:00:02.80,Default,,how are you?\n",
    "a.tsv": "start\tend\ttext\n200\t1000\tgood morning\n2000\t2800\thow are you?\n",
    "a.lrc": "[offset:+500]\n[00:00.70]good <00:00.60>morning\n[00:01.50]\n[00:02.50]how are you?\n[00:03.30]\n",
    "a.otr": json.dumps(
        {
            "text": '<p><span class="timestamp" data-timestamp="0.2">0:00</span>good&nbsp;<b>morning</b></p><p>'
            '<span class="timestamp" data-timestamp="1">0:01</span></p><p><span class="timestamp" '
            'data-timestamp="2">0:02</span>how are you?<br />'
            '<span class="timestamp" data-timestamp="2.8">0:02</span></p>',
            "media": "a.wav",
        }
    ),
}


@pytest.mark.parametrize("name", CAPTIONS)
def test_recordings_are_cut_at_captions_of_all_kinds(name: str, tmp_path: Path) -> None:
    folder = tmp_path / "corpus"
    tone(folder / "a.wav", 9)
    write(folder / name, CAPTIONS[name])
    done = Import("folder", folder, tmp_path / "out", Choices(split=(1, 0, 0)))
    assert not done.left_out
    assert {Path(row["wav_filename"]).stem: row["transcript"] for row in done.all_rows} == {
        "00000200-00001000": "good morning",
        "00002000-00002800": "how are you?",
    }


def test_names_in_captions_are_the_speakers(tmp_path: Path) -> None:
    text = "[Events]\nFormat: Start, End, Name, Text\nDialogue: 0:00:00.20,0:00:01.00,Ann,yes, or no\n"
    tone(tmp_path / "corpus" / "a.wav", 9)
    write(tmp_path / "corpus" / "a.ass", text)
    done = Import("folder", tmp_path / "corpus", tmp_path / "out", Choices(split=(1, 0, 0)))
    assert [(row["transcript"], row["speaker"]) for row in done.all_rows] == [("yes, or no", "Ann")]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.srt", "1\n00:00:01,000 --> 00:00:02,000\n{}\n\n2\n00:00:02,000 --> 00:00:03,000\nyes [laughs]\n"),
        (
            "a.json",
            '{{"transcription": [{{"offsets": {{"from": 1000, "to": 2000}}, "text": " {}"}}, '
            '{{"offsets": {{"from": 2000, "to": 3000}}, "text": " yes [laughs]"}}]}}',
        ),
    ],
)
@pytest.mark.parametrize("mark", ["[Music]", "[BLANK_AUDIO]", "\u266a [Applause] \u266a", "..."])
def test_marks_of_sounds_alone_are_left_out(name: str, text: str, mark: str, tmp_path: Path) -> None:
    tone(tmp_path / "corpus" / "a.wav", 4)
    write(tmp_path / "corpus" / name, text.replace("{}", mark).replace("{{", "{").replace("}}", "}"))
    done = Import("folder", tmp_path / "corpus", tmp_path / "out", Choices(split=(1, 0, 0)))
    assert [row["transcript"] for row in done.all_rows] == ["yes [laughs]"]
    assert list(done.left_out.values()) == ["no words, only marks such as [Music]"]


def test_cues_that_underline_each_word_in_turn_are_one(tmp_path: Path) -> None:
    texts = ("<u>good</u> morning", "good morning", "good <u>morning</u>", "<u>yes</u>", "<u>yes</u>", "no", "no")
    times = (1, 2, 3, 4, 6, 7, 8)
    cues = [f"00:0{start}.000 --> 00:0{start + 1}.000\n{text}\n" for start, text in zip(times, texts, strict=True)]
    tone(tmp_path / "corpus" / "a.wav", 9)
    write(tmp_path / "corpus" / "a.vtt", "\n".join(["WEBVTT\n", *cues]))
    done = Import("folder", tmp_path / "corpus", tmp_path / "out", Choices(split=(1, 0, 0)))
    rows = [(row["transcript"], row["duration"]) for row in done.all_rows]
    assert rows == [("good morning", "3.000"), *[("yes", "1.000")] * 2, *[("no", "1.000")] * 2]


@pytest.mark.parametrize("ending", ["vtt", "srv1", "json3"])
def test_marks_of_another_speaker_are_no_words(ending: str, tmp_path: Path) -> None:
    captions = {
        "vtt": "WEBVTT\n\n00:01.000 --> 00:02.000\n&gt;&gt; good\n>>morning a>>b\n",
        "srv1": '<transcript><text start="1" dur="1">&gt;&gt; good &gt;&gt; morning a&gt;&gt;b</text></transcript>',
        "json3": json.dumps({"events": [{"tStartMs": 1000, "segs": [{"utf8": ">> good >> morning a>>b"}]}]}),
    }
    tone(tmp_path / "corpus" / "a.wav", 4)
    write(tmp_path / "corpus" / f"a.{ending}", captions[ending])
    done = Import("folder", tmp_path / "corpus", tmp_path / "out", Choices(split=(1, 0, 0)))
    assert [row["transcript"] for row in done.all_rows] == ["good morning a>>b"]


def test_a_cue_of_several_voices_is_that_of_no_speaker(tmp_path: Path) -> None:
    tone(tmp_path / "corpus" / "a.wav", 4)
    cue = "WEBVTT\n\n00:01.000 --> 00:02.000\n<v Ann>good</v>\n<v Tom>morning</v>\n"
    write(tmp_path / "corpus" / "a.vtt", cue)
    done = Import("folder", tmp_path / "corpus", tmp_path / "out", Choices(split=(1, 0, 0)))
    assert [(row["transcript"], row["speaker"]) for row in done.all_rows] == [("good morning", "")]


DIGITS = "9" * 5000
DAMAGED = {
    "a.ass": "Dialogue: 0,0",
    "a.srv3": '<?xml version="1.0" encoding="utf-80"?><p/>',
    "a.ttml": "<p",
    "a.dfxp": CAPTIONS["a.dfxp"].replace("25", "0", 1),
    "a.lrc": f"[{DIGITS}:00]good morning",
    "a.sbv": f"0:00:00.200,{DIGITS}:00:01.000\ngood morning\n",
}


@pytest.mark.parametrize("name", [*DAMAGED, "a.otr", "a.json3"])
def test_damaged_captions_are_told(name: str, tmp_path: Path) -> None:
    folder = tmp_path / "corpus"
    for stem in "ab":
        tone(folder / f"{stem}.wav")
    write(folder / name, DAMAGED.get(name, '{"results": [{"alternatives": 1}], "text": '))
    write(folder / "b.txt", "yes")
    done = Import("folder", folder, tmp_path / "out", Choices(split=(1, 0, 0)))
    assert done.left_out == {name: "its transcript cannot be read"}


@pytest.mark.parametrize("languages", [("ar",), ("ar", "en")])
def test_subtitles_in_a_folder_of_their_own_may_tell_their_one_language(
    languages: tuple[str, ...], tmp_path: Path
) -> None:
    for name in ("a1", "b2"):
        tone(tmp_path / "corpus" / "audios" / f"{name}.wav", 3)
        for language in languages[: 2 if name == "b2" else 1]:
            cue = f"WEBVTT\n\n00:00.200 --> 00:01.000\nthis is {name}\n"
            write(tmp_path / "corpus" / "subtitles" / f"{name}.{language}.vtt", cue)
    done = Import("folder", tmp_path / "corpus", tmp_path / "out")
    several = len(languages) > 1
    assert {row["transcript"] for row in done.all_rows} == {"this is a1", *([] if several else ["this is b2"])}
    assert list(done.left_out.values()) == ["subtitles of several languages beside it; keep one"] * several
