"""The experiment `auto` when training begins with the weights of another model."""

from __future__ import annotations

import json
import re
from pathlib import Path
from shutil import copytree

import pytest
from corpora import TinyCorpus
from program import Program, Trained

from deepspeech.checkpoints.folder_reading import NEWEST_INDEX, named_by
from deepspeech.cli.flags import parse
from deepspeech.errors import DeepSpeechError
from deepspeech.options import Options
from deepspeech.options.parameters.of_run import run_parameters
from deepspeech.options.parameters.text import FILE_NAME, write_parameters
from deepspeech.util.features import FeatureOptions


def chosen(corpus: TinyCorpus, work: Path, *flags: str) -> Options:
    options = parse(["--experiment=auto", f"--work={work}", f"--from={corpus.train}", *flags])
    assert options is not None
    return options


def write_checkpoint(folder: Path, **description: object) -> Path:
    """Write the files of a checkpoint that are read before training: its index file and its description."""
    folder.mkdir(parents=True)
    (folder / NEWEST_INDEX).write_text('model_checkpoint_path: "train-1"\n')
    (folder / "train-1.json").write_text(json.dumps({"format": 1, **description}))
    return folder


LSTM = {
    "output_unit": "bytes",
    "features": FeatureOptions(8000, "fbank", step_ms=20, normalization="running").to_json(),
    "model": {"n_hidden": 24, "lstm_layers": 3, "bidirectional": True, "convolutions": 4, "output_step": 40},
    "network": {"name": "lstm", "layers": []},
}


def test_the_model_decides_features_labels_and_network(tiny_corpus: TinyCorpus, tmp_path: Path) -> None:
    base = write_checkpoint(tmp_path / "base", **LSTM)
    options = chosen(tiny_corpus, tmp_path / "work", f"--load_checkpoint_dir={base}")
    assert options.features == FeatureOptions(8000, "fbank", step_ms=20, normalization="running")
    assert options.alphabet.unit == "bytes"
    assert (options.model.network, options.model.n_hidden) == ("lstm", 24)
    settings = options.model.settings
    assert (settings.lstm.layers, settings.convolutions, settings.output_step) == (3, 4, 40)
    assert options.checkpoints.only_weights and options.checkpoints.map_labels


def test_training_is_half_as_long_at_half_the_learning_rate(tiny_corpus: TinyCorpus, tmp_path: Path) -> None:
    base = write_checkpoint(tmp_path / "base", **LSTM)
    anew = chosen(tiny_corpus, tmp_path / "work")
    after = chosen(tiny_corpus, tmp_path / "work", f"--load_checkpoint_dir={base}")
    assert after.schedule.epoch == anew.schedule.epoch // 2
    assert after.optimizer.learning_rate == anew.optimizer.learning_rate / 2
    assert after.augmentation == anew.augmentation


def test_given_flags_replace_those_of_the_model(tiny_corpus: TinyCorpus, tmp_path: Path) -> None:
    base = write_checkpoint(tmp_path / "base", **LSTM)
    streaming = ["--nobidirectional", "--lstm_chunk=16"]
    options = chosen(tiny_corpus, tmp_path / "work", f"--load_checkpoint_dir={base}", *streaming)
    assert (options.model.settings.bidirectional, options.model.settings.lstm.chunk) == (False, 16)


def test_an_exported_graph_decides_as_well(trained: Trained, tiny_corpus: TinyCorpus, tmp_path: Path) -> None:
    folder = trained.program.folder
    exported = trained.program.run(*trained.program.model(), "--notrain", "--notest", f"--export_dir={tmp_path}")
    assert exported.code == 0, exported.stderr
    of_graph = chosen(tiny_corpus, tmp_path / "work", f"--initialize_from_frozen_model={tmp_path}")
    of_folder = chosen(tiny_corpus, tmp_path / "work", f"--load_checkpoint_dir={folder / 'checkpoints'}")
    assert of_graph.model.network == "deepspeech"
    assert of_graph.model.n_hidden == of_folder.model.n_hidden
    assert of_graph.features == of_folder.features
    assert of_graph.checkpoints.map_labels and not of_graph.checkpoints.fresh_optimizer


