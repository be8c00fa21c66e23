"""The weights that are used from a checkpoint with averages, or from several checkpoints; the return to the best."""

import logging
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from checkpoint_sessions import IDENTITY, STATE, session_of, set_step, values

from deepspeech.checkpoints.identity import ModelIdentity
from deepspeech.checkpoints.sources import assign
from deepspeech.checkpoints.store import Checkpoints, Kind
from deepspeech.checkpoints.weights.of_checkpoint import weights_of_checkpoint_file
from deepspeech.errors import CheckpointError
from deepspeech.network.layers.normalization import DEVIATION, MEAN
from deepspeech.options import ModelOptions
from deepspeech.options.checkpoints import AUTOMATIC
from deepspeech.util.features import FeatureOptions

v1 = tf.compat.v1
WEIGHTS = "layer_1/weights"
AVERAGE = f"{WEIGHTS}/ExponentialMovingAverage"


def fill(session: Any, **numbers: float) -> None:
    """Set all numbers of each variable, by the last part of its name, to one value."""
    with session.graph.as_default():
        variables = [(each, numbers.get(each.op.name.rpartition("/")[2])) for each in v1.global_variables()]
    chosen = ((variable, number) for variable, number in variables if number is not None)
    assign(session, ((variable, np.full(variable.shape, number, np.float32)) for variable, number in chosen))


def filled_with(session: Any, name: str) -> float:
    (number,) = np.unique(values(session)[name])
    return float(number)


def save_best(checkpoints: Checkpoints, session: Any, *losses: float) -> None:
    """Save the best checkpoints of steps 1, 2, ..., whose weights are their losses."""
    for step, loss in enumerate(losses, start=1):
        set_step(session, step)
        fill(session, weights=loss)
        checkpoints.save(session, Kind.BEST, replace(STATE, dev_losses=(loss,)))


def test_averages_are_used_in_place_of_the_weights_but_training_goes_on_from_the_weights(tmp_path: Path) -> None:
    with session_of(tmp_path, ema_decay=0.9) as (checkpoints, session):
        np.testing.assert_array_equal(values(session)[AVERAGE], values(session)[WEIGHTS])
        fill(session, weights=2.0, ExponentialMovingAverage=3.0)
        prefix = checkpoints.save(session, Kind.NEWEST, STATE)
    with session_of(tmp_path, trains=False) as (checkpoints, session):
        checkpoints.restore(session, prefix, to_use=True)
        assert filled_with(session, WEIGHTS) == 3.0
    with session_of(tmp_path, ema_decay=0.9) as (checkpoints, session):
        checkpoints.restore(session, prefix)
        assert (filled_with(session, WEIGHTS), filled_with(session, AVERAGE)) == (2.0, 3.0)


def test_averages_begin_at_the_weights_of_a_checkpoint_that_has_none(tmp_path: Path) -> None:
    with session_of(tmp_path) as (checkpoints, session):
        fill(session, weights=2.0)
        prefix = checkpoints.save(session, Kind.NEWEST, STATE)
    with session_of(tmp_path, ema_decay=0.9) as (checkpoints, session):
        checkpoints.restore(session, prefix)
        assert filled_with(session, AVERAGE) == 2.0


def test_the_best_checkpoints_are_kept_and_their_mean_is_used(tmp_path: Path) -> None:
    with session_of(tmp_path, averaged=2) as (checkpoints, session):
        save_best(checkpoints, session, 4.0, 2.0, 3.0)
        assert sorted(path.stem for path in tmp_path.glob("best_dev-*.index")) == ["best_dev-2", "best_dev-3"]
        best = checkpoints.find(Kind.BEST)
        assert best is not None
        assert best.name == "best_dev-2"
        checkpoints.restore(session, best, to_use=True)
        assert filled_with(session, WEIGHTS) == 2.5
        assert list(checkpoints.restored_names) == ["best_dev-2", "best_dev-3"]
        checkpoints.restore(session, best)
        assert filled_with(session, WEIGHTS) == 2.0
        assert list(checkpoints.restored_names) == ["best_dev-2"]
        (tmp_path / "best_dev_checkpoint").unlink()
        assert checkpoints.find(Kind.BEST) == best


