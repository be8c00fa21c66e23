"""Reads a large JSON array or object one element at a time, so that only a small part of its text is in memory."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any, TextIO, TypeVar

Element = TypeVar("Element")

_BLOCK = 1 << 20
"""Characters that are read at once."""
_BLANKS = re.compile(r"[ \t\r\n]*")
_REST_OF_NUMBER = len("e+0")
"""Characters after what looks like a number that can make it another one, and so must have been read."""
_DECODER = json.JSONDecoder()


class MalformedJsonError(Exception):
    """A text is not JSON; the message says why, and where."""


class JsonReader:
    """Reads a text that is an array or an object, once. The methods raise MalformedJsonError."""

    def __init__(self, file: TextIO, begin: str = "") -> None:
        """Take a text whose beginning, which can be empty, was read from the file already."""
        self._file = file
        self._text = begin
        self._place = 0
        self._before = 0
        """Characters of the text before `_text`."""

    def begin(self) -> str:
        """Return the first characters that are not yet taken, at most a million unless more were given."""
        if not self._text:
            self._read()
        return self._text[self._place :]

    def elements(self) -> Iterator[Any]:
        """Yield the elements of the array."""
        self._expect("[")
        yield from self._separated(self._value, "]")

    def members(self) -> Iterator[tuple[str, Any]]:
        """Yield the names and the values of the object."""
        self._expect("{")
        yield from self._separated(self._member, "}")

    def end(self) -> None:
        """Check that only blanks follow."""
        if self._next_character():
            raise self._malformed("Extra data")

    def _separated(self, element: Callable[[], Element], closing: str) -> Iterator[Element]:
        if not self._takes(closing):
            yield element()
            while not self._takes(closing):
                self._expect(",")
                yield element()

    def _member(self) -> tuple[str, Any]:
        if self._next_character() != '"':
            raise self._malformed("Expecting property name enclosed in double quotes")
        name = self._value()
        self._expect(":")
        return name, self._value()

    def _value(self) -> Any:
        self._next_character()
        while True:
            try:
                value, end = _DECODER.raw_decode(self._text, self._place)
            except json.JSONDecodeError as error:
                if not self._read():
                    raise self._malformed(error.msg, error.pos) from error
            except ValueError as error:  # Python takes whole numbers of up to 4,300 digits
                raise self._malformed("A number of too many digits") from error
            except RecursionError as error:
                raise self._malformed("Too deeply nested") from error
            else:
                if end + _REST_OF_NUMBER <= len(self._text) or not self._read():
                    self._place = end
                    return value

    def _expect(self, character: str) -> None:
        if not self._takes(character):
            raise self._malformed(f"Expecting '{character}'")

    def _takes(self, character: str) -> bool:
        taken = self._next_character() == character
        self._place += taken
        return taken

    def _next_character(self) -> str:
        """Skip blanks and return the character after them; empty at the end."""
        while True:
            blanks = _BLANKS.match(self._text, self._place)
            self._place = blanks.end() if blanks else self._place
            if self._place < len(self._text) or not self._read():
                return self._text[self._place : self._place + 1]

    def _read(self) -> bool:
        """Read on; return False at the end. A long element doubles what is read, so its time stays proportional."""
        more = self._file.read(max(_BLOCK, len(self._text) - self._place))
        if more:
            self._before += self._place
            self._text, self._place = self._text[self._place :] + more, 0
        return bool(more)

    def _malformed(self, what: str, place: int | None = None) -> MalformedJsonError:
        number = self._before + (self._place if place is None else place) + 1
        return MalformedJsonError(f"{what}: character {number}")
