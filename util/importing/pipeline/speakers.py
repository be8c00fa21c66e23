"""Speakers that the paths of recordings name, by a pattern: {speaker}/* for anna/001.wav, or {speaker}_* for a name."""

from __future__ import annotations

import logging
import re
import unicodedata
from collections.abc import Iterable, Iterator
from pathlib import Path

from ...errors import ImportingError
from .records import Item, Record

log = logging.getLogger(__name__)

SPEAKER = "{speaker}"
"""Stands for the speaker in a pattern."""


def with_speakers(items: Iterable[Item], source: Path, pattern: str) -> Iterator[Item]:
    """Yield the items of a folder; a record whose path ends as the pattern says has the speaker that the path names.

    In the pattern, a * stands for any part of a name, also an empty one. Both are as short as possible. Paths are
    relative to the folder. A warning tells the first record whose known speaker is replaced. Raise ImportingError after
    the last item if no path of a record ends so.
    """
    parts = (re.escape(part).replace(r"\*", "[^/]*?") for part in _composed(pattern).split(SPEAKER))
    ending = re.compile(f"(?:.*/)?{'([^/]+?)'.join(parts)}")
    root = f"{source.as_posix().rstrip('/')}/"
    example, found, told = "", False, False
    for item in items:
        if isinstance(item, Record):
            example = Path(item.path).as_posix().removeprefix(root)
            if match := ending.fullmatch(_composed(example)):
                if item.speaker not in ("", match[1]) and not told:
                    told = True
                    log.warning(
                        "%s: --speakers takes the speaker %s in place of %s, and others so",
                        item.source,
                        match[1],
                        item.speaker,
                    )
                item, found = item._replace(speaker=match[1]), True
        yield item
    if example and not found:
        raise ImportingError(f"--speakers={pattern}: no recording's path ends so; one of them is {example}")


def check_speaker_pattern(text: str) -> str:
    """Return a pattern such as "{speaker}/*", or an empty one; raise ValueError, saying what is wrong with it."""
    if text and text.count(SPEAKER) != 1:
        raise ValueError(f"{text!r} does not have {SPEAKER} once, as {SPEAKER}/* does")
    return text


def _composed(text: str) -> str:
    return unicodedata.normalize("NFC", text)
