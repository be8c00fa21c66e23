"""A folder of checkpoints that is deleted while a run trains into it."""

from pathlib import Path
from unittest.mock import MagicMock

import pytest

from deepspeech.cli import flags
from deepspeech.errors import CheckpointError
from deepspeech.training.lifecycle import restore_newest


def test_training_does_not_begin_again_without_a_word_when_its_checkpoints_are_gone(tmp_path: Path) -> None:
    options = flags.parse(["--train_files=a.csv", f"--checkpoint_dir={tmp_path}"])
    assert options is not None
    checkpoints = MagicMock()
    checkpoints.find_newest.return_value = None
    checkpoints.last_here = tmp_path / "train-70"
    with pytest.raises(CheckpointError, match="train-70, to resume from, is gone"):
        restore_newest(checkpoints, MagicMock(), options)
    checkpoints.last_here = None
    assert restore_newest(checkpoints, MagicMock(), options).epoch == 0
