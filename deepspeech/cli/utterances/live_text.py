"""Text that is shown while it is spoken."""

from __future__ import annotations

import shutil
import unicodedata
from typing import TextIO

from ...util.transcripts import letters_with_marks, one_line

ERASE_TO_END = "\x1b[K"


class LiveText:
    """On a terminal, the line of an utterance is rewritten until it is final; other outputs get only final lines."""

    def __init__(self, output: TextIO, name: str = "") -> None:
        """Write to `output`, with a `name` before each text."""
        self._output = output
        self._name = name
        self._terminal = output.isatty()
        self._shown = ""

    def show(self, text: str) -> None:
        """Show the text of an utterance so far, or the end of it if it is long."""
        text = self._named(text)
        if self._terminal and text != self._shown:
            end = _end_of(text, shutil.get_terminal_size().columns - 1)
            print(f"\r{end}{ERASE_TO_END}", end="", file=self._output, flush=True)
            self._shown = text

    def finish(self, text: str) -> None:
        """Write the text of a finished utterance as a line; write nothing if the text is empty."""
        if self._shown:
            print(f"\r{ERASE_TO_END}", end="", file=self._output, flush=True)
            self._shown = ""
        if line := self._named(text):
            print(line, file=self._output, flush=True)

    def _named(self, text: str) -> str:
        text = one_line(text.strip())
        return f"{self._name}{text}" if text else ""


def _end_of(text: str, columns: int) -> str:
    """Return the end of a text that fits into the columns of a terminal, in which some characters take two or none."""
    taken, shown = 0, []
    for letter in reversed(letters_with_marks(text)):
        taken += sum(map(_columns, letter))
        if taken > columns:
            break
        shown.append(letter)
    return "".join(reversed(shown))


def _columns(character: str) -> int:
    """Return how many columns of a terminal a character takes: marks above and below letters take none."""
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
