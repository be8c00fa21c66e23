"""Text that is shown on a terminal while it is spoken."""

from __future__ import annotations

import io
import os
import shutil

import pytest

from deepspeech.cli.utterances.live_text import ERASE_TO_END, LiveText


class Terminal(io.StringIO):
    """A terminal of ten columns, the last of which stays free."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("one two three", "two three"),
        ("今天天气很好", "天气很好"),
        ("กี" * 12, "กี" * 9),  # marks take no column, and stay with their letters
        ("abcdéfghijklm".replace("é", "e\u0301"), "e\u0301fghijklm"),
        ("จุ๊", "จุ๊"),
    ],
)
def test_the_end_of_a_long_text_fills_the_line_and_begins_with_a_whole_letter(
    text: str, shown: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "get_terminal_size", lambda: os.terminal_size((10, 24)))
    terminal = Terminal()
    LiveText(terminal).show(text)
    assert terminal.getvalue() == f"\r{shown}{ERASE_TO_END}"
