"""Utterances that several lists of a folder have: none is trained on and tested with."""

from __future__ import annotations

from pathlib import Path

import pytest
from trees import Import, tone, write

from deepspeech.util.importing.pipeline.records import OF_ANOTHER_LIST, Choices


def lists(folder: Path, **rows: str) -> Path:
    """Write lists with the rows that their texts name, each a recording, and the recordings."""
    for name, texts in rows.items():
        for text in texts:
            tone(folder / f"{text}.wav", 1)
        write(folder / f"{name}.csv", "\n".join(["wav_filename,transcript", *(f"{each}.wav,{each}" for each in texts)]))
    return folder


def test_training_has_none_of_the_utterances_of_validation_and_test(tmp_path: Path) -> None:
    done = Import("lists", lists(tmp_path, train="abcd", train_more="de", dev="b", test="a"), tmp_path / "out")
    assert done.sets == {"train": {"c.wav", "d.wav", "e.wav"}, "dev": {"b.wav"}, "test": {"a.wav"}}
    assert done.left_out == dict.fromkeys(("train.csv:2", "train.csv:3", "train_more.csv:2"), OF_ANOTHER_LIST)


def test_one_list_may_be_that_of_validation_and_of_the_test(tmp_path: Path) -> None:
    done = Import("lists", lists(tmp_path, train="ab", dev="bc", test="bc"), tmp_path / "out")
    assert done.sets == {"train": {"a.wav"}, "dev": {"b.wav", "c.wav"}, "test": {"b.wav", "c.wav"}}


@pytest.mark.parametrize("table", ["lists", "table"])
def test_no_utterance_is_in_two_sets_if_all_are_divided_again(table: str, tmp_path: Path) -> None:
    source = lists(tmp_path, train="abcdefgh", dev="cdefghij", test="defghijk")
    done = Import(table, source, tmp_path / "out", Choices(split=(50, 25, 25)))
    assert len(done.all_rows) == len(set.union(*done.sets.values())) == 11