@pytest.mark.parametrize(
    ("description", "told"),
    [
        ({}, "does not say with which flags it was trained, so --experiment=auto cannot choose the same; begin"),
        ({**LSTM, "network": {"name": "mine", "layers": []}}, "is of another network, mine; give the file with"),
        ({**LSTM, "features": {"feature_type": "newest"}}, "its features cannot be computed (no feature type"),
        ({**LSTM, "features": {"newest": 1}}, "its features cannot be computed (FeatureOptions.__init__() got an"),
    ],
)
def test_a_model_that_does_not_say_what_it_is_cannot_decide(
    tiny_corpus: TinyCorpus, tmp_path: Path, description: dict[str, object], told: str
) -> None:
    base = write_checkpoint(tmp_path / "base", **description)
    with pytest.raises(DeepSpeechError, match=re.escape(f"--load_checkpoint_dir={base}: {told}")):
        chosen(tiny_corpus, tmp_path / "work", f"--load_checkpoint_dir={base}")
    with pytest.raises(DeepSpeechError, match=r"--load_checkpoint_dir=.*none: holds no checkpoint to start from"):
        chosen(tiny_corpus, tmp_path / "work", f"--load_checkpoint_dir={tmp_path / 'none'}")


def test_a_folder_that_training_saves_to_is_no_other_model(tiny_corpus: TinyCorpus, tmp_path: Path) -> None:
    own = write_checkpoint(tmp_path / "own", **LSTM)
    options = chosen(tiny_corpus, tmp_path / "work", f"--checkpoint_dir={own}", f"--load_checkpoint_dir={own}")
    assert options.model.n_hidden != 24 and not options.checkpoints.only_weights


@pytest.mark.parametrize("index", ["", 'model_checkpoint_path: "train-2"\n'])
def test_the_model_decides_without_what_the_index_file_names(
    tiny_corpus: TinyCorpus, tmp_path: Path, index: str
) -> None:
    base = write_checkpoint(tmp_path / "base", **LSTM)
    (base / NEWEST_INDEX).write_text(index)
    (base / "train-1.index").touch()
    (base / "train-2.json").write_text("{")
    assert chosen(tiny_corpus, tmp_path / "work", f"--load_checkpoint_dir={base}").model.network == "lstm"


@pytest.mark.parametrize("flag", ["load_checkpoint_dir", "initialize_from_weights", "initialize_from_frozen_model"])
def test_the_model_must_be_on_this_machine(tiny_corpus: TinyCorpus, tmp_path: Path, flag: str) -> None:
    with pytest.raises(DeepSpeechError, match=f"^--{flag}=s3://bucket/model: must be on this machine"):
        chosen(tiny_corpus, tmp_path / "work", f"--{flag}=s3://bucket/model")


def test_a_run_that_saved_nothing_yet_needs_the_model_again(tiny_corpus: TinyCorpus, tmp_path: Path) -> None:
    base, work = write_checkpoint(tmp_path / "base", **LSTM), tmp_path / "work"
    begun = chosen(tiny_corpus, work, f"--load_checkpoint_dir={base}")
    (work / "checkpoints").mkdir(parents=True)
    write_parameters(work / "checkpoints" / FILE_NAME, run_parameters(begun))
    assert chosen(tiny_corpus, work, f"--load_checkpoint_dir={base}") == begun
    with pytest.raises(DeepSpeechError, match=f"was to begin with --load_checkpoint_dir={base}, and has saved no"):
        chosen(tiny_corpus, work)


def test_it_begins_goes_on_and_is_repeated_with_the_same_settings(
    trained: Trained, tiny_corpus: TinyCorpus, tmp_path: Path
) -> None:
    program = Program(tiny_corpus, tmp_path)
    base = copytree(trained.program.folder / "checkpoints", tmp_path / "base")
    auto = ["--experiment=auto", "--work=work", "--beam_width=4", "--test_files=", "--limit_train=8"]
    begun = program.run(
        *auto, f"--from={tiny_corpus.train}", "--split=2:1:1", f"--load_checkpoint_dir={base}", "--epoch=1"
    )
    assert begun.code == 0, begun.stderr
    assert re.search(rf"Beginning with (\d+) of the \1 weights of {base}", begun.stderr)
    assert "alphabet.txt: the 6 labels (characters) of the model to begin with" in begun.stderr
    base.rename(tmp_path / "moved")
    for epoch in (2, 3):
        again = program.run(*auto, f"--epoch={epoch}")
        assert again.code == 0, again.stderr
        assert f"Training of epoch {epoch}" in again.stderr and f"Training of epoch {epoch - 1}" not in again.stderr
        schedules = [re.search(r"auto: schedule: .*", done.stderr) for done in (begun, again)]
        assert schedules[0] and schedules[1] and schedules[0][0] == schedules[1][0]
    (tmp_path / "moved").rename(base)
    assert named_by(tmp_path / "work/checkpoints" / NEWEST_INDEX)
