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