def test_the_mean_of_those_that_are_left_is_used_where_the_index_is_lost_or_the_best_damaged(tmp_path: Path) -> None:
    with session_of(tmp_path, averaged=3) as (checkpoints, session):
        save_best(checkpoints, session, 4.0, 2.0, 3.0)
    (tmp_path / "best_dev_checkpoint").unlink()
    with session_of(tmp_path, trains=False, averaged=3) as (checkpoints, session):
        checkpoints.restore(session, checkpoints.choose("Testing"), to_use=True)
        assert filled_with(session, WEIGHTS) == 3.0
    with session_of(tmp_path, trains=False, averaged=2) as (checkpoints, session):
        checkpoints.restore(session, checkpoints.choose("Testing"), to_use=True)
        assert filled_with(session, WEIGHTS) == 2.5
    (tmp_path / "best_dev-2.data-00000-of-00001").write_bytes(b"damaged")
    with session_of(tmp_path, trains=False, averaged=3) as (checkpoints, session):
        checkpoints.restore(session, checkpoints.choose("Testing"), to_use=True)
        assert filled_with(session, WEIGHTS) == 3.5
    with session_of(tmp_path, trains=False, averaged=3, wanted="best_dev-1") as (checkpoints, session):
        checkpoints.restore(session, checkpoints.choose("Testing"), to_use=True)
        assert filled_with(session, WEIGHTS) == 4.0


@pytest.mark.parametrize(("losses", "told"), [((4.0,), False), ((4.0, 2.0), True)])
def test_a_mean_is_logged_only_if_there_are_several_checkpoints(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, losses: tuple[float, ...], told: bool
) -> None:
    with session_of(tmp_path, averaged=2) as (checkpoints, session):
        save_best(checkpoints, session, *losses)
        with caplog.at_level(logging.INFO):
            checkpoints.restore(session, checkpoints.choose("Testing"), to_use=True)
    assert ("The weights are the mean of" in caplog.text) == told


@pytest.mark.parametrize(
    ("name", "value"), [("best_dev-2", 2.0), ("best_dev-3", 3.5), ("best", 2.75), (AUTOMATIC, 2.75)]
)
def test_a_checkpoint_that_is_asked_for_by_its_name_is_used_alone(tmp_path: Path, name: str, value: float) -> None:
    with session_of(tmp_path, averaged=2) as (checkpoints, session):
        save_best(checkpoints, session, 4.0, 2.0, 3.5)
        set_step(session, 4)
        checkpoints.save(session, Kind.NEWEST, STATE)
    with session_of(tmp_path, trains=False, averaged=2, wanted=name) as (checkpoints, session):
        checkpoints.restore(session, checkpoints.choose("Exporting"), to_use=True)
        exported = values(session)
    assert float(exported[WEIGHTS].flat[0]) == value
    read = weights_of_checkpoint_file(tmp_path, name)
    mean = f"{tmp_path} (mean of 2 checkpoints)"
    assert read.origin == (str(tmp_path / name) if name.startswith("best_dev-") else mean)
    for each, weights in read.values.items():
        np.testing.assert_array_equal(weights, exported[each])


def test_a_folder_whose_best_checkpoints_are_of_different_models_has_no_mean(tmp_path: Path) -> None:
    with session_of(tmp_path, averaged=2) as (checkpoints, session):
        save_best(checkpoints, session, 2.0)
    larger = ModelIdentity(IDENTITY.alphabet, IDENTITY.features, ModelOptions(n_hidden=13))
    with session_of(tmp_path / "other", larger) as (checkpoints, session):
        save_best(checkpoints, session, 5.0, 3.0)
    for path in (tmp_path / "other").glob("best_dev-2.*"):
        path.rename(tmp_path / path.name)
    with pytest.raises(CheckpointError, match=r"best_dev-1 and .*best_dev-2 are of different models; name one of them"):
        weights_of_checkpoint_file(tmp_path)


def test_figures_of_another_folder_keep_no_checkpoint_out_of_the_best(tmp_path: Path) -> None:
    elsewhere = (0.1, 0.2, 0.3)
    with session_of(tmp_path, averaged=2) as (checkpoints, session):
        kept = []
        for step, loss in enumerate((3.0, 2.0, 4.0, 2.5), 1):
            state = replace(STATE, dev_losses=(*elsewhere, loss))
            kept.append(checkpoints.is_among_best(state))
            if kept[-1]:
                set_step(session, step)
                checkpoints.save(session, Kind.BEST, state)
        assert kept == [True, True, False, True]
        assert checkpoints.best_figure(state) == 2.0


