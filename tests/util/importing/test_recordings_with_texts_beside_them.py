"""A folder of recordings with a file beside each: plain texts, links, and tiers of annotations."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from pathlib import Path

import pytest
from trees import Import, read, tone, write

from deepspeech.util.containers.endings import is_recording
from deepspeech.util.errors import ImportingError
from deepspeech.util.importing.formats.annotations.subtitles import read_subtitles
from deepspeech.util.importing.pipeline.records import Choices

ALL_TRAIN = Choices(split=(1, 0, 0))


def textgrid(*tiers: tuple[str, Sequence[tuple[float, float, str]]]) -> str:
    """Return a long TextGrid with these interval tiers, and a point tier."""
    lines = ['File type = "ooTextFile"', 'Object class = "TextGrid"', "", "xmin = 0", "xmax = 9", "tiers? <exists>"]
    lines += [f"size = {len(tiers) + 1}", "item []:"]
    for number, (name, intervals) in enumerate(tiers, start=1):
        lines += [
            f"    item [{number}]:",
            '        class = "IntervalTier"',
            f'        name = "{name}"',
            "        xmin = 0",
        ]
        lines += ["        xmax = 9", f"        intervals: size = {len(intervals)}"]
        for place, (begin, end, text) in enumerate(intervals, start=1):
            lines += [f"        intervals [{place}]:", f"            xmin = {begin}", f"            xmax = {end}"]
            lines += [f'            text = "{text}"']
    lines += [
        f"    item [{len(tiers) + 1}]:",
        '        class = "TextTier"',
        '        name = "clicks"',
        "        xmin = 0",
    ]
    lines += ["        xmax = 9", "        points: size = 1", "        points [1]:", "            number = 1"]
    return "\n".join([*lines, '            mark = "click"', ""])


def test_texts_may_be_in_folders_laid_out_as_those_of_the_recordings(tmp_path: Path) -> None:
    for name in ("wav/ann/1", "wav/bob/1", "eve/wav/1", "eve/wav/2", "s1/1", "s2/1", "s2/2"):
        tone(tmp_path / f"{name}.wav")
    texts = ("txt/ann/1.txt", "eve/words/1.lab", "eve/times/1.TextGrid", "eve/a/2.txt", "eve/b/2.txt", "s1/1.txt")
    for name in (*texts, "s/1.txt", "s/2.txt"):  # s/1.txt is of s1 or s2
        write(tmp_path / name, name.rpartition("/")[0])
    done = Import("folder", tmp_path, tmp_path.with_name("out"), ALL_TRAIN)
    assert sorted(row["transcript"] for row in done.all_rows) == ["eve/words", "s", "s1", "txt/ann"]
    several, none = "transcripts in several folders beside its own; keep one", "no transcript beside it"
    assert done.left_out == {"eve/wav/2.wav": several, "s2/1.wav": none, "wav/bob/1.wav": none}


def test_recordings_are_told_by_the_ending_of_their_names() -> None:
    assert all(map(is_recording, ("a.wav", "a.b.FLAC", "call.m4a", "spéech.Opus")))
    assert not any(map(is_recording, ("wav", "a.txt", "a.wav.txt", "a.", "")))


def test_texts_of_all_kinds_are_found_beside_their_recordings(tmp_path: Path) -> None:
    source = tmp_path / "Aufnahmen übers Jahr"
    tone(source / "1" / "a.wav")
    write(source / "1" / "a.txt", b"\xef\xbb\xbfhello\r\n  there \r\n")
    tone(source / "2" / "a.FLAC".lower(), channels=2)
    write(source / "2" / "a.flac.lab", "A LABEL\n")
    tone(source / "2" / "b.wav")
    write(source / "2" / "b.TXT", "große Wörter".encode("utf-16"))
    tone(source / "2" / "c.wav")
    write(source / "2" / "c.trn", "..\\3\\real.trn")
    write(source / "3" / "real.trn", "linked words\n")
    done = Import("folder", source, tmp_path / "out", ALL_TRAIN)
    assert [(row["wav_filename"].removeprefix(f"{source}/"), row["transcript"]) for row in done.all_rows] == [
        ("1/a.wav", "hello there"),
        ("2/a.flac", "A LABEL"),
        ("2/b.wav", "große Wörter"),
        ("2/c.wav", "linked words"),
    ]
    assert not done.left_out and done.news[-1] == "nothing was left out"


def test_each_recording_has_its_own_text_where_names_differ_in_capitals_alone(tmp_path: Path) -> None:
    for name in ("A", "a", "B", "ba\u0301", "C", "c"):
        tone(tmp_path / f"{name}.wav")
    for name in ("A.txt", "a.TXT", "b.txt", "b\u00e1.txt", "c.txt"):
        write(tmp_path / name, f"text of {name}")
    done = Import("folder", tmp_path, tmp_path.with_name("out"), ALL_TRAIN)
    assert done.transcripts == {
        "A.wav": "text of A.txt",
        "a.wav": "text of a.TXT",
        "B.wav": "text of b.txt",
        "ba\u0301.wav": "text of b\u00e1.txt",
        "c.wav": "text of c.txt",
    }
    assert done.left_out == {"C.wav": "no transcript beside it"}


def test_what_cannot_be_used_is_listed_with_its_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    for name in ("good", "alone", "empty", "latin", "link", "timed"):
        tone(tmp_path / f"{name}.wav")
    tone(tmp_path / "good.mp3")
    write(tmp_path / "broken.wav", "no audio")
    write(tmp_path / "phone.m4a", b"\0\0\0\x1cftypM4A " + bytes(100))
    os.mkfifo(tmp_path / "pipe.mp3")
    texts: dict[str, str | bytes] = {
        "good.txt": "good",
        "empty.txt": " \n",
        "latin.txt": b"na\xefve",
        "link.trn": "lost.trn",
        "timed.lab": "0 500 a\n500 900 b\n",
        "broken.txt": "broken",
        "phone.txt": "phone",
        "pipe.txt": "pipe",
    }
    for name, text in texts.items():
        write(tmp_path / name, text)
    (tmp_path / "loop").symlink_to(tmp_path, target_is_directory=True)
    done = Import("folder", tmp_path, tmp_path.with_name("out"), ALL_TRAIN)
    assert done.transcripts == {"good.wav": "good"}
    assert done.left_out == {
        "alone.wav": "no transcript beside it",
        "broken.txt": "cannot be read as audio",
        "phone.txt": "MP4 is decoded by ffmpeg, which is not installed; install it, or convert the recording to WAV "
        "or FLAC",
        "empty.txt": "empty transcript",
        "good.mp3": "another recording has the same name with another ending",
        "latin.txt": "its transcript is not UTF-8",
        "pipe.txt": "not a file",
        "link.trn": "its transcript cannot be read",
        "timed.lab": "labels with times instead of a transcript; save them as .srt or .TextGrid",
    }
    table = done.news[done.news.index(f"left out: 9 of 10 rows, listed in {done.out / 'left_out.csv'}") :]
    assert len(table) == 2 + 9


def test_annotations_that_are_cut_off_or_not_utf_8_are_said_to_be_so(tmp_path: Path) -> None:
    whole = textgrid(("words", [(0, 1, "na\xefve")]))
    texts = {"cut": whole[:250].encode(), "empty": b"", "latin": whole.encode("latin-1"), "whole": whole.encode()}
    for name, text in texts.items():
        tone(tmp_path / f"{name}.wav")
        write(tmp_path / f"{name}.TextGrid", text)
    done = Import("folder", tmp_path, tmp_path.with_name("out"), ALL_TRAIN)
    assert [(row["source"], row["reason"], row["detail"][:8]) for row in read(done.out / "left_out.csv")] == [
        ("cut.TextGrid", "its transcript cannot be read", "it ends "),
        ("empty.TextGrid", "its transcript cannot be read", "it ends "),
        ("latin.TextGrid", "its transcript is not UTF-8", "'utf-8' "),
    ]


def test_labels_with_times_are_no_transcripts_whatever_they_are_called(tmp_path: Path) -> None:
    labels = {
        "spaces.txt": "0.000000 0.250000 one\n0.250000 0.400000\n",
        "praat.lab": "0.00 0.35 a\n0.35 0.4 sil\n",
        "timit.txt": "0 46797 She had your dark suit in greasy wash water all year.\n",
    }
    texts = {"numbers.txt": "10 20 words\n", "years.txt": "0 1000 2000\n", "price.txt": "1.50 is dear\n"}
    for name, text in {**labels, **texts}.items():
        write(tmp_path / name, text)
        tone(tmp_path / Path(name).with_suffix(".wav"))
    done = Import("folder", tmp_path, tmp_path / "out", ALL_TRAIN)
    assert done.transcripts == {Path(name).with_suffix(".wav").name: text.strip() for name, text in texts.items()}
    reason = "labels with times instead of a transcript; save them as .srt or .TextGrid"
    assert done.left_out == dict.fromkeys(labels, reason)


def test_a_textgrid_cuts_its_recording_whatever_its_encoding(tmp_path: Path) -> None:
    pytest.importorskip("pympi")
    intervals = [(1e-05, 1, 'say ""one'), (1, 2, ""), (2, 7, "three = fin"), (3.5, 4, "beyond"), (2.99, 9, "rest")]
    for name, encoding in (("a", "utf-8-sig"), ("b", "utf-16")):
        tone(tmp_path / f"{name}.wav", 3, channels=2)
        text = textgrid(("sentences", intervals)).replace("\n", "\r\n")
        write(tmp_path / f"{name}.TextGrid", text.encode(encoding))
    done = Import("folder", tmp_path, tmp_path / "out", ALL_TRAIN)
    assert [(row["transcript"], row["duration"]) for row in done.all_rows] == [
        ('say "one', "1.000"),
        ("three = fin", "1.000"),
    ] * 2
    assert [set(done.samples(row)[0]) for row in done.all_rows] == [{100}, {300}] * 2
    assert [done.samples(row)[1] for row in done.all_rows] == [2] * 4
    assert all(row["wav_filename"].startswith("clips/") for row in done.all_rows)
    assert len({row["wav_filename"] for row in done.all_rows}) == 4
    reasons = [line.split("  ")[1] for line in done.news[-2:]]
    assert reasons == ["a part beyond the end of its recording", "a part shorter than 0.02 seconds"]


def test_of_several_tiers_one_must_be_chosen(tmp_path: Path) -> None:
    pytest.importorskip("pympi")
    tone(tmp_path / "a.wav", 2)
    write(tmp_path / "a.TextGrid", textgrid(("words", [(0, 1, "one")]), ("phones", [(0, 1, "w")]), ("notes", [])))
    with pytest.raises(ImportingError, match=r"a\.TextGrid has several tiers: words, phones; choose .* --tier NAME"):
        Import("folder", tmp_path, tmp_path / "out")
    done = Import("folder", tmp_path, tmp_path / "out", Choices(split=(1, 0, 0), tiers=("words",)))
    assert [(row["transcript"], row["tier"]) for row in done.all_rows] == [("one", "words")]
    with pytest.raises(ImportingError, match="no row"):
        Import("folder", tmp_path, tmp_path / "out", Choices(tiers=("other",)))


def test_subtitles_cut_their_recording(tmp_path: Path) -> None:
    for name in ("a", "b", "c"):
        tone(tmp_path / f"{name}.wav", 4)
    write(
        tmp_path / "a.srt",
        "\ufeff1\r\n00:00:00,000 --> 00:00:01,000\r\n<i>olá,</i>\r\n{\\an8}mundo &amp; tudo\r\n\r\n"
        "2\r\n00:00:01,000 --> 00:00:02,000\r\n\r\n3\r\n00:00:02,500 --> 00:00:03,500 X1:40\r\nनमस्ते\r\n",
    )
    write(tmp_path / "a.txt", "olá, mundo & tudo नमस्ते")
    write(
        tmp_path / "b.vtt",
        "WEBVTT - a title\n\nNOTE what\nis this\n\nname\n00:01.000 --> 00:02.000 align:start\n<v.loud Ana>oi <00:01.5>"
        "<c>mar</c></v>\n\n00:02.000 --> 00:03.000\n<v Rui>tchau\n",
    )
    write(tmp_path / "c.srt", "1\n0:0:1 --> 0:0:2\nlost\n")
    done = Import("folder", tmp_path, tmp_path.with_name("out"), ALL_TRAIN)
    rows = [(row["wav_filename"], row["transcript"], row["speaker"]) for row in done.all_rows]
    assert rows == [
        ("clips/a.wav/00000000-00001000.flac", "olá, mundo & tudo", ""),
        ("clips/a.wav/00002500-00003500.flac", "नमस्ते", ""),
        ("clips/b.wav/00001000-00002000.flac", "oi mar", "Ana"),
        ("clips/b.wav/00002000-00003000.flac", "tchau", "Rui"),
    ]
    (left_out,) = read(done.out / "left_out.csv")
    assert (left_out["source"], left_out["reason"]) == ("c.srt", "its transcript cannot be read")
    assert left_out["detail"] == "line 2: times are not written as 00:01:02.345 --> 00:01:04.000"


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_a_cue_goes_on_behind_characters_that_part_lines_elsewhere(tmp_path: Path, end: str) -> None:
    lines = ("1", "00:00:01,000 --> 00:00:02,000", "one\u2028\u2028two\v\vthree", "", "2")
    (tmp_path / "a.srt").write_bytes(end.join([*lines, "00:00:03,000 --> 00:00:04,000", "four", ""]).encode())
    (tier,) = read_subtitles(tmp_path / "a.srt")
    assert [segment.text for segment in tier.segments] == ["one two three", "four"]


def test_captions_that_roll_up_say_each_line_once(tmp_path: Path) -> None:
    said = ["hello there", "no", "no", "that is all"]
    cues = []
    for number, line in enumerate(said):
        above = said[number - 1] if number else " "
        timed = line.replace(" ", f"<00:00:0{number}.500><c> ") + "</c>" * (" " in line)
        cues.append(f"00:00:0{number}.000 --> 00:00:0{number}.990 align:start position:0%\n{above}\n{timed}\n\n")
        cues.append(f"00:00:0{number}.990 --> 00:00:0{number + 1}.000 align:start position:0%\n{line}\n \n\n")
    write(tmp_path / "a.vtt", "WEBVTT\nKind: captions\nLanguage: en\n\n" + "".join(cues))
    (tier,) = read_subtitles(tmp_path / "a.vtt")
    assert tier.segments == [(number, number + 0.99, line) for number, line in enumerate(said)]
    once = (f"00:0{number}.000 --> 00:0{number + 1}.000\n{line}\n\n" for number, line in enumerate(said))
    write(tmp_path / "b.vtt", "WEBVTT\n\n" + "".join(once))
    (tier,) = read_subtitles(tmp_path / "b.vtt")
    assert [segment.text for segment in tier.segments] == said


def test_subtitles_of_a_day_are_read_in_no_time(tmp_path: Path) -> None:
    cues = (f"{second}\n00:00:{second},000 --> 00:00:{second + 1},000\nword\n\n" for second in range(40_000))
    write(tmp_path / "day.srt", "".join(cues))
    begin = time.process_time()
    (tier,) = read_subtitles(tmp_path / "day.srt")
    assert time.process_time() - begin < 3
    assert len(tier.segments) == 40_000


def test_numbers_of_cues_are_not_said_where_the_empty_line_before_them_is_missing(tmp_path: Path) -> None:
    tone(tmp_path / "a.wav", 4)
    times = [f"00:00:0{second},000 --> 00:00:0{second + 1},000" for second in range(4)]
    cues = [f"1\n{times[0]}\none\n2\n{times[1]}\n", f"3\n{times[2]}\nthree\n4\n\n", f"4\n{times[3]}\nlast\n5\n"]
    write(tmp_path / "a.srt", "".join(cues))
    done = Import("folder", tmp_path, tmp_path.with_name("out"), ALL_TRAIN)
    assert [row["transcript"] for row in done.all_rows] == ["one", "three 4", "last 5"]


def test_lines_of_scripts_without_spaces_are_joined_without_one(tmp_path: Path) -> None:
    for name in ("a", "b"):
        tone(tmp_path / f"{name}.wav", 2)
    write(tmp_path / "a.srt", "1\n00:00:00,000 --> 00:00:01,000\n你好世界\n我们来了\nhello\nthere\n")
    write(tmp_path / "b.txt", "第一行\r\n\r\n第二行\r\n")
    done = Import("folder", tmp_path, tmp_path.with_name("out"), ALL_TRAIN)
    assert sorted(row["transcript"] for row in done.all_rows) == ["你好世界我们来了 hello there", "第一行第二行"]


def test_readings_above_the_characters_of_a_cue_are_no_part_of_its_text(tmp_path: Path) -> None:
    ruby = "<ruby>漢<rt>かん</rt>字<rt.small>じ</ruby>です<c.rt>ね</c>"
    write(tmp_path / "a.vtt", f"WEBVTT\n\n00:00.000 --> 00:01.000\n{ruby}\n")
    (tier,) = read_subtitles(tmp_path / "a.vtt")
    assert [segment.text for segment in tier.segments] == ["漢字ですね"]


def test_subtitles_may_tell_their_language_in_their_name(tmp_path: Path) -> None:
    for name in ("talk", "talk.en", "interview", "speech"):
        tone(tmp_path / f"{name}.wav", 2)
    for name in ("talk.pt-BR", "talk.en", "interview.de", "interview.en"):
        write(tmp_path / f"{name}.vtt", f"WEBVTT\n\n00:00.000 --> 00:01.000\nin {name}\n")
    done = Import("folder", tmp_path, tmp_path.with_name("out"), ALL_TRAIN)
    assert sorted(row["transcript"] for row in done.all_rows) == ["in talk.en", "in talk.pt-BR"]
    assert done.left_out == {
        "interview.wav": "subtitles of several languages beside it; keep one",
        "speech.wav": "no transcript beside it",
    }
