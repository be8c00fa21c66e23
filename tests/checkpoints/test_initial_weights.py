"""Training that starts from an exported graph, or from a checkpoint of DeepSpeech 0.9."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from corpora import write_alphabet
from program import Program, Trained

from deepspeech.checkpoints.identity import ModelIdentity
from deepspeech.checkpoints.weights.fitting import initial_weights
from deepspeech.checkpoints.weights.hdf5 import write_hdf5
from deepspeech.checkpoints.weights.model_weights import weights_of_graph
from deepspeech.errors import CheckpointError
from deepspeech.network.deepspeech import LSTM_NAME
from deepspeech.options import ModelOptions
from deepspeech.serving.frozen.model import read_frozen_model
from deepspeech.util.features import FeatureOptions
from deepspeech.util.text import Alphabet

v1 = tf.compat.v1
ALPHABET = Alphabet(tuple(" abcde"))


def model(alphabet: Alphabet = ALPHABET, **options: Any) -> ModelIdentity:
    return ModelIdentity(alphabet, FeatureOptions(), ModelOptions(**{"n_hidden": 48, **options}))


def first_loss(program: Program, *flags: str) -> float:
    """Return the loss of one epoch of training whose steps hardly change the weights."""
    finished = program.run(*program.training(epoch=1), "--learning_rate=1e-9", "--dropout_rate=0", *flags)
    assert finished.code == 0, finished.stderr
    (loss,) = re.findall(r"Training of epoch 1: loss ([\d.]+)", finished.stderr)
    return float(loss)


def test_training_begins_where_the_graph_stands(program: Program, graph_file: Path) -> None:
    assert first_loss(program, f"--initialize_from_frozen_model={graph_file.parent}") < 3
    again = program.run(*program.training(epoch=1), "--initialize_from_frozen_model=graph-that-is-gone-by-now.pb")
    assert again.code == 0, again.stderr
    assert "--initialize_from_frozen_model is not used" in again.stderr


def test_a_checkpoint_of_another_folder_is_begun_with_once_and_stays_as_it_is(
    program: Program, trained: Trained
) -> None:
    source = trained.program.checkpoints
    before = {path.name: path.stat().st_mtime_ns for path in source.iterdir()}
    flags = [f"--load_checkpoint_dir={source}", "--checkpoint=best", "--fresh_optimizer"]
    assert first_loss(program, *flags) < 3
    again = program.run(*program.training(epoch=1), *flags, f"--export_dir={program.folder / 'model'}")
    assert again.code == 0, again.stderr
    assert f"Resuming from checkpoint {program.checkpoints / 'train-6'}, 1 of 1 epochs done" in again.stderr
    assert "Nothing is left to train: training ended after epoch 1" in again.stderr
    assert "--load_checkpoint_dir is not used: there is a checkpoint to resume from" in again.stderr
    assert (program.folder / "model/model.md").exists()
    assert {path.name: path.stat().st_mtime_ns for path in source.iterdir()} == before


def test_one_shot_inference_after_training_uses_its_own_checkpoint_not_that_which_it_began_with(
    program: Program, trained: Trained
) -> None:
    flags = [f"--load_checkpoint_dir={trained.program.checkpoints}", "--checkpoint=train-480", "--fresh_optimizer"]
    recording = program.corpus.train.parent / "wav/test-2.wav"
    finished = program.run(*program.training(epoch=1), *flags, f"--one_shot_infer={recording}")
    assert finished.code == 0, finished.stderr
    assert f"Transcribing with the newest checkpoint, {program.checkpoints / 'train-6'}" in finished.stderr


def test_a_run_goes_on_in_another_folder_with_its_optimizer_and_its_epochs(program: Program, trained: Trained) -> None:
    flags = ["--noearly_stop", f"--load_checkpoint_dir={trained.program.checkpoints}"]
    finished = program.run(*program.training(epoch=81), *flags)
    assert finished.code == 0, finished.stderr
    assert "80 of 81 epochs done" in finished.stderr
    assert f"Beginning with the newest checkpoint, {trained.program.checkpoints / 'train-480'}" in finished.stderr
    copy = program.folder / "copy"
    elsewhere = (*program.training(epoch=1), f"--save_checkpoint_dir={copy}", *program.test_files())
    nothing_left = program.run(*elsewhere, *flags, "--checkpoint=best")
    assert nothing_left.code == 0, nothing_left.stderr
    assert re.search(rf"Training continues, \d+ epochs done, and saves to {copy}", nothing_left.stderr)
    assert "Nothing is left to train: training ended after epoch" in nothing_left.stderr
    assert f"Testing with the newest checkpoint, {copy / 'train-'}" in nothing_left.stderr
    assert (program.checkpoints / f"train-{81 * 6}.index").exists()


def test_training_goes_on_with_another_alphabet_that_shares_labels(
    program: Program, trained: Trained, graph_file: Path
) -> None:
    source = weights_of_graph(graph_file, "graph")
    write_hdf5(program.folder / "tiny.weights.h5", source.layers, source.description)
    flags = [
        f"--alphabet_config_path={write_alphabet(program.folder / 'alphabet.txt', 'xe dcba')}",
        f"--initialize_from_weights={program.folder / 'tiny.weights.h5'}",
    ]
    refused = program.run(*program.training(epoch=1), *flags)
    assert "layer_6/weights is (48, 7) in the file and (48, 8) in this model: the last layer has" in refused.error
    assert "--map_labels, which also keeps the rows of 6 labels that both have" in refused.error
    assert "Checking" not in refused.stderr
    from_nothing = re.findall(r"Training of epoch \d: loss ([\d.]+)", trained.finished.stderr)
    assert first_loss(program, *flags, "--map_labels") < min(3, *map(float, from_nothing))


def test_dropped_layers_begin_anew(program: Program, graph_file: Path) -> None:
    flags = [f"--initialize_from_frozen_model={graph_file}", "--drop_source_layers=2"]
    assert first_loss(program, *flags) > 5


def test_another_alphabet_is_explained_and_needs_a_new_last_layer(graph_file: Path) -> None:
    other = Alphabet(tuple(" abcdef"))
    with pytest.raises(CheckpointError, match="--drop_source_layers=1") as caught:
        initial_weights(weights_of_graph(graph_file, "graph"), model(other), 0)
    assert "abcdef" in str(caught.value)
    same_size = Alphabet(tuple("xyzuvw"))
    with pytest.raises(CheckpointError, match="--alphabet_config_path"):
        initial_weights(weights_of_graph(graph_file, "graph"), model(same_size), 0)
    kept = initial_weights(weights_of_graph(graph_file, "graph"), model(other), 1)
    assert set(model().network.shapes) - set(kept) == {"layer_6/weights", "layer_6/bias"}
    np.testing.assert_array_equal(kept["layer_5/bias"], read_frozen_model(graph_file).weights["layer_5/bias"])
    assert len(initial_weights(weights_of_graph(graph_file, "graph"), model(), 3)) == 6


def test_another_geometry_is_explained(graph_file: Path) -> None:
    with pytest.raises(CheckpointError, match="--n_hidden=48"):
        initial_weights(weights_of_graph(graph_file, "graph"), model(n_hidden=32), 0)
    with pytest.raises(CheckpointError, match=r"trained with --relu_clip=20.0, but this run has --relu_clip=5.5"):
        initial_weights(weights_of_graph(graph_file, "graph"), model(relu_clip=5.5), 1)


def test_what_is_no_graph_is_refused_before_training(program: Program, tmp_path: Path) -> None:
    (tmp_path / "model.pb").write_bytes(b"no graph")
    finished = program.run(*program.training(epoch=1), f"--initialize_from_frozen_model={tmp_path / 'model.pb'}")
    assert finished.code == 1
    assert "model.pb: not a protocol buffer" in finished.error
    assert "; give a graph, .pb or .pbmm, that DeepSpeech or this program exported" in finished.error


@pytest.mark.parametrize(
    ("flags", "named"),
    [
        (["--drop_source_layers=1"], "--drop_source_layers"),
        (["--map_labels"], "--map_labels"),
        (["--initialize_from_weights=x.h5", "--initialize_from_frozen_model=x.pb"], "cannot be combined"),
        (["--initialize_from_weights=x.h5", "--load_checkpoint_dir=x"], "--initialize_from_weights"),
        (["--initialize_from_weights=x.h5", "--notrain", "--export_dir=x"], "needs --train_files"),
        (["--initialize_from_weights=x.h5"], "there is no such file"),
        (["--drop_source_layers=7", "--initialize_from_frozen_model=x.pb"], "--drop_source_layers"),
    ],
)
def test_flags_that_make_no_sense_are_refused(program: Program, flags: list[str], named: str) -> None:
    finished = program.run(*program.training(epoch=1), *flags)
    assert finished.code == 1
    assert named in finished.error


def test_training_goes_on_from_a_checkpoint_of_deepspeech_0_9(program: Program, graph_file: Path) -> None:
    """Restore its variables, and the slots of Adam that ours also has, written only with TensorFlow."""
    weights = read_frozen_model(graph_file).weights
    with tf.Graph().as_default() as graph:
        for name, value in weights.items():
            v1.get_variable(name, initializer=np.asarray(value))
        for slot in ("Adam", "Adam_1"):
            v1.get_variable(f"{LSTM_NAME}/bias/{slot}", initializer=np.zeros(4 * 48, np.float32))
        v1.get_variable("global_step", initializer=np.int64(1234), trainable=False)
        saver = v1.train.Saver()
        initialize = v1.global_variables_initializer()
    program.checkpoints.mkdir()
    with v1.Session(graph=graph) as session:
        session.run(initialize)
        saver.save(session, str(program.checkpoints / "train"), global_step=1234, latest_filename="checkpoint")
    assert first_loss(program) < 3
    assert (program.checkpoints / "train-1240.index").exists()
