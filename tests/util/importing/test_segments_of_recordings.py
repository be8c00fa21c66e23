"""Segments that are cut out of recordings."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest
import soundfile
from trees import Import, write

from deepspeech.util.audio import read_audio
from deepspeech.util.importing.pipeline.records import Choices

ALL_TRAIN = Choices(split=(1, 0, 0))


def loud(path: Path, subtype: str) -> Path:
    """Write a square wave of 3 s that is as loud as the format allows."""
    samples = np.sign(np.sin(np.arange(3 * 16_000) / 9)) * (2.0 if subtype in {"FLOAT", "DOUBLE"} else 0.999)
    form = "OGG" if path.suffix in {".ogg", ".opus"} else None
    soundfile.write(path, samples, 16_000, format=form, subtype=subtype)
    return path


@pytest.mark.parametrize(
    ("name", "subtype"),
    [("a.ogg", "VORBIS"), ("a.opus", "OPUS"), ("a.mp3", "MPEG_LAYER_III"), ("a.wav", "FLOAT"), ("a.wav", "DOUBLE")]
    + [("a.wav", subtype) for subtype in ("PCM_U8", "PCM_16", "PCM_24", "PCM_32", "ULAW")],
)
def test_a_segment_sounds_as_its_recording_does_there_however_loud(tmp_path: Path, name: str, subtype: str) -> None:
    recording = loud(tmp_path / name, subtype)
    write(tmp_path / "rows.jsonl", json.dumps({"audio_filepath": name, "text": "x", "offset": 1, "duration": 1}))
    done = Import("json_lines", tmp_path, tmp_path / "out", ALL_TRAIN)
    cut = read_audio(tmp_path / "out" / done.all_rows[0]["wav_filename"], 16_000)
    assert len(cut) == 16_000
    assert np.abs(cut - read_audio(recording, 16_000)[16_000:32_000]).max() < 2.0**-14


def test_segments_are_cut_again_of_a_recording_that_was_exchanged_for_an_older_file(tmp_path: Path) -> None:
    soundfile.write(tmp_path / "a.wav", np.full(48_000, 0.5), 16_000)
    write(tmp_path / "rows.jsonl", json.dumps({"audio_filepath": "a.wav", "text": "x", "offset": 1, "duration": 1}))
    Import("json_lines", tmp_path, tmp_path / "out", ALL_TRAIN)
    soundfile.write(tmp_path / "a.wav", np.full(48_000, 0.25), 16_000)
    os.utime(tmp_path / "a.wav", (1e9, 1e9))  # as unpacked from an archive
    done = Import("json_lines", tmp_path, tmp_path / "out", ALL_TRAIN)
    assert set(read_audio(tmp_path / "out" / done.all_rows[0]["wav_filename"], 16_000)) == {0.25}
