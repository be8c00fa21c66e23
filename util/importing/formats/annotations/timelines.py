"""EXMARaLDA's .exb and FOLKER's .flk and .fln: what speakers say between points of a timeline.

Of an .exb, the tiers of transcriptions (type t) are read. Marks of pauses, breath and other sounds are removed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from xml.etree import ElementTree

from .tiers import AnnotationsError, Segment, Tier, segment_of

_SOUNDS = re.compile(r"\(\([^)]*\)\)|\([\d.,\s]+s?\)|\(-+\)|\u00b0?\bh+\u00b0|\u00b0h+\b|[\u2022\u02d9]")
"""Such as ((laughs)), (.), (0.5) and \N{DEGREE SIGN}h."""

_Part = tuple[str, str, str]
"""The points where a part starts and ends, and its text."""


def read_timeline(path: Path) -> list[Tier]:
    """Return what each speaker says as a tier; raise AnnotationsError, or OSError.

    Parts without times at their ends are joined up to the next point with a time.
    """
    try:
        root = ElementTree.parse(path).getroot()  # noqa: S314 (expat limits expansions)
        names, said = _of_exmaralda(root) if root.tag == "basic-transcription" else _of_folker(root)
        points = [*root.iter("tli"), *root.iter("timepoint")]
        times = {each.get("id", each.get("timepoint-id", "")): _time_of(each) for each in points}
    except (ElementTree.ParseError, LookupError, ValueError) as error:
        raise AnnotationsError(f"it cannot be read as a timeline in XML: {error}") from error
    tiers: dict[str, list[Segment]] = {}
    untimed: dict[str, list[str]] = {}
    for speaker, parts in said:
        name = names.get(speaker) or speaker
        segments, without = _segments(parts, times)
        tiers.setdefault(name, []).extend(segments)
        untimed.setdefault(name, []).extend(without)
    return [Tier(name or "text", name, segments, untimed[name]) for name, segments in tiers.items()]


def _time_of(point: ElementTree.Element) -> float | None:
    time = point.get("time") or point.get("absolute-time")
    return float(time) if time else None


def _of_exmaralda(root: ElementTree.Element) -> tuple[Mapping[str, str], Iterator[tuple[str, list[_Part]]]]:
    names = {each.get("id", ""): each.findtext("abbreviation", "") for each in root.iter("speaker")}
    tiers = (tier for tier in root.iter("tier") if tier.get("type") == "t")
    return names, (
        (tier.get("speaker", ""), [(*_ends(event, "start", "end"), event.text or "") for event in tier.iter("event")])
        for tier in tiers
    )


def _of_folker(root: ElementTree.Element) -> tuple[Mapping[str, str], Iterator[tuple[str, list[_Part]]]]:
    names = {each.get("speaker-id", ""): each.findtext("name", "") for each in root.iter("speaker")}
    return names, (
        (each.get("speaker-reference", ""), list(_parts_of_contribution(each))) for each in root.iter("contribution")
    )


def _parts_of_contribution(contribution: ElementTree.Element) -> Iterator[_Part]:
    """Yield the parts of a contribution, which points of time divide; only words and unparsed text are said."""
    start, end = _ends(contribution, "start-reference", "end-reference")
    texts: list[str] = []
    for element in contribution.iter():
        if element.tag == "time":
            point = element.get("timepoint-reference", "")
            yield start, point, " ".join(texts)
            start, texts = point, []
        elif element.tag == "w":
            texts.append("".join(element.itertext()))
        elif element.tag in ("unparsed", "segment"):
            texts.append(element.text or "")
    yield start, end, " ".join(texts)


def _ends(element: ElementTree.Element, start: str, end: str) -> tuple[str, str]:
    return element.get(start, ""), element.get(end, "")


def _segments(parts: Iterable[_Part], times: Mapping[str, float | None]) -> tuple[list[Segment], list[str]]:
    """Return the segments of parts in order, and the texts of those without times."""
    segments: list[Segment] = []
    start: float | None = None
    texts: list[str] = []
    for first, last, text in parts:
        start = times.get(first) if start is None else start
        texts.append(text)
        end = times.get(last)
        if start is not None and end is not None:
            if segment := segment_of(start, end, _SOUNDS.sub(" ", "".join(texts))):
                segments.append(segment)
            start, texts = None, []
    return segments, [words for words in [" ".join("".join(texts).split())] if words]
