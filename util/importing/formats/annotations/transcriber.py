"""Transcriber's .trs: turns of speakers, divided by points of time.

A turn of several speakers at once is left out, and so are sections that are not transcribed.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

from .tiers import AnnotationsError, Segment, Tier, segment_of


def read_trs(path: Path) -> list[Tier]:
    """Return what each speaker says as a tier; raise AnnotationsError, or OSError."""
    tiers: dict[str, list[Segment]] = {}
    try:
        root = ElementTree.parse(path).getroot()  # noqa: S314 (expat limits expansions)
        names = {each.get("id", ""): each.get("name", "") for each in root.iter("Speaker")}
        for section in root.iter("Section"):
            for turn in section.iter("Turn") if section.get("type") != "nontrans" else ():
                speaker = turn.get("speaker", "")
                if len(speaker.split()) < 2:
                    tiers.setdefault(names.get(speaker) or speaker, []).extend(filter(None, _segments(turn)))
    except (ElementTree.ParseError, LookupError, ValueError) as error:
        raise AnnotationsError(f"it cannot be read as Transcriber's XML: {error}") from error
    return [Tier(speaker or "turns", speaker, segments) for speaker, segments in tiers.items()]


def _segments(turn: ElementTree.Element) -> Iterator[Segment | None]:
    start, texts = float(turn.attrib["startTime"]), [turn.text or ""]
    for element in turn:
        if element.tag == "Sync":
            at = float(element.attrib["time"])
            yield segment_of(start, at, " ".join(texts))
            start, texts = at, []
        texts.append(element.tail or "")
    yield segment_of(start, float(turn.attrib["endTime"]), " ".join(texts))
