"""Names of speakers before what they say, as in `Anna: good morning` and `[SPEAKER_00]: good morning`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from .tiers import Segment, Tier, tiers_by_speaker

_NAMED = re.compile(
    r"\s*(?:(?:[-\u2013\u2014]|>>+)\s*)?[\[(]?([^\W\d][^:\[\]()?!,;]{0,39}?)[\])]?\s*[:\uff1a]\s+(?=\S)"
)
_NUMBERED = re.compile(r"(speaker|spk)[ _#-]?(\d{1,2}|[A-Z])", re.IGNORECASE)
_ONLY_NUMBERED = re.compile(r"[A-Z]|[AB]\d|\d")
_HEADING = re.compile(r"\s*speaker\s*:\s*(\S+)\s*", re.IGNORECASE)
"""A line above what a speaker says, such as `SPEAKER: S1` of Speechmatics."""
_MOST_WORDS = 4
_LEAST_SHARE = 4
"""Names are read if one line in so many has one."""


def names_apart(lines: Sequence[str], *, timed: bool = True) -> list[tuple[str, str]]:
    """Return the speaker and the words of each line; without a speaker if the lines do not begin with names.

    A colon may also follow the first words of a sentence. So names are read only if the first line and a quarter of all
    have one that is numbered, as Speaker 1 is, or that occurs several times, or if all of several `timed` lines have.
    """
    found = [_NAMED.match(line) for line in lines]
    names = [match[1].strip() if match and _is_name(match[1].strip()) else "" for match in found]
    sure = _sure(names)
    read = {*names} if len(names) > 1 and "" not in names and (sure or timed) else sure
    return [
        (name, line[match.end() :]) if match and name in read else ("", line)
        for name, match, line in zip(names, found, lines, strict=True)
    ]


def said_below_names(lines: Iterable[str]) -> list[tuple[str, str]]:
    """Return the speaker and the words of each line below one such as `SPEAKER: S1`; none if the first is not so."""
    said: list[tuple[str, str]] = []
    speaker = ""
    for line in lines:
        if found := _HEADING.fullmatch(line):
            speaker = found[1]
        elif not speaker:
            return []
        else:
            said.append((speaker, line))
    return said


def _sure(names: Sequence[str]) -> set[str]:
    """Return the names that are those of speakers although other lines have none; none if it is too few lines."""
    counts = Counter(filter(None, names))
    sure = {name for name, count in counts.items() if count > 1 or _NUMBERED.fullmatch(name)}
    enough = _LEAST_SHARE * sum(name in sure for name in names) >= len(names)
    return sure if sure and enough and names[0] in sure else set()


def is_numbered(speaker: str) -> bool:
    """Return whether a speaker is only numbered, as SPEAKER_00, A or 1, so that each recording has others."""
    return bool(_NUMBERED.fullmatch(speaker) or _ONLY_NUMBERED.fullmatch(speaker))


def tiers_by_name(segments: Iterable[Segment]) -> list[Tier]:
    """Return subtitles as a tier for each speaker whose name their texts begin with, and one for the others."""
    segments = list(segments)
    said = zip(names_apart([each.text for each in segments]), segments, strict=True)
    return tiers_by_speaker(
        ((speaker, segment._replace(text=words)) for (speaker, words), segment in said), "subtitles"
    )


def tiers_of_voices(said: Iterable[tuple[str, Segment]]) -> list[Tier]:
    """Return what each voice says as a tier, and subtitles without a voice as `tiers_by_name` does."""
    said = list(said)
    voices = tiers_by_speaker((voice, segment) for voice, segment in said if voice)
    return voices + tiers_by_name((segment for voice, segment in said if not voice))


def _is_name(text: str) -> bool:
    return len(text.split()) <= (1 if text[:1].islower() else _MOST_WORDS)
