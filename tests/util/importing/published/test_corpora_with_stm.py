"""Lists in the form .stm of other corpora than TED-LIUM."""

from __future__ import annotations

from pathlib import Path

import pytest
from trees import Import, tone, write

from deepspeech.util.importing import format_of
from deepspeech.util.importing.pipeline.records import Choices


@pytest.mark.parametrize("form", ["{part}.stm", "talks.{part}.stm"])
def test_recordings_of_an_stm_may_be_in_any_folder_and_its_name_may_end_with_a_set(form: str, tmp_path: Path) -> None:
    for part in ("train", "dev", "test"):
        tone(tmp_path / "corpus" / "audio" / part / f"of_{part}.wav", 2)
        line = f"of_{part} 1 ann 0.5 1.5 <o,f0,male> a word\n"
        write(tmp_path / "corpus" / "stm" / form.format(part=part), line)
    assert format_of(tmp_path / "corpus", Choices()) == "tedlium"
    done = Import("tedlium", tmp_path / "corpus", tmp_path / "out")
    for part in ("train", "dev", "test"):
        (row,) = done.rows(part)
        assert f"of_{part}.wav" in row["wav_filename"]
        assert (row["transcript"], row["speaker"], row["duration"]) == ("a word", "ann", "1.000")


def test_the_sides_of_a_call_are_its_channels_and_the_first_alternative_is_its_text(tmp_path: Path) -> None:
    tone(tmp_path / "corpus" / "sw_1.sph", 3, 2)
    lines = ("sw_1 A sw_1_A 0.5 1.5 <O> { all right / alright } it is", "sw_1 B sw_1_B 1.0 2.0 <O> { @ / um } yes")
    write(tmp_path / "corpus" / "calls.stm", "\n".join(lines))
    done = Import("tedlium", tmp_path / "corpus", tmp_path / "out", Choices(split=(1, 0, 0)))
    clips = {Path(row["wav_filename"]).stem: row["transcript"] for row in done.all_rows}
    assert clips == {"00000500-00001500-channel-0": "all right it is", "00001000-00002000-channel-1": "yes"}
