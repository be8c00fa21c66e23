"""The README's tables of flags are those of the program."""

from pathlib import Path

from deepspeech.cli.flags import markdown_tables
from deepspeech.options import Options

README = Path(__file__).parents[2] / "README.md"


def test_the_tables_of_every_flag_with_its_default_and_meaning_are_in_the_readme() -> None:
    assert markdown_tables(Options) in README.read_text(encoding="utf-8")
