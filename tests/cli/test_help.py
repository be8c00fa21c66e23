"""The help and the version of commands."""

from importlib import import_module

import pytest

from deepspeech import __version__
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


@pytest.mark.parametrize("module", ["transcribe", "server", "weights.command"])
def test_a_command_says_its_version(module: str, capsys: pytest.CaptureFixture[str]) -> None:
    main = import_module(f"deepspeech.cli.{module}").main
    with pytest.raises(SystemExit):
        main(["--version"])
    assert capsys.readouterr().out == f"DeepSpeech {__version__}\n"


def test_the_trainer_says_its_version_as_the_other_commands_do(capsys: pytest.CaptureFixture[str]) -> None:
    assert parse(["--version"]) is None
    assert capsys.readouterr().out == f"DeepSpeech {__version__}\n"
