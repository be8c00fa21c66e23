import re
import subprocess
import sys
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar

import pytest

from deepspeech.cli.flags import groups, parse, read_command_line
from deepspeech.errors import FlagError
from deepspeech.options import (
    EvaluationOptions,
    LanguageModelOptions,
    OptimizerOptions,
    Options,
    check_values,
    flags_of,
    items_of,
    values_of,
    with_values,
)
from deepspeech.options.rows.checks import at_least
from deepspeech.options.rows.flag import flag, flags_with
from deepspeech.util.importing.pipeline.speakers import SPEAKER


@dataclass(frozen=True)
class Inner:
    title: ClassVar[str] = "Inner things"
    size: int = flag(3, "size of the {thing}", name="{thing}_size", check=at_least(1))
    paths: tuple[Path, ...] = flag((), "where the {thing} is", name="{thing}_paths")
    remembered: int = 7


@dataclass(frozen=True)
class Outer:
    ship: Inner = flags_with(Inner, thing="ship")
    boat: Inner = flags_with(Inner, thing="boat")
    optimizer: OptimizerOptions = field(default_factory=OptimizerOptions)
    sink: bool = flag(False, "whether they sink", title="Fate", decides_result=False)


def test_a_flag_is_a_field_with_its_name_default_meaning_and_group() -> None:
    rows = {row.name: row for row in flags_of(Outer)}
    assert list(rows)[:4] == ["ship_size", "ship_paths", "boat_size", "boat_paths"]
    assert (rows["boat_size"].default, rows["boat_size"].help) == (3, "size of the boat")
    assert [title for title, _ in groups(Outer)] == ["Inner things", "Training", "Fate"]
    assert not rows["sink"].decides_result
    assert rows["boat_size"].decides_result


def test_a_command_line_fills_the_fields() -> None:
    read = read_command_line(["--boat_size=5", "--boat_paths=a, b", "--sink", "--beta1=0.5"], Outer(), "")
    assert read is not None
    assert read.options.boat == Inner(5, (Path("a"), Path("b")))
    assert read.options.ship == Inner()
    assert read.options.optimizer == OptimizerOptions(beta1=0.5)
    assert set(read.given) == {"boat_size", "boat_paths", "sink", "beta1"}


def test_what_a_command_line_does_not_give_stays_as_it_was() -> None:
    before = Outer(ship=Inner(9, remembered=1), sink=True)
    read = read_command_line(["--boat_size=5"], before, "")
    assert read is not None
    assert read.options == replace(before, boat=Inner(5))


def test_a_check_names_the_flag_and_not_the_field() -> None:
    with pytest.raises(FlagError, match="--boat_size=0: must be 1 or more"):
        check_values(Outer(boat=Inner(0)))


def test_all_options_can_be_written_down_and_read_back() -> None:
    arguments = [
        *("--train_files=a.csv,b.csv", "--n_hidden=12", "--dropout_rate=0.3", "--noearly_stop", "--epoch=-3"),
        *("--scorer_path=a.scorer", "--lm_weight=1.5", "--checkpoint_dir=kept", "--export_language=en-US"),
    ]
    options = parse(arguments)
    assert options is not None
    assert with_values(Options, values_of(options)) == options
    written = {row.name: row.text(value) for row, value in items_of(options)}
    assert with_values(Options, {row.name: row.value(written[row.name]) for row in flags_of(Options)}) == options


def test_a_value_of_several_may_have_a_comma_in_it() -> None:
    options = parse([r"--train_files=a\, b/train.csv, c.csv", "--augment=volume,pitch[p=0.5,pitch=1]"])
    assert options is not None
    assert options.train.files == (Path("a, b/train.csv"), Path("c.csv"))
    rows = {row.name: (row, value) for row, value in items_of(options)}
    for name in ("train_files", "augment"):
        row, value = rows[name]
        assert row.value(row.text(value)) == value


