"""Exporting a trained model from the command line."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf
from checkpoint_sessions import STATE, session_of
from corpora import write_alphabet
from program import Program, Trained
from untrained import MODELS, untrained

from deepspeech.checkpoints.store import Kind
from deepspeech.cli import flags
from deepspeech.errors import CheckpointError, ExportError
from deepspeech.export.formats import FORMATS
from deepspeech.export.from_checkpoint import export as export_checkpoint
from deepspeech.options import ExportOptions, Options, with_values
from deepspeech.util.text import Alphabet

CLIENT_KERNELS = {
    *("AudioSpectrogram", "BiasAdd", "BlockLSTM", "Cast", "ConcatV2", "Const", "ExpandDims", "GatherNd", "Identity"),
    *("Less", "MatMul", "Max", "Mfcc", "Minimum", "Mul", "NoOp", "Pack", "Placeholder", "Range", "Relu", "Reshape"),
    *("Shape", "Softmax", "Sub", "Tile", "Transpose"),
}


def read_graph(path: Path) -> tf.compat.v1.GraphDef:
    return tf.compat.v1.GraphDef.FromString(path.read_bytes())


def shape_of(graph: tf.compat.v1.GraphDef, name: str) -> list[int]:
    (node,) = (node for node in graph.node if node.name == name)
    return [dimension.size for dimension in node.attr["shape"].shape.dim]


def export(trained: Trained, folder: Path, *flags: str) -> tuple[int, str]:
    finished = trained.program.run(*trained.program.model(), f"--export_dir={folder}", *flags)
    return finished.code, finished.stderr


def test_the_graph_keeps_to_what_published_clients_can_run(graph_file: Path) -> None:
    graph = read_graph(graph_file)
    assert {node.op for node in graph.node} <= CLIENT_KERNELS
    assert not {name for node in graph.node for name in node.attr} & {"grad_a", "grad_b", "bad_indices_policy"}
    names = {node.name for node in graph.node}
    assert {"mfccs", "logits", "new_state_c", "new_state_h", "input_lengths", "metadata_alphabet"} <= names
    assert shape_of(graph, "input_samples") == [512]
    assert shape_of(graph, "input_node") == [1, 16, 19, 26]
    assert shape_of(graph, "previous_state_c") == [1, 48]


def test_the_card_says_what_its_author_wants_it_to(trained: Trained, tmp_path: Path) -> None:
    about = ["--export_model_name=Tones", "--export_author_id=someone", "--export_contact_info=a@b.example"]
    said = ["--export_license=CC0-1.0", "--export_description=Hears *tones*."]
    program = trained.program
    finished = program.run(*program.model(), f"--export_dir={tmp_path / 'model'}", *about, *said)
    assert finished.code == 0, finished.stderr
    card = (tmp_path / "model/model.md").read_text()
    assert card.startswith("# Tones, version 1\n")
    assert "\n\n- author: someone\n- contact: a@b.example\n- license: CC0-1.0\n\nHears *tones*.\n\n## Model\n" in card


def test_the_card_tells_what_the_model_is_and_how_good(exported: Path) -> None:
    card = (exported / "model.md").read_text()
    assert "version 3" in card
    assert "language xx" in card
    assert "48 units" in card
    assert "16000 Hz" in card
    assert "6 labels" in card
    assert "24 utterances" in card
    assert "word error rate" in card
    assert re.search(r"- checkpoint `best_dev-\d+`\n- the 6 utterances of .*test.csv\n", card)
    assert "- decoded with a beam of 16 and no language model" in card


def test_flags_shape_the_graph(trained: Trained, tmp_path: Path) -> None:
    flags = ["--n_steps=5", "--export_batch_size=3", "--nouse_seq_length"]
    code, stderr = export(trained, tmp_path / "export", *flags)
    assert code == 0, stderr
    graph = read_graph(tmp_path / "export/output_graph.pb")
    assert shape_of(graph, "input_node") == [3, 5, 19, 26]
    assert shape_of(graph, "input_lengths") == [3]
    assert not any("input_lengths" in node.input for node in graph.node)


def test_remove_export_replaces_an_export_but_no_other_folder(trained: Trained, tmp_path: Path) -> None:
    older = tmp_path / "older"
    older.mkdir()
    for name in ("output_graph.pb", "output_graph.pbmm"):
        (older / name).write_bytes(b"old")
    code, stderr = export(trained, older, "--remove_export")
    assert code == 0, stderr
    assert sorted(path.name for path in older.iterdir()) == ["model.md", "output_graph.pb"]
    (older / "thesis.tex").write_text("years of work")
    code, stderr = export(trained, older, "--remove_export")
    assert code == 1
    assert "--remove_export" in stderr and "thesis.tex" in stderr
    assert (older / "thesis.tex").exists() and (older / "output_graph.pb").exists()


@pytest.mark.parametrize("place", ["a file", "a file/below"])
def test_a_place_that_cannot_be_written_is_refused_before_training(program: Program, place: str) -> None:
    (program.folder / "a file").write_text("in the way")
    finished = program.run(*program.training(epoch=1), f"--export_dir={program.folder / place}")
    assert finished.code == 1
    assert "--export_dir" in finished.error
    assert not program.checkpoints.exists()


def test_labels_that_the_format_has_no_names_for_are_refused_before_training(program: Program) -> None:
    alphabet = program.folder / "alphabet.txt"
    alphabet.write_text(program.corpus.alphabet.read_text() + "\u2581\n")
    flags = ("--network=lstm", "--feature_type=fbank", "--export_format=sherpa", f"--alphabet_config_path={alphabet}")
    finished = program.run(*program.training(epoch=1), *flags, f"--export_dir={program.folder / 'export'}")
    assert finished.code == 1
    assert "label '\u2581' has no name in tokens.txt of sherpa-onnx; export another format" in finished.error
    assert not program.checkpoints.exists()


@pytest.mark.parametrize("name", FORMATS)
def test_more_labels_than_a_model_holds_are_refused_before_training(name: str) -> None:
    characters = tuple(chr(0x10000 + number) for number in range(65_536))
    FORMATS[name].check_labels(Alphabet(characters[1:]))
    with pytest.raises(ExportError, match="the alphabet has 65,536 labels, but an exported model holds 65,535 at most"):
        FORMATS[name].check_labels(Alphabet(characters))


@pytest.mark.parametrize("name", FORMATS)
def test_weights_that_no_file_holds_are_refused_before_training(name: str) -> None:
    units = ["--train_files=train.csv", "--export_dir=model", f"--export_format={name}", "--n_hidden=7000"]
    words = r"the weights of network deepspeech take 2,17\d,\d+,\d+ bytes, but an exported model holds 2,146,435,072 "
    with pytest.raises(ExportError, match=words):
        flags.parse(units)


def test_other_features_are_refused_with_what_to_do_instead(program: Program) -> None:
    finished = program.run(
        *program.training(epoch=1), "--feature_type=psf", f"--export_dir={program.folder / 'export'}"
    )
    assert finished.code == 1
    assert "--feature_type=psf: cannot be exported" in finished.error
    assert "train a model with --feature_type=audio_ops" in finished.error
    assert not program.checkpoints.exists() and not (program.folder / "export").exists()


def test_an_export_needs_a_checkpoint(program: Program) -> None:
    finished = program.run(*program.model(), f"--export_dir={program.folder / 'export'}")
    assert finished.code == 1
    assert "holds no checkpoint" in finished.error
    assert not (program.folder / "export").exists()


def test_weights_that_are_not_finite_are_not_exported(tmp_path: Path) -> None:
    with session_of(tmp_path / "checkpoints") as (checkpoints, session):
        with session.graph.as_default():
            (bias,) = (each for each in tf.compat.v1.global_variables() if each.op.name == "layer_5/bias")
            bias.load(np.full(12, np.nan, np.float32), session)
        checkpoints.save(session, Kind.NEWEST, STATE)
    given: dict[str, Path | int] = {
        "checkpoint_dir": tmp_path / "checkpoints",
        "alphabet_config_path": write_alphabet(tmp_path / "alphabet.txt", " abcde"),
        "n_hidden": 12,
        "export_dir": tmp_path / "model",
    }
    with pytest.raises(CheckpointError, match="layer_5/bias holds numbers that are not finite, 12 of 12"):
        export_checkpoint(with_values(Options, given))
    assert not (tmp_path / "model").exists()


@pytest.mark.parametrize("name", ["deepspeech", "lstm", "lstm_in_chunks", "conformer"])
def test_a_model_has_one_graph_however_much_was_computed_before(name: str) -> None:
    model = untrained(*MODELS[name])
    one, other = (FORMATS["graph"].serialized(model, ExportOptions()) for _ in range(2))
    assert one == other
