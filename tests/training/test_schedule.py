"""A training with every option of a schedule, which resumes exactly after it was stopped."""

from __future__ import annotations

import re
import signal
from pathlib import Path
from typing import Any

import pytest
from program import Program

from deepspeech.checkpoints.identity import read_description
from deepspeech.checkpoints.model_figures import ModelFigures
from deepspeech.cli.flags import parse
from deepspeech.errors import FlagError

EVERYTHING = [
    "--learning_rate_schedule=cosine",
    "--warmup_steps=3",
    "--reduce_lr_on_plateau",
    "--plateau_epochs=2",
    "--clip_gradient_norm=30",
    "--weight_decay=0.01",
    "--accumulate_gradients=2",
    "--ema_decay=0.9",
    "--batch_frames=250",
    "--shuffle_batches",
    "--best_by=cer",
    "--average_checkpoints=2",
    "--noearly_stop",
    "--dropout_rate=0.1",
    "--n_hidden=24",
    "--intra_op_parallelism_threads=1",
]


def arguments(program: Program, folder: Path) -> list[str]:
    flags = program.training(epoch=6, validation_step=1, checkpoint_dir=folder, iters_per_worker=2)
    return [*(each for each in flags if "train_batch_size" not in each), *program.test_files(), *EVERYTHING]


def result(folder: Path) -> dict[str, Any]:
    """Return the losses of all epochs, the figures that decide which is best, and those of the test."""
    newest = max(folder.glob("train-*.index"), key=lambda path: int(path.stem.split("-")[1]))
    state = (read_description(newest.with_suffix("")) or {})["state"]
    figures = ModelFigures.read(folder)
    return {
        **{f"{name} {epoch}": loss for name, epoch, loss, _ in state["history"]},
        **{f"error rate {number}": rate for number, rate in enumerate(state["dev_error_rates"])},
        **{"steps": newest.stem, "test": figures.test_loss, "wer": figures.wer, "tested": figures.test_checkpoint},
    }


def test_a_training_with_every_option_of_its_schedule_goes_on_exactly_where_it_was_stopped(program: Program) -> None:
    whole, stopped = program.folder / "whole", program.folder / "stopped"
    finished = program.run(*arguments(program, whole))
    assert finished.code == 0, finished.stderr
    process = program.start(*arguments(program, stopped))
    assert process.stderr is not None
    for line in process.stderr:
        if "Training of epoch 2" in line:
            break
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=600)
    again = program.run(*arguments(program, stopped))
    assert again.code == 0, again.stderr
    assert "Resuming from checkpoint" in again.stderr
    assert result(stopped) == pytest.approx(result(whole), abs=1e-4)
    rates = [float(rate) for rate in re.findall(r"Training of epoch .* learning rate ([\d.e-]+)", finished.stderr)]
    assert len(rates) == 6
    assert rates[0] > rates[-1] > 0
    assert re.search(r"Validation of epoch 6: CER without a language model [\d.]+%", finished.stderr)
    assert "Testing with the checkpoint of lowest validation CER" in finished.stderr
    mean = re.search(r"The weights are the mean of (best_dev-\d+, best_dev-\d+)", finished.stderr)
    assert mean is not None
    assert result(whole)["tested"] == mean[1]


def test_another_figure_for_the_best_is_said_and_keeps_the_best_of_before(program: Program) -> None:
    flags = [*program.training(validation_step=1), "--noearly_stop", "--n_hidden=16"]
    assert program.run(*flags, "--epoch=1").code == 0
    (before,) = program.checkpoints.glob("best_dev-*.index")
    finished = program.run(*flags, "--epoch=2", "--best_by=wer")
    assert "The best checkpoint is now chosen by wer, and was chosen by loss before" in finished.stderr
    assert re.search(r"Best validation WER so far: saved as best_dev-\d+", finished.stderr)
    assert before.exists()
    assert len(list(program.checkpoints.glob("best_dev-*.index"))) == 2


@pytest.mark.parametrize(
    ("flags", "reason"),
    [
        (("--best_by=wer",), "--best_by=wer: needs --dev_files and --validation_step"),
        (("--best_by=wer", "--validation_step=1", "--earlystop_nsteps=4"), "in nats"),
        (("--reduce_lr_on_plateau",), "--reduce_lr_on_plateau: needs --dev_files and --validation_step"),
        (("--learning_rate_schedule=inverse_sqrt",), "needs --warmup_steps or --warmup_epochs"),
        (("--warmup_steps=1", "--warmup_epochs=1"), "cannot be combined with --warmup_epochs"),
        (("--minimum_learning_rate=1",), "is above --learning_rate"),
        (("--weight_decay=200", "--learning_rate=0.01"), "--weight_decay=200.0: times --learning_rate=0.01 is 2, the"),
        (("--batch_frames=100",), "cannot be combined with --train_batch_size"),
        (("--learning_rate_schedule=none",), "must be one of constant, cosine, "),
        (("--plateau_reduction=1",), "must be more than 0 and less than 1"),
    ],
)
def test_flags_that_do_not_go_together_are_one_line(program: Program, flags: tuple[str, ...], reason: str) -> None:
    with pytest.raises(FlagError, match=re.escape(reason)):
        parse([*program.training(), *flags])
