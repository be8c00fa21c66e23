"""Tiers of annotations with times: Praat's .TextGrid and ELAN's .eaf, both read by the package pympi-ling."""

from __future__ import annotations

import re
import unicodedata
import warnings
from collections.abc import Iterable, Mapping, Sequence
from io import BytesIO
from itertools import groupby
from operator import itemgetter
from pathlib import Path, PurePath
from typing import Any, NamedTuple
from urllib.parse import unquote

from ....corpus_files.lines import read_text
from ....errors import ImportingError
from ....files.opening import opened
from ....transcripts import continued_by_all
from ....web.libraries import needs
from ...pipeline.speakers import SPEAKER

_EXPONENT = re.compile(r"^(\s*(?:\w+\s*=\s*)?)([\d.]+[eE][-+]?\d+)(\s*)$", re.MULTILINE)
_BINARY = b"ooBinaryFile"


def folded(name: str) -> str:
    """Return a normal form of a file's name or path, which ignores case and the encoding of accents."""
    return unicodedata.normalize("NFC", name.lower())


class Segment(NamedTuple):
    """An annotation."""

    start: float
    """Seconds."""
    end: float
    """Seconds."""
    text: str


class Tier(NamedTuple):
    """Annotations of one kind, for example of one speaker."""

    name: str
    speaker: str
    """Empty if the file does not say."""
    segments: Sequence[Segment]
    """Annotations with a text and times."""
    untimed: Sequence[str] = ()
    """The texts of annotations that lack a time."""
    channel: int | None = None
    """The channel of the recording that has the annotations, counted from 0; None: all."""


def segment_of(start: float, end: float, text: str) -> Segment | None:
    """Return a segment with single spaces in its text; None without words, or if it does not end after it starts."""
    words = " ".join(text.split())
    return Segment(start, end, words) if words and start < end else None


def tiers_by_speaker(said: Iterable[tuple[str, Segment]], unnamed: str = "") -> list[Tier]:
    """Return what each speaker says as a tier, in the order in which they begin; `unnamed` names that of no speaker."""
    tiers: dict[str, list[Segment]] = {}
    for speaker, segment in said:
        tiers.setdefault(speaker, []).append(segment)
    return [Tier(speaker or unnamed, speaker, segments) for speaker, segments in tiers.items()]


class AnnotationsError(Exception):
    """A file of annotations cannot be read."""


def read_textgrid(path: Path) -> list[Tier]:
    """Return the interval tiers of a .TextGrid; raise AnnotationsError, or UnicodeDecodeError if it is not UTF-8."""

    def read(pympi: Any) -> Any:
        grid = pympi.Praat.TextGrid(xmax=0)
        grid.from_file(BytesIO(_plain_numbers(path)), "utf-8")
        return grid

    grid = _read(path, read)
    return [
        Tier(tier.name, "", [Segment(*interval) for interval in tier.intervals if interval[2].strip()])
        for tier in grid.tiers
        if tier.tier_type == "IntervalTier"
    ]


def read_eaf(path: Path, recording: Path) -> list[Tier]:
    """Return the tiers of an .eaf, each with its participant as the speaker; raise AnnotationsError.

    Times are relative to the recording, which may begin before the annotations if it was synchronized with others.
    """

    def read(pympi: Any) -> list[Tier]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of an unknown version of ELAN's format
            file = pympi.Elan.Eaf(str(path))
        tiers = []
        offset = _offset(file.media_descriptors, recording)
        for name in file.get_tier_names():
            rows = [row[:3] for row in file.get_annotation_data_for_tier(name) if row[2].strip()]
            untimed = [text for *times, text in rows if None in times]
            timed = [(begin + offset, end + offset, text) for begin, end, text in rows if None not in (begin, end)]
            tiers.append(Tier(name, _participant(file, name), _segments(timed), untimed))
        return tiers

    tiers: list[Tier] = _read(path, read)
    return tiers


def choose_tiers(path: Path, tiers: Sequence[Tier], wanted: Sequence[str]) -> list[Tier]:
    """Return the tiers with the wanted names or, if no name is given, the only tier with text.

    In a wanted name, {speaker} stands for the name of a speaker, which is that of tiers without one. Raise
    ImportingError if there are several tiers and no name is given.
    """
    if wanted:
        pattern = re.compile("|".join("(.+)".join(map(re.escape, name.split(SPEAKER))) for name in wanted))
        matches = [(tier, pattern.fullmatch(tier.name)) for tier in tiers]
        return [
            tier._replace(speaker=tier.speaker or next(filter(None, match.groups()), ""))
            for tier, match in matches
            if match
        ]
    with_text = [tier for tier in tiers if tier.segments]
    if len(with_text) > 1:
        names = ", ".join(tier.name for tier in with_text)
        raise ImportingError(
            f"{path} has several tiers: {names}; choose those with the transcripts by --tier NAME; "
            f"in names that name the speakers, {SPEAKER} stands for them"
        )
    return with_text


def _read(path: Path, function: Any) -> Any:
    try:
        import pympi
    except ModuleNotFoundError as error:
        raise ImportingError(needs(f"{path}:", ["pympi-ling"], "importing")) from error
    try:
        return function(pympi)
    except UnicodeDecodeError:
        raise
    except StopIteration as error:
        raise AnnotationsError("it ends too early") from error
    except KeyError as error:
        raise AnnotationsError(f"it has no {error.args[0]}") from error
    except Exception as error:  # the package raises many kinds of errors
        raise AnnotationsError(" ".join(str(error).split()) or type(error).__name__) from error


def _plain_numbers(path: Path) -> bytes:
    """Return a TextGrid as UTF-8 with numbers like 1e-05 rewritten, as the package would read them as 05."""
    with opened(path) as file:
        data = file.read()
    if data.startswith(_BINARY):
        return data
    return _EXPONENT.sub(lambda found: f"{found[1]}{float(found[2]):.12f}{found[3]}", read_text(path)).encode()


def _offset(media: Sequence[Mapping[str, str]], recording: Path) -> int:
    """Return how many ms at the beginning of a recording an .eaf skips; 0 if the .eaf does not name the recording.

    It may name another form of the recording, such as the video from which a .wav was made.
    """
    wanted = PurePath(folded(recording.name))
    offsets = [(PurePath(folded(unquote(each["MEDIA_URL"]))), int(each.get("TIME_ORIGIN") or 0)) for each in media]
    same = [offset for path, offset in offsets if path.name == wanted.name]
    alike = [offset for path, offset in offsets if path.stem == wanted.stem]
    return next(iter(same + alike), 0)


def _segments(rows: Iterable[tuple[int, int, str]]) -> list[Segment]:
    """Return annotations of an .eaf (begin and end in ms, text) in order; subdivisions of an annotation are joined.

    Subdivisions, such as words on a tier of ELAN's stereotype Symbolic Subdivision, have only the times of the whole.
    """
    times = itemgetter(0, 1)
    return [
        Segment(begin / 1000, end / 1000, continued_by_all(text for *_, text in together))
        for (begin, end), together in groupby(sorted(rows, key=times), times)
    ]


def _participant(file: Any, tier: str | None) -> str:
    """Return the speaker of a tier of an .eaf, or of its parent tier."""
    while tier:
        parameters = file.get_parameters_for_tier(tier)
        if parameters.get("PARTICIPANT"):
            return str(parameters["PARTICIPANT"])
        tier = parameters.get("PARENT_REF")
    return ""
