"""Experiments by name: what they say is what is run, and a run can be repeated from what it leaves."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from corpora import say, write_wav
from fork_server import fork_server

from deepspeech.cli.combinations.flags import check_options
from deepspeech.cli.flags import parse
from deepspeech.errors import DeepSpeechError, FlagError
from deepspeech.experiments.experiment import Experiment, experiments, find_experiment, register
from deepspeech.experiments.fsdd import FSDD
from deepspeech.options import ModelOptions, Options, SetOptions, check_values, with_values
from deepspeech.options.parameters.comparison import differences
from deepspeech.options.parameters.of_run import run_parameters, values_of_parameters
from deepspeech.options.parameters.text import write_parameters
from deepspeech.training.inputs import read_inputs
from deepspeech.util.features import FeatureOptions
from deepspeech.util.importing import MODULES

OWN_FILE = """
from dataclasses import dataclass, field, replace

from deepspeech.experiments.experiment import Experiment, register
from deepspeech.experiments.fsdd import FSDD
from deepspeech.network import LSTM, Dense
from deepspeech.network import register as register_network


@register_network("narrow")
def narrow(sizes):
    return (Dense("first", units=20, clip=20.0, dropout=sizes.dropout_rates[0]), LSTM("lstm", units=16),
            Dense("labels", units=sizes.outputs))


register("small", FSDD.with_flags(network="narrow", epoch=2, validation_step=1, mixed_precision="off"))
OTHER = FSDD.with_flags(random_seed=1)


@dataclass(frozen=True)
class Shorter(Experiment):
    corpus: str = "fsdd"
    options: object = field(default_factory=lambda: FSDD.with_flags(epoch=3).options)
"""


@pytest.fixture(scope="module")
def own_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("own") / "my.py"
    path.write_text(OWN_FILE)
    return path


@pytest.fixture(scope="module")
def recordings(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return recordings named as those of fsdd: ten digits, each a tone of its own, in twelve takes."""
    folder = tmp_path_factory.mktemp("recordings")
    random = np.random.default_rng(1)
    for digit in range(10):
        for take in range(0, 24, 2):
            write_wav(folder / f"{digit}_ann_{take}.wav", say(("abcde"[digit % 5]) * 5, random), 8000)
    return folder


def run(*arguments: object) -> str:
    """Run the trainer, which must succeed, and return what it logged."""
    process = fork_server().start_piped([*map(str, arguments)], str(Path.cwd()))
    _, log = process.communicate(timeout=600)
    assert process.wait() == 0, log
    return log


def losses(log: str) -> list[str]:
    """Return the lines with losses, without the pace at the end of some."""
    return [re.sub(r", \d+ utterances in .*", "", line) for line in log.splitlines() if ": loss " in line]


