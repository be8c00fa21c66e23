"""Audacity's label tracks: a text whose lines are the start, the end and the text of a label, with tabs between them.

Format: https://manual.audacityteam.org/man/importing_and_exporting_labels.html.
"""

from __future__ import annotations

import re

from ....corpus_files.rows import seconds_of
from .tiers import Segment, Tier

_TIME = r"(\d+(?:[.,]\d+)?)"
_LABEL = re.compile(rf"{_TIME}\t{_TIME}(?:\t(.*))?")
FREQUENCIES = "\\\t"
"""What begins a line with the lowest and the highest frequency of the label above it."""


def label_tracks(text: str) -> list[Tier]:
    """Return the labels of a track with their texts as one tier; or none if the text is anything else.

    It is something else if no time has a fraction, as those of samples, which other programs write, have none.
    A label without a length, which marks a point, is an annotation without a time.
    """
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith(FREQUENCIES)]
    labels = [found for found in map(_LABEL.fullmatch, lines) if found is not None]
    if len(labels) < len(lines) or all(f"{label[1]}{label[2]}".isdigit() for label in labels):
        return []
    segments, points = list[Segment](), list[Segment]()
    for start, end, said in (label.groups(default="") for label in labels):
        if said.strip():
            segment = Segment(seconds_of(start), seconds_of(end), said.strip())
            (segments if segment.start < segment.end else points).append(segment)
    return [Tier("labels", "", segments, [point.text for point in points])]
