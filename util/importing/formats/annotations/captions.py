"""Captions of other kinds than SubRip and WebVTT: .sbv, .lrc, .ass, .ssa, .ttml, .dfxp, .srv1 to .srv3, .tsv and .otr.

YouTube has .sbv, .ttml and .srv3, players of music .lrc, Whisper .tsv, and oTranscribe .otr, which is JSON with the
HTML of a text with times.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from html import unescape
from itertools import zip_longest
from pathlib import Path
from xml.etree import ElementTree

from ....corpus_files.lines import read_text
from ....corpus_files.rows import seconds_of
from .names_of_speakers import tiers_by_name, tiers_of_voices
from .stamped_lines import FRAMES_A_SECOND, seconds_of_frame, stamped_lines
from .tiers import AnnotationsError, Segment, Tier, segment_of

_TIMES_OF_SBV = re.compile(r"(\d+:\d+:\d+\.\d+),(\d+:\d+:\d+\.\d+)")
_TIME_OF_LRC = re.compile(r"\[(\d+:\d+(?:[.:]\d+)?)\]")
_OFFSET_OF_LRC = re.compile(r"\[offset:\s*([+-]?\d+)\s*\]", re.IGNORECASE)
"""Milliseconds by which all lines are earlier."""
_WORD_OF_LRC = re.compile(r"<\d+:\d+(?:[.:]\d+)?>")
_STYLE = re.compile(r"\{[^}]*\}")
_DRAWING = re.compile(r"\{[^}]*\\p[1-9][^}]*\}[^{]*")
_BREAK = re.compile(r"\\[Nnh]")
_UNITS = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001}
_BEGINS = {"begin", "t", "start"}
_STAMP_OF_OTR = re.compile(r"<span[^>]*\bdata-timestamp=\"([\d.]+)\"[^>]*>[^<]*</span>")
_LINE_OF_OTR = re.compile(r"<br\s*/?>|</?p[^>]*>|</?div[^>]*>|\n")
_TAG = re.compile(r"<[^>]*>")


def read_sbv(path: Path) -> list[Tier]:
    """Return the captions of an .sbv; raise UnicodeDecodeError, or OSError."""
    segments = []
    for block in re.split(r"\n\s*\n", read_text(path).strip()):
        times, _, text = block.partition("\n")
        if found := _TIMES_OF_SBV.fullmatch(times.strip()):
            segments.append(segment_of(seconds_of(found[1]), seconds_of(found[2]), text))
    return tiers_by_name(filter(None, segments))


def read_tsv(path: Path) -> list[Tier]:
    """Return the segments of Whisper's .tsv, whose times are in ms; raise AnnotationsError, or OSError."""
    header, *lines = read_text(path).splitlines() or [""]
    if header.split("\t") != ["start", "end", "text"]:
        raise AnnotationsError("it has other columns than those of Whisper: start, end, text")
    try:
        rows = [line.split("\t", 2) for line in lines if line.strip()]
        segments = [segment_of(int(start) / 1000, int(end) / 1000, text) for start, end, text in rows]
    except ValueError as error:
        raise AnnotationsError(f"a line is not start, end and text: {error}") from error
    return tiers_by_name(filter(None, segments))


def read_lrc(path: Path) -> list[Tier]:
    """Return the lines of an .lrc, each up to the time of the next; raise UnicodeDecodeError, or OSError."""
    written = read_text(path)
    offset = int(found[1]) / 1000 if (found := _OFFSET_OF_LRC.search(written)) else 0.0
    lines = sorted(
        (
            max(0.0, seconds_of(re.sub(r":(?=\d+$)", ".", time) if time.count(":") > 1 else time) - offset),
            _TIME_OF_LRC.sub("", line),
        )
        for line in written.splitlines()
        for time in _TIME_OF_LRC.findall(line)
    )
    pairs = zip_longest(lines, lines[1:], fillvalue=(math.inf, ""))
    segments = (segment_of(start, end, _WORD_OF_LRC.sub("", text)) for (start, text), (end, _) in pairs)
    return tiers_by_name(filter(None, segments))


def read_ass(path: Path) -> list[Tier]:
    """Return the dialogue of an .ass or .ssa, by its speakers; raise AnnotationsError, or OSError."""
    return tiers_of_voices(_dialogue(path))


