"""Segments that are cut out of recordings."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile
from trees import Import, tone, write

from deepspeech.util.audio import AudioInfo, inspect_audio, open_recording, read_audio
from deepspeech.util.errors import ImportingError
from deepspeech.util.importing.pipeline import recordings
from deepspeech.util.importing.pipeline.records import Choices
from deepspeech.util.parts import Part

ALL_TRAIN = Choices(split=(1, 0, 0))


def loud(path: Path, subtype: str) -> Path:
    """Write a square wave of 3 s, as loud as the format allows."""
    samples = np.sign(np.sin(np.arange(3 * 16_000) / 9)) * (2.0 if subtype in {"FLOAT", "DOUBLE"} else 0.999)
    form = "OGG" if path.suffix in {".ogg", ".opus"} else None
    soundfile.write(path, samples, 16_000, format=form, subtype=subtype)
    return path


@pytest.mark.parametrize(
    ("name", "subtype"),
    [("a.ogg", "VORBIS"), ("a.opus", "OPUS"), ("a.mp3", "MPEG_LAYER_III"), ("a.wav", "FLOAT"), ("a.wav", "DOUBLE")]
    + [("a.wav", subtype) for subtype in ("PCM_U8", "PCM_16", "PCM_24", "PCM_32", "ULAW", "GSM610")],
)
def test_a_segment_sounds_as_its_recording_does_there_however_loud(tmp_path: Path, name: str, subtype: str) -> None:
    recording = loud(tmp_path / name, subtype)
    write(tmp_path / "rows.jsonl", json.dumps({"audio_filepath": name, "text": "x", "offset": 1, "duration": 1}))
    done = Import("json_lines", tmp_path, tmp_path / "out", ALL_TRAIN)
    cut = read_audio(tmp_path / "out" / done.all_rows[0]["wav_filename"], 16_000)
    assert len(cut) == 16_000
    wanted = read_audio(recording, 16_000)[16_000:32_000]
    assert np.abs(cut - wanted).max() < 2.0**-14
    assert np.abs(read_audio(recording, 16_000, Part(1, 2)) - wanted).max() < 2.0**-14


def test_a_recording_is_checked_once_for_all_segments_wherever_the_list_has_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a.flac", "b.flac"):
        tone(tmp_path / name, 5)
    rows = [
        {"audio_filepath": name, "text": "x", "offset": 0.1 * place, "duration": 0.1}
        for place in range(50)
        for name in ("a.flac", "b.flac")
    ]
    write(tmp_path / "rows.jsonl", "\n".join(map(json.dumps, rows)))
    checked: list[str] = []

    def noted(path: str) -> AudioInfo:
        checked.append(Path(path).name)
        return inspect_audio(path)

    monkeypatch.setattr(recordings, "inspect_audio", noted)
    assert len(Import("json_lines", tmp_path, tmp_path / "out", ALL_TRAIN).all_rows) == 100
    assert sorted(checked) == ["a.flac", "b.flac"]


@pytest.mark.parametrize("form", ["json_lines", "kaldi", "lhotse", "table"])
def test_a_segment_begins_with_its_recording_if_rounding_puts_it_before_else_is_left_out(
    form: str, tmp_path: Path
) -> None:
    recording, texts, starts = tone(tmp_path / "a.wav", 5), ("ab", "cd", "ef"), (-0.009, -1, 1)
    if form == "json_lines":
        rows = [{"audio_filepath": "a.wav", "text": texts[i], "offset": starts[i], "duration": 2} for i in range(3)]
        write(tmp_path / "rows.jsonl", "\n".join(map(json.dumps, rows)))
    elif form == "kaldi":
        write(tmp_path / "wav.scp", f"r {recording}")
        write(tmp_path / "segments", "\n".join(f"u{i} r {starts[i]} {starts[i] + 2}" for i in range(3)))
        write(tmp_path / "text", "\n".join(f"u{i} {texts[i]}" for i in range(3)))
    elif form == "lhotse":
        sources = [{"type": "file", "channels": [0], "source": "a.wav"}]
        of_file = {"id": "r", "sources": sources, "sampling_rate": 16000, "num_samples": 80000, "duration": 5.0}
        write(tmp_path / "x_recordings_all.jsonl", json.dumps(of_file))
        rows = [{"id": f"u{i}", "recording_id": "r", "channel": 0, "text": texts[i]} for i in range(3)]
        rows = [{**row, "start": start, "duration": 2.0} for row, start in zip(rows, starts, strict=True)]
        write(tmp_path / "x_supervisions_all.jsonl", "\n".join(map(json.dumps, rows)))
    else:
        rows_of_table = [f"a.wav,{texts[i]},{starts[i]},2" for i in range(3)]
        write(tmp_path / "rows.csv", "\n".join(["file,text,start,duration", *rows_of_table]))
    done = Import(form, tmp_path, tmp_path / "out", ALL_TRAIN)
    assert sorted(row["transcript"] for row in done.all_rows) == ["ab", "ef"]


def test_an_mp3_is_opened_once_for_its_segments_in_any_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recording = tmp_path / "a.mp3"
    soundfile.write(recording, np.random.default_rng(1).normal(0, 0.1, 8 * 16_000), 16_000)
    rows = [{"audio_filepath": "a.mp3", "text": "x", "offset": each, "duration": 0.5} for each in (5, 1, 1.25, 0, 7.5)]
    write(tmp_path / "rows.jsonl", "\n".join(map(json.dumps, rows)))
    opened: list[str] = []
    really = open_recording

    def noted(path: str) -> Any:
        opened.append(path)
        return really(path)

    monkeypatch.setattr(recordings, "open_recording", noted)
    done = Import("json_lines", tmp_path, tmp_path / "out", ALL_TRAIN)
    assert opened == [str(recording)]
    whole = read_audio(recording, 16_000)
    for row in done.all_rows:
        begin, end = (int(each) * 16 for each in Path(row["wav_filename"]).stem.split("-"))
        assert np.abs(read_audio(tmp_path / "out" / row["wav_filename"], 16_000) - whole[begin:end]).max() < 2.0**-14
    assert len(done.all_rows) == 5


@pytest.mark.parametrize("channels", [8, 10])
def test_segments_of_more_tracks_than_a_flac_has_are_what_is_read_of_them(tmp_path: Path, channels: int) -> None:
    """Field recorders write ten tracks into one wav."""
    samples = np.random.default_rng(0).normal(0, 0.1, (48_000, channels))
    soundfile.write(tmp_path / "a.wav", samples, 16_000, subtype="PCM_24")
    row = {"audio_filepath": "a.wav", "text": "x", "offset": 1, "duration": 1}
    write(tmp_path / "rows.jsonl", json.dumps(row))
    done = Import("json_lines", tmp_path, tmp_path / "out", ALL_TRAIN)
    cut = tmp_path / "out" / done.all_rows[0]["wav_filename"]
    assert soundfile.info(cut).channels == (channels if channels <= 8 else 1)
    assert np.abs(read_audio(cut, 16_000) - read_audio(tmp_path / "a.wav", 16_000, Part(1, 2))).max() < 2.0**-22


def test_recordings_outside_the_folder_have_other_clips_than_their_copies_in_it(tmp_path: Path) -> None:
    source = tmp_path / "backup"
    outside = tmp_path / "a.wav"
    for path, value in ((outside, 0.5), (source / str(outside).lstrip("/"), 0.25)):
        path.parent.mkdir(parents=True, exist_ok=True)
        soundfile.write(path, np.full(48_000, value), 16_000)
        row = {"audio_filepath": str(path), "text": f"{value}", "offset": 1, "duration": 1}
        write(source / f"{value}.jsonl", json.dumps(row))
    done = Import("json_lines", source, tmp_path / "out", ALL_TRAIN)
    heard = {row["transcript"]: read_audio(done.out / row["wav_filename"], 16_000)[0] for row in done.all_rows}
    assert {text: round(float(value), 3) for text, value in heard.items()} == {"0.5": 0.5, "0.25": 0.25}


def test_segments_are_cut_again_of_a_recording_that_was_exchanged_for_an_older_file(tmp_path: Path) -> None:
    soundfile.write(tmp_path / "a.wav", np.full(48_000, 0.5), 16_000)
    write(tmp_path / "rows.jsonl", json.dumps({"audio_filepath": "a.wav", "text": "x", "offset": 1, "duration": 1}))
    Import("json_lines", tmp_path, tmp_path / "out", ALL_TRAIN)
    soundfile.write(tmp_path / "a.wav", np.full(48_000, 0.25), 16_000)
    os.utime(tmp_path / "a.wav", (1e9, 1e9))  # as unpacked from an archive
    done = Import("json_lines", tmp_path, tmp_path / "out", ALL_TRAIN)
    assert set(read_audio(tmp_path / "out" / done.all_rows[0]["wav_filename"], 16_000)) == {0.25}


def test_a_disk_that_is_full_ends_the_import_and_leaves_the_sets_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loud(tmp_path / "a.wav", "PCM_16")
    rows = [{"audio_filepath": "a.wav", "text": "x", "offset": offset, "duration": 1} for offset in (0, 1)]
    write(tmp_path / "rows.jsonl", json.dumps(rows[0]))
    before = Import("json_lines", tmp_path, tmp_path / "out", ALL_TRAIN).all_rows
    write(tmp_path / "rows.jsonl", "\n".join(map(json.dumps, rows)))
    really = Path.open

    def full(path: Path, mode: str = "r", *arguments: Any, **options: Any) -> Any:
        is_clip = ".flac.part-" in path.name
        return really(Path("/dev/full"), "wb", 0) if is_clip else really(path, mode, *arguments, **options)

    monkeypatch.setattr(Path, "open", full)
    with pytest.raises(ImportingError, match=r"00002000\.flac: cannot be written: No space left on device; correct"):
        Import("json_lines", tmp_path, tmp_path / "out", ALL_TRAIN)
    monkeypatch.undo()
    assert [row["transcript"] for row in before] == ["x"]
    assert len((tmp_path / "out" / "train.csv").read_text().splitlines()) == 2
    assert len(Import("json_lines", tmp_path, tmp_path / "out", ALL_TRAIN).all_rows) == 2


def test_segments_that_are_cut_are_cut_again_only_if_they_are_damaged(tmp_path: Path) -> None:
    tone(tmp_path / "a" / "rec.wav", 3)
    tone(tmp_path / "b" / "rec.wav", 3)
    write(tmp_path / "wav.scp", "a a/rec.wav\nb b/rec.wav\n")
    write(tmp_path / "segments", "u1 a 0 1\nu2 a 1 2\nu3 b 0 1\n")
    write(tmp_path / "text", "u1 one\nu2 two\nu3 one\n")
    out = tmp_path / "out"
    rows = Import("kaldi", tmp_path, out, Choices(split=(1, 0, 0))).all_rows
    clips = [out / row["wav_filename"] for row in rows]
    assert len(set(clips)) == 3  # although two recordings have the same name
    before = [clip.stat().st_ino for clip in clips]
    clips[1].write_bytes(clips[1].read_bytes()[:40])
    Import("kaldi", tmp_path, out, Choices(split=(1, 0, 0)))
    after = [clip.stat().st_ino for clip in clips]
    assert [one == other for one, other in zip(before, after, strict=True)] == [True, False, True]
    assert soundfile.info(clips[1]).frames == 8000


def test_a_recording_whose_first_row_is_left_out_is_not_decoded_again(tmp_path: Path) -> None:
    """Talks of TED-LIUM often begin with a gap, and take hours to decode."""
    talk = tone(tmp_path / "train/sph/talk.sph", 3)
    gap = "talk 1 inter_segment_gap 0 1 <o> ignore_time_segment_in_scoring"
    write(tmp_path / "train/stm/talk.stm", f"{gap}\ntalk 1 ann 1 2 <o> word\n")
    first = Import("tedlium", tmp_path, tmp_path / "out", ALL_TRAIN).all_rows
    status = talk.stat()
    talk.write_bytes(bytes(status.st_size))  # which nobody notices who does not decode it
    os.utime(talk, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert Import("tedlium", tmp_path, tmp_path / "out", ALL_TRAIN).all_rows == first
    assert [row["transcript"] for row in first] == ["word"]


def test_segments_of_a_folder_whose_name_goes_on_have_clips_of_their_own(tmp_path: Path) -> None:
    rows = []
    for name, value in (("train/2/a.wav", 0.5), ("train2/a.wav", 0.25)):
        (tmp_path / name).parent.mkdir(parents=True)
        soundfile.write(tmp_path / name, np.full(48_000, value), 16_000)
        rows.append(json.dumps({"audio_filepath": f"{tmp_path}/{name}", "text": "x", "offset": 1, "duration": 1}))
    write(tmp_path / "train/rows.jsonl", "\n".join(rows))
    done = Import("json_lines", tmp_path / "train", tmp_path / "out", ALL_TRAIN)
    cut = [set(read_audio(tmp_path / "out" / row["wav_filename"], 16_000)) for row in done.all_rows]
    assert cut == [{0.5}, {0.25}]


def test_segments_of_names_that_differ_in_dots_alone_have_clips_of_their_own(tmp_path: Path) -> None:
    rows = []
    for name, value in (("a..b.wav", 0.5), ("a_b.wav", 0.25), ("_/c.wav", 0.125), ("x/../c.wav", 0.0625)):
        (tmp_path / "x").mkdir(exist_ok=True)
        (tmp_path / name).parent.mkdir(exist_ok=True)
        soundfile.write(tmp_path / name, np.full(48_000, value), 16_000)
        os.utime(tmp_path / name, ns=(0, 0))  # as archives have it, by which clips are known to be of this version
        rows.append(json.dumps({"audio_filepath": name, "text": "x", "offset": 1, "duration": 1}))
    write(tmp_path / "rows.jsonl", "\n".join(rows))
    done = Import("json_lines", tmp_path, tmp_path / "out", ALL_TRAIN)
    cut = [set(read_audio(tmp_path / "out" / row["wav_filename"], 16_000)) for row in done.all_rows]
    assert cut == [{0.5}, {0.25}, {0.125}, {0.0625}]


def test_a_corpus_may_be_made_below_the_folder_of_its_recordings_but_not_in_it(tmp_path: Path) -> None:
    tone(tmp_path / "long.wav", 3)
    write(tmp_path / "rows.jsonl", '{"audio_filepath": "long.wav", "text": "x", "offset": 1, "duration": 1}')
    Import("json_lines", tmp_path, tmp_path / "out", Choices(split=(1, 0, 0)))
    write(tmp_path / "long.txt", "the whole")
    done = Import("folder", tmp_path, tmp_path / "out", Choices(split=(1, 0, 0)))
    assert done.transcripts == {"long.wav": "the whole"} and not done.left_out
    with pytest.raises(ImportingError, match="holds the corpus itself"):
        Import("folder", tmp_path, tmp_path)
    with pytest.raises(ImportingError, match="not a folder"):
        Import("folder", tmp_path / "long.wav", tmp_path / "out")


def test_utterances_that_are_longer_than_a_minute_are_told_with_what_to_do(tmp_path: Path) -> None:
    for name, seconds in (("a", 61), ("b", 90), ("c", 59)):
        tone(tmp_path / "source" / f"{name}.wav", seconds)
        write(tmp_path / "source" / f"{name}.txt", "words")
    done = Import("folder", tmp_path / "source", tmp_path / "out", ALL_TRAIN)
    (told,) = [line for line in done.news if line.startswith("longer than a minute")]
    assert told.startswith(f"longer than a minute: 2 utterances, up to 1.5 minutes ({tmp_path / 'source' / 'b.wav'}); ")


@pytest.mark.parametrize("comma", [".", ","])
def test_labels_of_audacity_cut_their_recording(comma: str, tmp_path: Path) -> None:
    labels = "0.250000\t0.750000\tgood day\n\\\t200.0\t3000.0\n0.8\t1.0\t\n1.5\t2.0\t two  words\n2.5\t2.5\ta point\n"
    loud(tmp_path / "talk.wav", "PCM_16")
    write(tmp_path / "talk.txt", labels.replace(".", comma))
    done = Import("folder", tmp_path, tmp_path / "out", ALL_TRAIN)
    assert [(row["transcript"], row["duration"]) for row in done.all_rows] == [
        ("good day", "0.500"),
        ("two words", "0.500"),
    ]
    assert done.left_out == {"talk.txt": "an annotation without a time"}
    first = read_audio(tmp_path / "out" / done.all_rows[0]["wav_filename"], 16_000)
    np.testing.assert_allclose(first, read_audio(tmp_path / "talk.wav", 16_000)[4000:12_000], atol=2.0**-14)
