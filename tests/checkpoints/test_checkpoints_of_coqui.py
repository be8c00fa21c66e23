"""Coqui STT describes its checkpoints only by the file of their alphabet, which must be that of the run."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from checkpoint_sessions import IDENTITY, STATE, session_of, values

from deepspeech.checkpoints.flag_check import check_flags
from deepspeech.checkpoints.store import Kind
from deepspeech.errors import CheckpointError
from deepspeech.options import CheckpointOptions
from deepspeech.util.output_units import ByteAlphabet

COMMENT = "# Each line in this file represents the Unicode codepoint (UTF-8 encoded)\n"
REFUSED = r"alphabet.txt beside it has another alphabet, where label 1 is 'b' \(here 'a'\); give it with --alphabet"


def write_alphabet(folder: Path, labels: str) -> None:
    (folder / "alphabet.txt").write_text(COMMENT + "".join(f"{label}\n" for label in labels), "utf-8")


def folder_of_coqui(folder: Path, labels: str) -> Path:
    """Write all that is read of a folder of Coqui STT's before its checkpoint is restored."""
    (folder / "best_dev_checkpoint").write_text('model_checkpoint_path: "best_dev-7"\n')
    (folder / "best_dev-7.index").touch()
    write_alphabet(folder, labels)
    return folder


@pytest.mark.parametrize("labels", [" bacde", " bacd"])
def test_a_checkpoint_with_another_alphabet_beside_it_is_refused_before_the_corpora_are_checked(
    tmp_path: Path, labels: str
) -> None:
    folder = folder_of_coqui(tmp_path, labels)
    with pytest.raises(CheckpointError, match=REFUSED):
        check_flags(CheckpointOptions(folder), IDENTITY, trains=False)
    elsewhere = CheckpointOptions(folder / "mine", given_load_directory=folder)
    for options in (elsewhere, replace(elsewhere, fresh_optimizer=True)):
        with pytest.raises(CheckpointError, match=REFUSED):
            check_flags(options, IDENTITY, trains=True)
    check_flags(replace(elsewhere, drop_source_layers=1), IDENTITY, trains=True)


@pytest.mark.parametrize("labels", [" abcde", "", ["no label"]])
def test_a_checkpoint_with_the_same_alphabet_or_no_alphabet_beside_it_is_used(tmp_path: Path, labels: str) -> None:
    check_flags(CheckpointOptions(folder_of_coqui(tmp_path, labels)), IDENTITY, trains=False)


def test_an_alphabet_of_characters_beside_a_checkpoint_of_bytes_is_ignored(tmp_path: Path) -> None:
    folder = folder_of_coqui(tmp_path, " bacde")
    check_flags(CheckpointOptions(folder), replace(IDENTITY, alphabet=ByteAlphabet()), trains=False)


def test_rows_of_labels_are_kept_by_the_alphabet_beside_a_checkpoint(tmp_path: Path) -> None:
    with session_of(tmp_path, map_labels=True) as (checkpoints, session):
        prefix = checkpoints.save(session, Kind.BEST, STATE)
        before = values(session)["layer_6/weights"]
        prefix.with_name(f"{prefix.name}.json").unlink()
        write_alphabet(tmp_path, " bacde")
        checkpoints.initialize_from(session, prefix)
        np.testing.assert_array_equal(values(session)["layer_6/weights"], before[:, [0, 2, 1, 3, 4, 5, 6]])
    elsewhere = CheckpointOptions(tmp_path / "mine", given_load_directory=tmp_path, map_labels=True)
    check_flags(replace(elsewhere, fresh_optimizer=True), IDENTITY, trains=True)
    (tmp_path / "alphabet.txt").unlink()
    with pytest.raises(CheckpointError, match="does not contain its alphabet"):
        check_flags(replace(elsewhere, fresh_optimizer=True), IDENTITY, trains=True)


def test_the_alphabet_is_compared_when_a_checkpoint_is_restored(tmp_path: Path) -> None:
    with session_of(tmp_path, drop_source_layers=1) as (checkpoints, session):
        prefix = checkpoints.save(session, Kind.BEST, STATE)
        prefix.with_name(f"{prefix.name}.json").unlink()
        write_alphabet(tmp_path, " bacde")
        with pytest.raises(CheckpointError, match=REFUSED):
            checkpoints.restore(session, prefix)
        checkpoints.initialize_from(session, prefix)
        write_alphabet(tmp_path, " abcde")
        assert checkpoints.restore(session, prefix) is None
