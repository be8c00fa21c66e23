"""Data directories of Kaldi further below the folder of a corpus."""

from __future__ import annotations

from pathlib import Path

import pytest
from trees import Import, tone, write

from deepspeech.util.importing import format_of
from deepspeech.util.importing.pipeline.records import Choices


def directory(folder: Path, name: str) -> None:
    tone(folder / f"{name}.wav")
    write(folder / "text", f"{name} a word\n")
    write(folder / "wav.scp", f"{name} {folder / name}.wav\n")


@pytest.mark.parametrize("path", ["asr_swahili/data/{}", "Tasks/ASR/{}_phase1", "Hindi-English/{}/transcripts"])
def test_directories_whose_paths_differ_in_one_part_are_the_sets(path: str, tmp_path: Path) -> None:
    for name in ("train", "dev", "test"):
        directory(tmp_path / "corpus" / path.format(name), name)
    assert format_of(tmp_path / "corpus", Choices()) == "kaldi"
    done = Import("kaldi", tmp_path / "corpus", tmp_path / "out")
    assert done.sets == {name: {f"{name}.wav"} for name in ("train", "dev", "test")}
