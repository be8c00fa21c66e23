"""Decides by its vocabulary whether a KenLM language model is one of words or of characters."""

from __future__ import annotations

import mmap
from collections.abc import Iterator, Sequence
from pathlib import Path

from .transcripts import written_without_spaces

SPACE = "<space>"
"""The name of the space in language models of characters."""

_SPECIAL = ("<unk>", "<UNK>", "<s>", "</s>")
_FIRST_OF_BINARY = b"<unk>\0"
"""The beginning of the vocabulary at the end of a KenLM binary: words that each end with a null."""
_HEAD_OF_BINARY = b"mmap lm"


def is_of_characters(path: Path, labels: Sequence[str | bytes]) -> bool:
    """Return whether all words of a language model, ARPA or binary, are single characters that spell text.

    They spell text if one of them is the space, if labels are bytes or no label begins with a space, or if most of them
    belong to a script without spaces. Otherwise single letters may be words, as in spelled names. Return False for a
    file without a vocabulary, or one that cannot be read.
    """
    has_space = False
    letters = unspaced = 0
    try:
        if not path.is_file():
            return False
        for word in vocabulary(path):
            if word == SPACE:
                has_space = True
            elif word not in _SPECIAL:
                if len(word) != 1:
                    return False
                letters += 1
                unspaced += written_without_spaces(word)
    except (OSError, ValueError):
        return False
    parted = any(isinstance(label, str) and label.startswith(" ") for label in labels)
    return letters > 0 and (has_space or not parted or 2 * unspaced > letters)


def vocabulary(path: Path) -> Iterator[str]:
    """Yield the words of a language model, ARPA or binary, if its file has them; raise OSError, or ValueError.

    They include KenLM's markers of unknown words and of the ends of sentences.
    """
    with path.open("rb") as file:
        if file.read(len(_HEAD_OF_BINARY)) != _HEAD_OF_BINARY:
            file.seek(0)
            yield from _words_of_arpa(file)
            return
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            start = content.rfind(_FIRST_OF_BINARY)
            while 0 <= start < len(content):
                end = content.find(b"\0", start)
                if end < 0:
                    return
                yield content[start:end].decode()
                start = end + 1


def _words_of_arpa(lines: Iterator[bytes]) -> Iterator[str]:
    """Yield the words of the unigrams: lines of a logarithm, a word and perhaps another logarithm.

    Raise ValueError for other lines.
    """
    inside = False
    for line in lines:
        if line.startswith(b"\\"):
            if inside:
                return
            inside = line.strip() == b"\\1-grams:"
        elif inside and (fields := line.split()):
            if len(fields) < 2:
                raise ValueError(f"{line[:80]!r} is no unigram")
            yield fields[1].decode()
