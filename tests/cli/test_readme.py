"""The README's tables of flags are those of the program."""

from pathlib import Path

from deepspeech.cli.flags import markdown_tables
from deepspeech.options import Options

README = Path(__file__).parents[2] / "README.md"


def test_the_tables_of_every_flag_with_its_default_and_meaning_are_in_the_readme() -> None:
    tables, readme = markdown_tables(Options), README.read_text(encoding="utf-8")
    lacking = [line for line in tables.splitlines() if line not in readme]
    assert tables in readme, f"docs/contributing.md, A flag, says how the README gets its tables; it lacks {lacking}"