def _dialogue(path: Path) -> Iterator[tuple[str, Segment]]:
    names: Sequence[str] = ()
    for line in read_text(path).splitlines():
        kind, _, fields = line.partition(":")
        if kind == "Format":
            names = [name.strip() for name in fields.split(",")]
        elif kind == "Dialogue":
            values = dict(zip(names, fields.strip().split(",", max(0, len(names) - 1)), strict=False))
            try:
                start, end = seconds_of(values["Start"].strip()), seconds_of(values["End"].strip())
                text = _BREAK.sub(" ", _STYLE.sub("", _DRAWING.sub("", values["Text"])))
            except (KeyError, ValueError) as error:
                raise AnnotationsError(f"a Dialogue without {error}") from error
            if segment := segment_of(start, end, text):
                yield values.get("Name", values.get("Actor", "")).strip(), segment


def read_xml(path: Path) -> list[Tier]:
    """Return the captions of a .ttml or .dfxp, or of YouTube's .srv1 to .srv3; raise AnnotationsError, or OSError."""
    try:
        root = ElementTree.parse(path).getroot()  # noqa: S314 (expat limits expansions)
        units = _units_of(root)
        segments = [_of_element(each, begin, units) for each, begin in _timed(root, units)]
    except (ElementTree.ParseError, LookupError, ValueError, ArithmeticError, RecursionError) as error:
        raise AnnotationsError(f"it cannot be read as captions in XML: {error}") from error
    return tiers_by_name(_up_to_next([*filter(None, segments)]))


def read_otr(path: Path) -> list[Tier]:
    """Return what is said from one time of oTranscribe to the next; raise AnnotationsError, or OSError."""
    try:
        html = json.loads(read_text(path))["text"]
        text = _STAMP_OF_OTR.sub(lambda found: f"[{_clock(float(found[1]))}]", _LINE_OF_OTR.sub("\n", html))
    except (ValueError, KeyError, TypeError) as error:
        raise AnnotationsError(f"it cannot be read as oTranscribe's JSON: {error}") from error
    return stamped_lines(unescape(_TAG.sub("", text)).replace("\u00a0", " "))


def _clock(seconds: float) -> str:
    return f"{seconds // 60:.0f}:{seconds % 60:06.3f}"


def _units_of(root: ElementTree.Element) -> Mapping[str, float]:
    """Return the seconds of each unit of times, also of the frames and ticks that the attributes of TTML define."""
    values = {name.rpartition("}")[2]: text for name, text in root.attrib.items()}
    times, divisor = map(float, values.get("frameRateMultiplier", "1 1").replace(":", " ").split())
    rate = float(values.get("frameRate", FRAMES_A_SECOND)) * times / divisor
    ticks = float(values.get("tickRate", rate if "frameRate" in values else 1))
    return {**_UNITS, "f": 1 / rate, "t": 1 / ticks}


def _timed(
    element: ElementTree.Element, units: Mapping[str, float], begin: float = 0.0, *, in_paragraph: bool = False
) -> Iterator[tuple[ElementTree.Element, float]]:
    """Yield the paragraphs of captions or, of one without times, the elements in it that have them.

    With each is the second from which its times count, which is the begin of what it is in, such as the body.
    """
    in_paragraph = in_paragraph or element.tag.rpartition("}")[2] in ("p", "text")
    if in_paragraph and not _BEGINS.isdisjoint(element.attrib):
        yield element, begin
        return
    begin += _time(element.attrib.get("begin", "0s"), units)
    for each in element:
        yield from _timed(each, units, begin, in_paragraph=in_paragraph)


def _of_element(element: ElementTree.Element, begin: float, units: Mapping[str, float]) -> Segment | None:
    """Return the caption of an element with begin and end, t and d in ms (.srv3), or start and dur (.srv1)."""
    values = element.attrib
    if "t" in values:
        start, length = float(values["t"]) / 1000, float(values.get("d", 0)) / 1000
    elif "start" in values:
        start, length = float(values["start"]), float(values.get("dur", 0))
    else:
        start = _time(values["begin"], units)
        length = _time(values["end"], units) - start if "end" in values else _time(values.get("dur", ""), units)
    for line in element.iter():
        if line.tag.rpartition("}")[2] == "br":
            line.tail = f" {line.tail or ''}"
    start += begin
    return segment_of(start, start + length, unescape("".join(element.itertext())))


def _time(text: str, units: Mapping[str, float]) -> float:
    """Return the seconds of a time such as 00:00:01.5, 00:00:01:12, in which 12 are frames, 1.5s, or 10000000t."""
    if found := re.fullmatch(r"([\d.]+)(h|m|s|ms|f|t)", text):
        return float(found[1]) * units[found[2]]
    return seconds_of_frame(text, 1 / units["f"])


def _up_to_next(captions: Sequence[Segment]) -> Iterator[Segment]:
    """Yield captions that end where the next begins, as YouTube's stay visible for longer."""
    for caption, after in zip_longest(captions, captions[1:]):
        end = caption.end if after is None or after.start <= caption.start else min(caption.end, after.start)
        yield caption._replace(end=end)
