"""The help of commands that are modules."""

from importlib import import_module

import pytest

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
