"""The help and the version of commands."""

import argparse
import runpy
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest
from running import ROOT

from deepspeech import __version__
from deepspeech.cli.arguments import ArgumentParser
from deepspeech.cli.flags import parse

MODULES = {
    "align": "align",
    "calibrate": "confidence.calibrate",
    "compare_params": "compare.params",
    "compare_reports": "compare.reports",
    "cut_words": "importing.words",
    "import_corpus": "importing.corpus",
    "write_shards": "importing.shards",
}


@pytest.mark.parametrize(("name", "module"), MODULES.items())
def test_the_usage_says_how_the_command_is_started(name: str, module: str, capsys: pytest.CaptureFixture[str]) -> None:
    main = import_module(f"deepspeech.cli.{module}").main
    with pytest.raises(SystemExit):
        main(["--help"])
    assert capsys.readouterr().out.startswith(f"usage: python -m deepspeech.{name} ")


def test_the_list_of_formats_needs_no_docstrings() -> None:
    command = [sys.executable, "-OO", "-m", "deepspeech.import_corpus", "--help"]
    told = subprocess.run(command, capture_output=True, text=True, timeout=600).stdout
    assert "FORMAT is one of" in told and "None" not in told


def assert_defaults_are_told(parser: argparse.ArgumentParser) -> None:
    for action in parser._actions:
        if action.default not in (None, False, "", [], argparse.SUPPRESS):
            assert "default: " in (action.help or ""), action.option_strings


@pytest.fixture
def parsers(monkeypatch: pytest.MonkeyPatch) -> list[argparse.ArgumentParser]:
    """Return a list of the parsers of commands that start from now on, each of which ends when it parses."""
    seen: list[argparse.ArgumentParser] = []

    def stop(parser: argparse.ArgumentParser, *_: object) -> None:
        seen.append(parser)
        raise SystemExit

    monkeypatch.setattr(ArgumentParser, "parse_known_args", stop)
    return seen


@pytest.mark.parametrize("module", ["transcribe", "server", *MODULES.values()])
def test_the_help_of_a_command_says_every_default(module: str, parsers: list[argparse.ArgumentParser]) -> None:
    main = import_module(f"deepspeech.cli.{module}").main
    with pytest.raises(SystemExit):
        main([])
    assert_defaults_are_told(parsers[0])


@pytest.mark.parametrize("script", sorted((ROOT / "bin").glob("*.py")), ids=lambda path: path.name)
def test_the_help_of_a_script_says_every_default(
    script: Path, parsers: list[argparse.ArgumentParser], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", [str(script)])
    with pytest.raises(SystemExit):
        runpy.run_path(str(script), run_name="__main__")
    assert_defaults_are_told(parsers[0])


@pytest.mark.parametrize("module", ["transcribe", "server", "weights.command"])
def test_a_command_says_its_version(module: str, capsys: pytest.CaptureFixture[str]) -> None:
    main = import_module(f"deepspeech.cli.{module}").main
    with pytest.raises(SystemExit):
        main(["--version"])
    assert capsys.readouterr().out == f"DeepSpeech {__version__}\n"


def test_the_trainer_says_its_version_as_the_other_commands_do(capsys: pytest.CaptureFixture[str]) -> None:
    assert parse(["--version"]) is None
    assert capsys.readouterr().out == f"DeepSpeech {__version__}\n"


def test_the_trainers_help_has_what_is_no_option_of_a_run(capsys: pytest.CaptureFixture[str]) -> None:
    assert parse(["--help"]) is None
    told = capsys.readouterr().out
    assert "--version prints the version" in told and "--flagfile=FILE reads flags" in told


def test_a_command_that_compares_says_its_exit_codes(capsys: pytest.CaptureFixture[str]) -> None:
    for module, command in (("compare.params", []), ("weights.command", ["compare"])):
        with pytest.raises(SystemExit):
            import_module(f"deepspeech.cli.{module}").main([*command, "--help"])
        assert "2 after an error." in capsys.readouterr().out
