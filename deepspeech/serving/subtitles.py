"""Transcripts as subtitles: SubRip (SRT) and WebVTT.

Formats: https://www.matroska.org/technical/subtitles.html#srt-subtitles and https://www.w3.org/TR/webvtt1/.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..util.transcripts import one_line
from .transcripts import TimedWord, separators

LONGEST_CUE_SECONDS = 6.0
LONGEST_CUE_CHARACTERS = 84
"""Two lines of 42 characters, which a viewer reads at a glance."""
PAUSE_SECONDS = 0.8
"""A pause of this length ends a cue."""
SHORTEST_CUE_SECONDS = 0.7
"""A cue is shown at least for this time, unless the next one begins earlier."""


@dataclass(frozen=True)
class Cue:
    """A text that is shown from `start` to `end`, in seconds; `voice` says who speaks, if that is known."""

    start: float
    end: float
    text: str
    voice: str = ""


def cues(words: Sequence[TimedWord], voice: str = "", text: str = "") -> list[Cue]:
    """Return the words of a voice as cues of a readable length that do not overlap.

    Spaces between words are those of their `text`, as scripts such as Thai have a space only between phrases.
    White space at the ends of a cue, and line breaks in it, are left out: an empty line ends a cue in a file.
    """
    groups = list(_groups(words))
    before = iter(separators(words, text))
    made = []
    for group, following in zip(groups, [*groups[1:], None], strict=False):
        start, end = group[0].start, max(group[-1].end, round(group[0].start + SHORTEST_CUE_SECONDS, 3))
        if following is not None:
            end = min(end, following[0].start)
        said = "".join(f"{next(before)}{word.text}" for word in group)
        if shown := one_line(said.strip()):
            made.append(Cue(start, end, shown, voice))
    return made


def srt(shown: Sequence[Cue]) -> str:
    """Return cues as a SubRip file."""
    blocks = (
        f"{number}\n{_time(cue.start, ',')} --> {_time(cue.end, ',')}\n{_said(cue)}\n"
        for number, cue in enumerate(shown, start=1)
    )
    return "\n".join(blocks)


def webvtt(shown: Sequence[Cue]) -> str:
    """Return cues as a WebVTT file."""
    voices = (f"<v {_escaped(cue.voice)}>" if cue.voice else "" for cue in shown)
    blocks = (
        f"{_time(cue.start, '.')} --> {_time(cue.end, '.')}\n{voice}{_escaped(cue.text)}\n"
        for cue, voice in zip(shown, voices, strict=True)
    )
    return "\n".join(["WEBVTT\n", *blocks])


def _said(cue: Cue) -> str:
    return f"{cue.voice}: {cue.text}" if cue.voice else cue.text


def _groups(words: Sequence[TimedWord]) -> Iterator[list[TimedWord]]:
    group: list[TimedWord] = []
    for word in words:
        if group:
            characters = sum(len(other.text) + 1 for other in group) + len(word.text)
            too_long = characters > LONGEST_CUE_CHARACTERS or word.end - group[0].start > LONGEST_CUE_SECONDS
            if too_long or word.start - group[-1].end >= PAUSE_SECONDS:
                yield group
                group = []
        group.append(word)
    if group:
        yield group


def _time(seconds: float, decimal_mark: str) -> str:
    milliseconds = round(seconds * 1000)
    minutes, milliseconds = divmod(milliseconds, 60_000)
    hours, minutes = divmod(minutes, 60)
    return f"{hours:02}:{minutes:02}:{milliseconds // 1000:02}{decimal_mark}{milliseconds % 1000:03}"


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
