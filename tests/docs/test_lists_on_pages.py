"""The pages that list what there is of a kind list all of it."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from deepspeech.cli.flags import read_command_line
from deepspeech.experiments.an4 import AN4
from deepspeech.options import Options, flags_of, items_of
from deepspeech.options.model import PROVIDED
from deepspeech.options.rows.checks import OneOf
from deepspeech.util.importing import MODULES

ROOT = Path(__file__).parents[2]


def test_every_experiment_is_on_its_page_with_its_summary() -> None:
    # In a process of its own: in this one, another test may have registered experiments.
    listed = "from deepspeech.cli.experiments.base_options import list_experiments; print(list_experiments())"
    lines = subprocess.run([sys.executable, "-c", listed], capture_output=True, text=True, check=True).stdout
    assert f"```\n{lines}```\n" in (ROOT / "docs/experiments.md").read_text(encoding="utf-8")


def test_the_flags_that_make_up_an_experiment_are_those_of_an4() -> None:
    page = (ROOT / "docs/accuracy.md").read_text(encoding="utf-8")
    table = page.partition("| part | flags |")[2].partition("\n\n")[0]
    flags = " ".join(re.findall(r"`(--[^`]*)`", table)).split()
    read = read_command_line(flags, Options(), "")
    assert read is not None
    for part in ("front_end", "model", "optimizer", "checkpoints"):
        written, chosen = (
            {row.name: value for row, value in items_of(getattr(options, part)) if row.on_command_line}
            for options in (read.options, AN4.options)
        )
        assert written == chosen


@pytest.mark.parametrize(
    ("flag", "page"),
    [
        ("feature_type", "features"),
        ("normalize_features", "features"),
        ("learning_rate_schedule", "training"),
        ("export_format", "export"),
        ("output_unit", "output_units"),
    ],
)
def test_every_choice_of_a_flag_is_on_its_page_and_in_the_help(flag: str, page: str) -> None:
    row = next(row for row in flags_of(Options) if row.name == flag)
    assert isinstance(row.check, OneOf)
    text = (ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8")
    for choice in map(str, row.check.choices):
        assert re.search(rf"`(--{flag} )?{choice}`", text), f"docs/{page}.md lacks --{flag} {choice}"
        assert re.search(rf"\b{choice}\b", row.help), f"the help of --{flag} lacks {choice}"


def test_every_provided_network_is_on_the_page_of_networks() -> None:
    page = (ROOT / "docs/networks.md").read_text(encoding="utf-8")
    assert [name for name in PROVIDED if f"| `{name}` |" not in page] == []


def test_every_format_that_is_imported_has_a_row() -> None:
    page = (ROOT / "docs/importing.md").read_text(encoding="utf-8")
    table = page.partition("| folder | command | sets |")[2].partition("\n\n")[0]
    formats = {name for name, module in MODULES.items() if module.startswith("formats.")}
    assert {name for name in formats if f"| `{name}" not in table} == set(), "docs/importing.md lacks these formats"


def test_every_extra_has_a_row_in_the_readme() -> None:
    tomllib = pytest.importorskip("tomllib")
    described = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    rows = readme.partition("| extra | for |")[2].partition("\n\n")[0].splitlines()
    named = {extra for row in rows for extra in row.split(" | ")[0].strip("| ").split(", ")}
    assert named >= {f"`{extra}`" for extra in described["project"]["optional-dependencies"]}
