"""MGB-2 and QASR, Arabic television: xml/utf8/NAME.xml, with segments of words, and wav/NAME.wav.

The words of the programmes' captions were aligned by a recognizer. Segments are left out whose WMER, the rate of words
that it heard otherwise, is above 80 %.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

from ....errors import CorpusError, OtherFormatError
from ....files.folders import files_below
from ...pipeline.folders import set_of_folders
from ...pipeline.records import Choices, Item, LeftOut, Record
from ..lists.named_recordings import NamedRecordings

_BEGINNING = re.compile(rb"<segment\b[^>]*\bstarttime=")
_LOOKED_AT = 1 << 14
_MOST_OTHERWISE = 80.0
"""Percent."""


def read_records(source: Path, choices: Choices) -> Iterator[Item]:
    """Yield the segments of all programmes; raise ImportingError if there are none, or CorpusError."""
    paths = [path for path in files_below(source) if path.suffix == ".xml" and _has_segments(path)]
    if not paths:
        raise OtherFormatError(f"{source} has no *.xml with <segment starttime=…>, so it isn't laid out as MGB-2 is")
    with NamedRecordings(source) as recordings:
        for path in paths:
            recording = recordings.find(path, path.stem) or str(path.with_suffix(".wav"))
            official_set = set_of_folders(path.relative_to(source).parts[:-1])
            for item in _segments(path, recording):
                yield item._replace(official_set=official_set) if isinstance(item, Record) else item


def _has_segments(path: Path) -> bool:
    with path.open("rb") as file:
        return _BEGINNING.search(file.read(_LOOKED_AT)) is not None


def _segments(path: Path, recording: str) -> Iterator[Item]:
    try:
        for _, segment in ElementTree.iterparse(path):  # noqa: S314 (expat limits expansions)
            if segment.tag == "segment":
                yield _item(segment, f"{path.name} {segment.get('id', '')}", recording)
                segment.clear()
    except (ElementTree.ParseError, LookupError, ValueError, OSError) as error:  # LookupError: an unknown encoding
        raise CorpusError(f"{path}: cannot be read as XML: {error}") from error


def _item(segment: ElementTree.Element, where: str, recording: str) -> Item:
    words = (element.text for element in segment.iter("element") if element.get("type", "word") == "word")
    text = " ".join(word.strip() for word in words if word)
    try:
        start, end = float(segment.get("starttime", "")), float(segment.get("endtime", ""))
        otherwise = float(segment.get("WMER", "0"))
    except ValueError as error:
        return LeftOut(where, "a segment whose times cannot be used", recording, str(error))
    if otherwise > _MOST_OTHERWISE:
        return LeftOut(where, "a segment whose captions differ from what is heard", recording, f"WMER {otherwise:g}")
    who = segment.get("who", "")
    speaker = f"{Path(recording).stem}-{who}" if who.startswith("speaker") else who
    return Record(recording, text, where, speaker, start=start, duration=end - start)