@pytest.mark.parametrize(("name", "text"), [("epoch", "many"), ("relu_clip", ""), ("early_stop", "maybe")])
def test_a_text_of_another_type_is_an_error_that_names_the_flag(name: str, text: str) -> None:
    (row,) = (row for row in flags_of(Options) if row.name == name)
    with pytest.raises(FlagError, match=f"--{name}={text}"):
        row.value(text)


@pytest.mark.parametrize(
    ("given", "taken"),
    [
        ({"epoch": "3"}, 3),
        ({"early_stop": "False"}, False),
        ({"learning_rate": 1}, 1),
        ({"lm_binary_path": "lm.arpa"}, Path("lm.arpa")),
        ({"train_files": "a.csv,b.csv"}, (Path("a.csv"), Path("b.csv"))),
        ({"train_files": ["a.csv", Path("b.csv")]}, (Path("a.csv"), Path("b.csv"))),
        ({"augment": "pitch[p=0.5,pitch=1]"}, ("pitch[p=0.5,pitch=1]",)),
    ],
)
def test_values_that_python_gives_have_the_flags_types(given: dict[str, Any], taken: object) -> None:
    (name,) = given
    assert values_of(with_values(Options, given))[name] == taken


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("early_stop", "false", "--early_stop=false: must be True or False"),
        ("early_stop", 0, "--early_stop=0: must be True or False"),
        ("n_hidden", 64.0, "--n_hidden=64.0: must be a whole number"),
        ("epoch", True, "--epoch=True: must be a whole number"),
        ("network", None, "--network=None: must be a text"),
        ("lm_binary_path", 3, "--lm_binary_path=3: must be a path"),
        ("augment", (1,), "--augment=(1,): must be a tuple of texts"),
        ("train_files", Path("a.csv"), "must be a tuple of paths"),
    ],
)
def test_a_value_of_another_type_is_an_error_that_names_the_flag(name: str, value: Any, words: str) -> None:
    with pytest.raises(FlagError, match=re.escape(words)):
        with_values(Options, {name: value})


def test_a_value_of_no_flag_is_an_error() -> None:
    with pytest.raises(FlagError, match="--no_such_flag"):
        with_values(Options, {"no_such_flag": 1})


@pytest.mark.parametrize("options_class", [Options, EvaluationOptions])
def test_every_flag_is_said_once_and_its_default_is_allowed(options_class: type[Options | EvaluationOptions]) -> None:
    names = [row.name for row in flags_of(options_class)]
    assert len(names) == len(set(names))
    rows = [row for row in flags_of(options_class) if row.on_command_line]
    assert all(row.title and row.help and "{" not in row.help.replace(SPEAKER, "") for row in rows)
    check_values(options_class())


def test_where_a_run_keeps_things_and_what_it_tells_do_not_decide_its_result() -> None:
    deciding = {row.name for row in flags_of(Options) if row.decides_result}
    assert {"train_files", "alphabet_config_path", "lm_binary_path", "random_seed", "lm_weights_given"} <= deciding
    where = {"checkpoint_dir", "summary_dir", "train_cached_features_path", "worker_hosts", "log_level", "report_count"}
    assert deciding.isdisjoint(where)


def test_weights_other_than_the_defaults_are_chosen_without_a_command_line_too() -> None:
    assert not LanguageModelOptions().weights_chosen
    assert LanguageModelOptions(lm_weight=0.9).weights_chosen
    assert LanguageModelOptions(weights_given=True).weights_chosen


def test_options_need_no_tensorflow_no_flag_library_and_no_decoder() -> None:
    code = (
        "import sys; from deepspeech.options import Options;"
        "sys.exit(bool({'tensorflow', 'absl', 'deepspeech._ctcdecoder'} & set(sys.modules)))"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_evaluation_needs_neither_training_nor_its_schedule() -> None:
    code = (
        "import sys, deepspeech.cli.evaluate;"
        "rooms = ('training', 'schedule', 'cluster', 'checkpoints', 'export');"
        "found = [name for name in sys.modules if name.startswith(tuple(f'deepspeech.{room}' for room in rooms))];"
        "sys.exit(' '.join(found) or 0)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