def compared(*paths: Path) -> tuple[int, str]:
    command = [sys.executable, "-m", "deepspeech.compare_params", *map(str, paths)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    return done.returncode, done.stdout


@pytest.mark.parametrize("name", experiments())
def test_an_experiments_corpus_and_flags_are_good(name: str, tmp_path: Path) -> None:
    experiment = experiments()[name]
    begun = {"load_checkpoint_dir": tmp_path, "save_checkpoint_dir": tmp_path / "checkpoints"}
    options = experiment.with_flags(**begun).options_in(name, tmp_path)
    assert experiment.corpus in MODULES and experiment.summary
    check_values(options)
    check_options(options, ())
    model = options.language_model.binary_path
    assert model is None or model.is_file()


@pytest.mark.parametrize("name", experiments())
def test_its_parameters_give_the_same_options(name: str, tmp_path: Path) -> None:
    options = experiments()[name].options_in(name, tmp_path)
    values = values_of_parameters(run_parameters(options), tmp_path, tmp_path / "params.txt")
    elsewhere = values_of_parameters(run_parameters(options), tmp_path / "other", tmp_path / "params.txt")
    assert elsewhere["train_files"] == tuple(
        tmp_path / "other" / path.relative_to(tmp_path) for path in options.train.files
    )
    assert values["train_files"] == options.train.files
    again = with_values(Options, {**values, "work": tmp_path})
    assert differences(run_parameters(options), run_parameters(again)) == []


def test_flags_of_the_command_line_take_the_place_of_the_experiments(tmp_path: Path) -> None:
    options = parse(["--experiment=fsdd", f"--work={tmp_path}", "--epoch=3", "--lm_binary_path="])
    assert options is not None
    assert (options.schedule.epoch, options.model.n_hidden, options.train.batch_size) == (3, 256, 20)
    assert options.language_model.binary_path is None
    assert options.checkpoints.directory == tmp_path / "checkpoints"


def test_an_experiment_of_ones_own_file_is_found_by_each_kind_of_name(own_file: Path) -> None:
    assert find_experiment(f"{own_file}:small")[1].options.model.network == "narrow"
    assert find_experiment(f"{own_file}:OTHER")[1].options.random_seed == 1
    assert find_experiment(f"{own_file}:Shorter")[1].options.schedule.epoch == 3
    with pytest.raises(FlagError, match=r"has no experiment nothing; there are (?!.*yesno).*small.*OTHER.*Shorter"):
        find_experiment(f"{own_file}:nothing")
    with pytest.raises(FlagError, match="has no experiment fsdd"):
        find_experiment(f"{own_file}:fsdd")
    with pytest.raises(FlagError, match=r"there is no such experiment; did you mean fsdd\? See --experiment list"):
        find_experiment("fsd")
    with pytest.raises(FlagError, match="already"):
        register("fsdd", FSDD.with_flags(epoch=1))


def test_a_name_in_a_file_is_kept_with_the_whole_path_whatever_its_characters(tmp_path: Path) -> None:
    options = FSDD.with_flags(network="~/my.py:two-lstms").options_in("own.py:fsdd.v1", tmp_path)
    written = run_parameters(options)
    assert written["network"] == f"{Path.home().resolve()}/my.py:two-lstms"
    assert written["experiment"] == f"{Path.cwd()}/own.py:fsdd.v1"


def test_options_of_an_experiment_in_python_have_the_types_of_their_flags(tmp_path: Path) -> None:
    files: Any = ["train.csv"]
    options = Experiment(options=Options(train=SetOptions(files=files))).options_in("mine", tmp_path)
    assert options.train.files == (Path("train.csv"),)
    layers: Any = 2.5
    with pytest.raises(FlagError, match=r"--n_hidden=2\.5: must be a whole number"):
        Experiment(options=Options(model=ModelOptions(n_hidden=layers))).options_in("mine", tmp_path)


@pytest.mark.parametrize(
    "flag", ["--from=recordings", "--part=clean", "--split=80:10:10", "--speakers={speaker}/*", "--tier=words"]
)
def test_a_flag_of_imports_is_refused_where_an_experiment_imports_no_corpus(flag: str, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "from pathlib import Path\n"
        "from deepspeech.experiments.experiment import Experiment\n"
        "from deepspeech.options import Options, SetOptions\n"
        "MINE = Experiment(summary='mine', options=Options(train=SetOptions(files=(Path('a.csv'),))))\n"
    )
    mine = f"--experiment={tmp_path / 'mine.py'}:MINE"
    assert parse([mine])
    with pytest.raises(FlagError, match=f"{flag.partition('=')[0]}: --experiment=.*:MINE imports no corpus"):
        parse([mine, flag])


@pytest.mark.parametrize(
    "flag", ["alphabet_config_path", "lm_binary_path", "scorer_path", "initialize_from_frozen_model", "one_shot_infer"]
)
def test_a_file_that_is_not_there_is_named_before_the_corpus_is_imported(
    flag: str, recordings: Path, tmp_path: Path
) -> None:
    arguments = ["--experiment=fsdd", f"--from={recordings}", f"--work={tmp_path / 'work'}", "--lm_binary_path="]
    options = parse([*arguments, f"--{flag}={tmp_path / 'missing'}"])
    assert options is not None
    with pytest.raises(DeepSpeechError, match="missing"):
        read_inputs(options)
    assert not (tmp_path / "work").exists()


def test_a_front_end_that_takes_the_place_of_another_runs_has_its_own_sizes(tmp_path: Path) -> None:
    def front_end_of(kept: str, *flags: str) -> FeatureOptions:
        written = parse(["--train_files=a.csv", *kept.split()])
        assert written
        write_parameters(tmp_path / "params.txt", run_parameters(written))
        options = parse([f"--params_file={tmp_path}", *flags])
        assert options
        return options.features

    assert front_end_of("") == FeatureOptions()
    assert front_end_of("", "--feature_type=fbank") == FeatureOptions(feature_type="fbank")
    assert front_end_of("--feature_type=fbank", "--feature_type=psf") == FeatureOptions(feature_type="psf")
    longer = FeatureOptions(feature_type="fbank", window_ms=40)
    assert front_end_of("--feature_win_len=40", "--feature_type=fbank") == longer


@pytest.mark.parametrize("beginning", ["--load_checkpoint_dir", "--checkpoint_dir"])
def test_a_run_that_begins_with_another_folders_checkpoint_is_repeated_from_there(
    beginning: str, tmp_path: Path
) -> None:
    saving = f"--save_checkpoint_dir={tmp_path / 'mine'}"
    first = parse(["--train_files=a.csv", f"{beginning}={tmp_path / 'base'}", saving, "--fresh_optimizer"])
    assert first
    write_parameters(tmp_path / "params.txt", run_parameters(first))
    again = parse([f"--params_file={tmp_path}", f"--work={tmp_path / 'again'}"])
    assert again
    assert again.checkpoints.load_directory == tmp_path / "base"
    assert again.checkpoints.directory == tmp_path / "again/checkpoints"


def test_a_run_that_begins_and_saves_in_one_folder_is_repeated_from_nothing(tmp_path: Path) -> None:
    folders = [f"--{name}_checkpoint_dir={tmp_path / 'mine'}" for name in ("load", "save")]
    first = parse(["--train_files=a.csv", *folders])
    assert first
    write_parameters(tmp_path / "params.txt", run_parameters(first))
    again = parse([f"--params_file={tmp_path}", f"--work={tmp_path / 'again'}"])
    assert again and not again.checkpoints.begins_elsewhere


@pytest.mark.parametrize("flag", ["--fresh_optimizer", "--drop_source_layers=1", "--map_labels"])
def test_a_run_that_began_with_another_checkpoint_is_tested_by_its_parameters(flag: str, tmp_path: Path) -> None:
    folders = [f"--{name}_checkpoint_dir={tmp_path / name}" for name in ("load", "save")]
    first = parse(["--train_files=a.csv", *folders, flag])
    assert first
    write_parameters(tmp_path / "params.txt", run_parameters(first))
    testing = parse([f"--params_file={tmp_path}", "--notrain", "--test_files=b.csv", f"--work={tmp_path / 'again'}"])
    assert testing and not testing.trains and testing.tests
    with pytest.raises(FlagError, match=r"needs --.*load_checkpoint_dir"):
        parse(["--train_files=a.csv", f"--checkpoint_dir={tmp_path}", flag])


@pytest.mark.slow
def test_a_run_can_be_repeated_and_compared(own_file: Path, recordings: Path, tmp_path: Path) -> None:
    experiment = ["--experiment", f"{own_file}:small", "--from", recordings]
    first = run(*experiment, "--work", tmp_path / "first")
    again = run(*experiment, "--work", tmp_path / "again")
    params = [tmp_path / work / "checkpoints/params.txt" for work in ("first", "again", "third")]
    assert params[0].read_bytes() == params[1].read_bytes()
    assert losses(first) == losses(again) and len(losses(first)) == 5

    third = run("--params_file", params[0], "--work", tmp_path / "third")
    assert losses(third) == losses(first)
    assert params[2].read_bytes() == params[0].read_bytes()
    assert compared(params[0].parent, params[2]) == (0, "")

    run(*experiment, "--work", tmp_path / "other", "--random_seed=5", "--dropout_rate=0", "--notest")
    expected = "dropout_rate : 0.3 | 0.0\nrandom_seed : 4567 | 5\ntest : True | False\n"
    assert compared(params[0], tmp_path / "other/checkpoints") == (1, expected)


@pytest.mark.slow
def test_a_run_leaves_its_variables_environment_and_graph(own_file: Path, recordings: Path, tmp_path: Path) -> None:
    import tensorflow as tf

    run("--experiment", f"{own_file}:small", "--from", recordings, "--work", tmp_path, "--epoch=1", "--notest")
    folder = tmp_path / "checkpoints"
    *variables, rule, total = (folder / "model_analysis.txt").read_text().splitlines()
    assert set(rule) == {"="}
    assert total == f"total #params: {sum(int(line.split()[-1]) for line in variables)}"
    assert any(line.startswith("first/weights") and "(26, 20)" in line for line in variables)
    assert f"tensorflow : {tf.__version__!r}" in (folder / "environment.txt").read_text()
    (events,) = (folder / "graph").iterdir()
    version, graph = (tf.compat.v1.Event.FromString(record.numpy()) for record in tf.data.TFRecordDataset(str(events)))
    assert version.file_version == "brain.Event:2"
    definition = tf.compat.v1.GraphDef.FromString(graph.graph_def)
    assert any(node.name == "first/weights" for node in definition.node)


def test_an_experiment_of_lists_makes_an_alphabet_of_its_own_as_one_of_a_corpus_does(tmp_path: Path) -> None:
    noise = np.random.default_rng(1).uniform(-0.5, 0.5, 8000).astype(np.float32)
    write_wav(tmp_path / "a.wav", noise)
    (tmp_path / "train.csv").write_text("wav_filename,wav_filesize,transcript\na.wav,0,ba\n")
    (tmp_path / "mine.py").write_text(
        "from pathlib import Path\n"
        "from deepspeech.experiments.experiment import Experiment\n"
        "from deepspeech.options import Options, SetOptions\n"
        f"LISTS = SetOptions(files=(Path({str(tmp_path / 'train.csv')!r}),))\n"
        "MINE = Experiment(makes_alphabet=True, options=Options(train=LISTS))\n"
    )
    options = parse([f"--experiment={tmp_path / 'mine.py'}:MINE", f"--work={tmp_path / 'work'}"])
    assert options is not None
    assert read_inputs(options).alphabet.labels == ("a", "b")
    assert (tmp_path / "work/alphabet.txt").read_text() == "a\nb\n"
