"""NCHLT, the eleven languages of South Africa: transcriptions/nchlt_zul.trn.xml and .tst.xml, and audio/.

Each speaker of the XML has recordings, with their path and their text. .trn is for training, and .tst is the test set.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

from ....errors import ImportingError
from ....files.folders import walk
from ...pipeline.records import TEST, TRAIN, Choices, Item, LeftOut, Record

_SETS = {".trn.xml": TRAIN, ".tst.xml": TEST}
_LINE_END = b"\n"
_DECLARATION = re.compile(rb"<\?xml[^>]*\?>")
_PARTS = re.compile(
    rb"(?P<speaker><speaker\b[^>]*>)"
    rb"|<recording\b[^>]*/>|<recording\b.*?(?:</recording>|(?=<recording\b|</?speaker\b|\Z))",
    re.DOTALL,
)
"""The beginning of a speaker, or a recording, also one that does not end."""


def read_records(source: Path, choices: Choices) -> Iterator[Item]:
    """Yield the recordings of all transcriptions; raise ImportingError if there are none, or one is malformed."""
    empty = True
    for folder, files in walk(source):
        for file in files:
            if official_set := next((name for ending, name in _SETS.items() if file.endswith(ending)), ""):
                empty = False
                yield from _recordings(Path(folder, file), official_set)
    if empty:
        raise ImportingError(f"{source} has no {' or '.join(f'*{ending}' for ending in _SETS)}, so it isn't NCHLT")


def _recordings(path: Path, official_set: str) -> Iterator[Item]:
    """Yield the recordings of a file, each of which is parsed alone, so that a malformed one leaves out no other."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ImportingError(f"{path}: cannot be read: {error.strerror or error}") from error
    declaration = match[0] if (match := _DECLARATION.match(data)) else b""
    speaker, empty = "", True
    for part in _PARTS.finditer(data):
        of_speaker = part["speaker"]
        try:
            whole = of_speaker.rstrip(b"/>") + b"/>" if of_speaker else part[0]
            element = ElementTree.fromstring(declaration + whole)  # noqa: S314 (expat limits expansions)
        except (ElementTree.ParseError, LookupError, ValueError):
            speaker = "" if of_speaker else speaker
            where = f"{path.name}:{1 + data.count(_LINE_END, 0, part.start())}"
            yield LeftOut(where, "malformed XML", "", part[0].decode(errors="replace"))
            continue
        if element.tag == "speaker":
            speaker = element.get("id", "")
        else:
            empty = False
            yield _item(path, element, speaker, official_set)
    if empty:
        raise ImportingError(f"{path}: cannot be read as XML: {_why_not(data)}")


def _item(path: Path, element: ElementTree.Element, speaker: str, official_set: str) -> Item:
    audio, text = element.get("audio", ""), element.findtext("orth", "")
    where = f"{path.name} {audio}"
    return Record(_find(path, audio), text, where, speaker, official_set) if audio else LeftOut(where, "no audio")


def _why_not(data: bytes) -> str:
    try:
        ElementTree.fromstring(data)  # noqa: S314 (as above)
    except (ElementTree.ParseError, LookupError, ValueError) as error:
        return str(error)
    return "it has no recording"


def _find(path: Path, audio: str) -> str:
    """Return a recording, whose path begins with the corpus's own folder or below it."""
    corpus = path.parent.parent
    inside = corpus.joinpath(*Path(audio).parts[1:])
    is_inside = os.path.isfile(inside)  # noqa: PTH113 (a Path raises errors for long names)
    return str(inside if is_inside else corpus.parent / audio)