def test_of_checkpoints_that_are_equally_good_the_newest_are_kept_and_used(tmp_path: Path) -> None:
    with session_of(tmp_path, averaged=3) as (checkpoints, session):
        for epoch, loss in enumerate([2.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0], start=1):
            set_step(session, 50 * epoch)
            fill(session, weights=epoch)
            best = checkpoints.save(session, Kind.BEST, replace(STATE, dev_losses=(loss,)))
        kept = {path.stem for path in tmp_path.glob("best_dev-*.index")}
        assert kept == {"best_dev-350", "best_dev-300", "best_dev-250"}
        checkpoints.restore(session, best, to_use=True)
        assert filled_with(session, WEIGHTS) == 6.0


def test_the_statistics_of_features_are_neither_trained_nor_averaged(tmp_path: Path) -> None:
    identity = replace(IDENTITY, features=FeatureOptions(normalization="global"))
    with session_of(tmp_path, identity, ema_decay=0.9, averaged=2) as (checkpoints, session):
        assert {name for name in values(session) if name.startswith("features/")} == {MEAN, DEVIATION}
        for step in (1, 2):
            set_step(session, step)
            fill(session, mean=0.25, deviation=4.0, weights=1.0 + step, ExponentialMovingAverage=5.0 + step)
            best = checkpoints.save(session, Kind.BEST, STATE)
    with session_of(tmp_path, identity, trains=False, averaged=2) as (checkpoints, session):
        checkpoints.restore(session, best, to_use=True)
        assert [filled_with(session, name) for name in (MEAN, DEVIATION, WEIGHTS)] == [0.25, 4.0, 6.5]


def test_checkpoints_that_were_validated_otherwise_are_neither_averaged_nor_replaced(tmp_path: Path) -> None:
    with session_of(tmp_path, averaged=2) as (checkpoints, session):
        by_wer = replace(STATE, best_by="wer", dev_error_rates=(0.5,))
        for step, (weight, state) in enumerate([(1.0, STATE), (3.0, by_wer)], start=1):
            set_step(session, step)
            fill(session, weights=weight)
            checkpoints.save(session, Kind.BEST, state)
        assert len(list(tmp_path.glob("best_dev-*.index"))) == 2
        best = checkpoints.find(Kind.BEST)
        assert best is not None
        checkpoints.restore(session, best, to_use=True)
        assert filled_with(session, WEIGHTS) == 3.0
        assert checkpoints.best_figure(replace(STATE, best_by="cer")) == float("inf")
        assert checkpoints.best_figure(by_wer) == 0.5
        assert checkpoints.find(Kind.BEST) == best


def test_where_validation_is_again_as_it_was_before_the_best_checkpoint_is_the_one_of_then(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    on_a = replace(STATE, dev_set="a")
    by_wer = replace(on_a, best_by="wer", dev_error_rates=(0.5,))
    figures = [(on_a, 3.0), (on_a, 1.0), (replace(STATE, dev_set="b"), 0.5), (by_wer, 4.0)]
    with session_of(tmp_path, averaged=2) as (checkpoints, session):
        for step, (state, loss) in enumerate(figures, start=1):
            set_step(session, step)
            best = checkpoints.save(session, Kind.BEST, replace(state, dev_losses=(loss,)))
        assert checkpoints.find(Kind.BEST) == best
        with caplog.at_level(logging.INFO, "deepspeech"):
            assert checkpoints.best_figure(on_a) == 1.0
        assert caplog.messages == ["The best checkpoint so far is best_dev-2 again, which was validated as in this run"]
        assert checkpoints.find(Kind.BEST) == tmp_path / "best_dev-2"
        assert len(list(tmp_path.glob("best_dev-*.index"))) == 4


def test_going_back_to_the_best_takes_its_weights_and_keeps_the_count_of_steps(tmp_path: Path) -> None:
    with session_of(tmp_path) as (checkpoints, session):
        assert checkpoints.go_back_to_best(session) is None
        set_step(session, 5)
        fill(session, weights=2.0, Adam=0.25)
        saved = checkpoints.save(session, Kind.BEST, STATE)
        set_step(session, 9)
        fill(session, weights=7.0, Adam=0.5)
        assert checkpoints.go_back_to_best(session) == saved
        assert filled_with(session, WEIGHTS) == 2.0
        assert filled_with(session, f"{WEIGHTS}/Adam") == 0.25
        assert values(session)["global_step"] == 9
