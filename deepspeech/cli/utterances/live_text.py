"""Text that is shown while it is spoken."""

from __future__ import annotations

import shutil
import unicodedata
from typing import TextIO

ERASE_TO_END = "\x1b[K"


class LiveText:
    """On a terminal, the line of an utterance is rewritten until it is final; elsewhere only final ones are written."""

    def __init__(self, output: TextIO) -> None:
        self._output = output
        self._terminal = output.isatty()
        self._shown = ""

    def show(self, text: str) -> None:
        """Show the text of an utterance so far; of a long one, its end."""
        text = text.strip()
        if self._terminal and text != self._shown:
            end = _end_of(text, shutil.get_terminal_size().columns - 1)
            print(f"\r{end}{ERASE_TO_END}", end="", file=self._output, flush=True)
            self._shown = text

    def finish(self, text: str) -> None:
        """Write the text of an utterance that has ended, as a line; none if nothing was said."""
        if self._shown:
            print(f"\r{ERASE_TO_END}", end="", file=self._output, flush=True)
            self._shown = ""
        if text.strip():
            print(text.strip(), file=self._output, flush=True)


def _end_of(text: str, columns: int) -> str:
    """Return the end of a text that fits into the columns of a terminal, in which some characters take two."""
    taken = 0
    for number, character in enumerate(reversed(text)):
        taken += 2 if unicodedata.east_asian_width(character) in "WF" else not unicodedata.combining(character)
        if taken > columns:
            return text[len(text) - number :]
    return text
