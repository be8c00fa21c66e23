"""The README's table of flags is that of the program."""

import re
from pathlib import Path

from deepspeech.cli.flag_definitions import FLAG_GROUPS

README = Path(__file__).parents[2] / "README.md"


def test_every_flag_is_in_the_readme_with_its_default_and_meaning() -> None:
    rows = re.findall(r"^\| `(\w+)` \| (.*?) \| (.*) \|$", README.read_text(encoding="utf-8"), re.MULTILINE)
    shown = {name: (default.strip("`"), text) for name, default, text in rows}
    expected = {
        name: ("" if default is None else str(default), text.replace("|", "\\|"))
        for _, definitions in FLAG_GROUPS
        for _, name, default, text in definitions
    }
    assert shown == expected
