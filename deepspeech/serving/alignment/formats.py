"""An alignment as a file: NIST's CTM, Praat's TextGrid, SubRip subtitles and JSON.

CTM: https://github.com/usnistgov/SCTK/blob/master/doc/infmts.htm; TextGrid: Praat's manual, "TextGrid file formats".
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace

from ...util.transcripts import has_unspaced, is_mark
from ..subtitles import LONGEST_CUE_CHARACTERS, LONGEST_CUE_SECONDS, cues, srt
from ..transcripts import TimedWord
from .transcript import AlignedCharacter, AlignedWord, Alignment

Spans = Sequence[AlignedWord] | Sequence[AlignedCharacter]


def ctm(alignment: Alignment, name: str) -> str:
    """Return a line for each word: recording, channel, start and duration in seconds, word, confidence in [0, 1].

    `name` is the recording's; its spaces become underscores, as spaces separate the fields of CTM.
    """
    recording = "_".join(name.split()) or "recording"
    return "".join(
        f"{recording} 1 {word.start:.3f} {word.end - word.start:.3f} {word.text} {math.exp(word.score):.3f}\n"
        for word in alignment.words
    )


def textgrid(alignment: Alignment, _name: str = "") -> str:
    """Return two tiers of intervals, words and characters, in Praat's long text format."""
    characters = [character for word in alignment.words for character in word.characters]
    tiers: list[tuple[str, Spans]] = [("words", alignment.words), ("characters", characters)]
    lines = ['File type = "ooTextFile"', 'Object class = "TextGrid"', "", "xmin = 0", f"xmax = {alignment.duration}"]
    lines += ["tiers? <exists>", f"size = {len(tiers)}", "item []:"]
    for number, (title, spans) in enumerate(tiers, start=1):
        intervals = list(_intervals(spans, alignment.duration))
        lines += [f"    item [{number}]:", '        class = "IntervalTier"', f'        name = "{title}"']
        lines += ["        xmin = 0", f"        xmax = {alignment.duration}"]
        lines.append(f"        intervals: size = {len(intervals)}")
        for place, (start, end, text) in enumerate(intervals, start=1):
            quoted = text.replace('"', '""')
            lines += [f"        intervals [{place}]:", f"            xmin = {start}", f"            xmax = {end}"]
            lines.append(f'            text = "{quoted}"')
    return "".join(f"{line}\n" for line in lines)


def subtitles(alignment: Alignment, _name: str = "") -> str:
    """Return the words as SubRip subtitles of a readable length, also of texts written without spaces."""
    return srt(cues([part for word in alignment.words for part in _readable(word)], text=alignment.text))


def as_json(alignment: Alignment, name: str) -> str:
    """Return the whole alignment: text, start and end in seconds, and score in nats of each word and character."""
    return json.dumps({"audio": name, **asdict(alignment)}, ensure_ascii=False, indent=2) + "\n"


FORMATS: Mapping[str, Callable[[Alignment, str], str]] = {
    "ctm": ctm,
    "textgrid": textgrid,
    "srt": subtitles,
    "json": as_json,
}
"""The function that writes an alignment, and the name of its recording, in each format."""


def _readable(word: AlignedWord) -> Iterator[TimedWord]:
    """Yield a text written without spaces in parts that fit into cues, and any other word whole.

    A word that takes too long, as some of its characters were found far from the others, is shown where most are.
    """
    parts = list(_fitting(word))
    is_cut = has_unspaced(word.text) or len(word.text) > LONGEST_CUE_CHARACTERS
    if is_cut and len(parts) > 1:
        yield from parts
    else:
        most = max(parts, key=lambda part: len(part.text))
        yield TimedWord(word.text, most.start, most.end)


def _fitting(word: AlignedWord) -> Iterator[TimedWord]:
    """Yield the parts of a word that is too long for a cue, cut where the gap between letters is the longest."""
    waiting = [_letters(word)]
    while waiting:
        part = waiting.pop()
        said = TimedWord("".join(letter.text for letter in part), part[0].start, part[-1].end)
        fits = len(said.text) <= LONGEST_CUE_CHARACTERS and said.end - said.start <= LONGEST_CUE_SECONDS
        if fits or len(part) == 1:
            yield said
        else:
            cut = max(
                range(1, len(part)), key=lambda at: (part[at].start - part[at - 1].start, -abs(2 * at - len(part)))
            )
            waiting += [part[cut:], part[:cut]]


def _letters(word: AlignedWord) -> list[TimedWord]:
    """Return the letters of a word, each with its combining marks."""
    letters: list[TimedWord] = []
    for character in word.characters:
        if not character.text:  # a word piece that is a space
            continue
        if letters and is_mark(character.text[0]):
            letters[-1] = replace(letters[-1], text=letters[-1].text + character.text, end=character.end)
        else:
            letters.append(TimedWord(character.text, character.start, character.end))
    return letters


def _intervals(spans: Spans, duration: float) -> Iterator[tuple[float, float, str]]:
    """Yield intervals that fill the recording without a gap, those between spans with an empty text."""
    at = 0.0
    for span in spans:
        if span.start > at:
            yield at, span.start, ""
        yield span.start, span.end, span.text
        at = span.end
    if duration > at:
        yield at, duration, ""
