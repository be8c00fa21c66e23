"""The measurements of recordings that decide how to train on them."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from statistics import mean, median, median_low
from typing import TypeVar

import numpy as np

from ...util.audio import inspect_audio
from ...util.checks.inspection import Inspection
from ...util.checks.transcripts import TURKISH, TURKISH_SHARE
from ...util.errors import AudioError, CorpusError
from ...util.figures.errors.levels import Levels, levels_of_file
from ...util.importing.pipeline.records import DEFAULT_SPLIT, DEV, SETS, TEST, TRAIN, Item, Record
from ...util.output_units import ByteAlphabet
from ...util.parallel import ordered_map, usable_cores
from ...util.parts import WHOLE, Part, part_of
from ...util.progress import Progress
from ...util.text import Alphabet, outputs_needed
from ...util.transcripts import Normalizer

Found = TypeVar("Found")

RECORDINGS_LOOKED_AT = 1000
"""About as many recordings are inspected, and never twice as many; they are spread evenly over the corpus."""
RECORDINGS_HEARD = 100
"""Of the inspected recordings, about this many are decoded."""
FASTEST_SPEECH = 99.0
"""The percentile of the labels a second."""
MOST_LABELS_A_SECOND = 100.0
"""As many as the most outputs that a network can have. A faster transcript is that of another recording."""


@dataclass(frozen=True)
class Measured:
    """The size of a corpus."""

    utterances: int
    """To train on, about: the rows are not checked yet, and whole speakers or recordings go to a set."""
    seconds: float
    """Of an utterance, on average."""
    speakers: int
    """0 if the corpus does not name them."""
    labels: int
    """Distinct characters of the normalized transcripts."""
    labels_a_second: float
    """Outputs a second that CTC needs for 99 % of the utterances: labels, and blanks between two equal labels.

    Labels are those of the normalized transcripts: bytes if these are the output unit, else characters. Other output
    units do not have more.
    """
    sample_rate: int
    """Hz, of the median recording."""
    output_unit: str = Alphabet.unit
    silence: float = math.inf
    """Seconds before and after the speech together, of the median recording; infinity if not measured."""
    turkish: int = 0
    """Whether the transcripts are in a language such as Turkish, whose capital of i is not I, in lower case: 1 or 0."""

    @property
    def hours(self) -> float:
        """Of the utterances to train on."""
        return self.utterances * self.seconds / 3600


def measure(
    items: Iterable[Item],
    named: str,
    normalizer: Normalizer | None,
    output_unit: str = Alphabet.unit,
    split: Sequence[float] | None = None,
) -> Measured:
    """Return the size of the training set of a corpus that is called `named`, for a model of this output unit.

    With `split`, all rows are divided into the three sets in these shares; else dev and test are taken from the
    training set only if the corpus has no rows for them. Raise CorpusError for a corpus without a readable recording.
    """
    training, others = _Rows(), _Rows()
    sets = set()
    with Progress(f"Reading {named}", None, unit="row") as progress:
        for item in items:
            progress.advance()
            if isinstance(item, Record):
                sets.add(item.official_set)
                held_out = not split and item.official_set in (DEV, TEST)
                (others if held_out else training).add(item, normalizer)
    rows = training if training.count else others
    in_bytes = output_unit == ByteAlphabet.unit
    inspect = partial(_inspect, inspection=Inspection(), normalizer=normalizer, in_bytes=in_bytes)
    with Progress(f"Measuring {named}", len(rows.chosen), unit="recording") as progress:
        found = _each_found(inspect, rows.chosen, progress.advance)
        if not found:
            raise CorpusError(f"{named}: none of the recordings looked at can be read{_why_not(rows.chosen)}")
        silence = _silence(rows.chosen)
    return Measured(
        round(rows.count * _share_of_training(sets, split)) or rows.count,
        mean(seconds for seconds, *_ in found),
        len(rows.speakers - {""}),
        len(rows.characters),
        _fastest([needed / seconds for seconds, _, needed in found]),
        median_low([rate for _, rate, _ in found]),
        output_unit,
        silence,
        int(rows.turkish >= TURKISH_SHARE * rows.count),
    )


def _fastest(labels_a_second: Sequence[float]) -> float:
    possible = [each for each in labels_a_second if each <= MOST_LABELS_A_SECOND]
    return float(np.percentile(possible or labels_a_second, FASTEST_SPEECH))


@dataclass
class _Rows:
    """What is known of a set of rows without reading their recordings, and an even choice of the rows."""

    count: int = 0
    speakers: set[str] = field(default_factory=set)
    characters: set[str] = field(default_factory=set)
    chosen: list[Record] = field(default_factory=list)
    """Every row whose number is a multiple of `step`, from 0."""
    step: int = 1
    turkish: int = 0
    """Rows in lower case with letters of languages such as Turkish."""

    def add(self, row: Record, normalizer: Normalizer | None) -> None:
        if self.count % self.step == 0:
            self.chosen.append(row)
        if len(self.chosen) == 2 * RECORDINGS_LOOKED_AT:
            self.chosen, self.step = self.chosen[::2], 2 * self.step
        self.count += 1
        self.speakers.add(row.speaker)
        self.characters.update(normalizer(row.transcript) if normalizer else row.transcript)
        if normalizer and normalizer.case == Normalizer.case:
            self.turkish += not TURKISH.isdisjoint(unicodedata.normalize("NFC", row.transcript))


def _share_of_training(sets: set[str], split: Sequence[float] | None) -> float:
    """Return the share of the rows to train on that remains in the training set, if the corpus has these sets."""
    shares = dict(zip(SETS, split or DEFAULT_SPLIT, strict=True))
    whole = sum(shares.values())
    if split:
        return shares[TRAIN] / whole
    return 1 - sum(shares[name] for name in {DEV, TEST} - sets) / whole


def _why_not(rows: Sequence[Record]) -> str:
    """Return the error of the first row as the end of a sentence; nothing if its recording can be read."""
    try:
        for row in rows[:1]:
            inspect_audio(row.path)
    except AudioError as error:
        return f", such as that of {rows[0].source}: {error}"
    return ""


def _silence(rows: Sequence[Record]) -> float:
    """Return the seconds of silence before and after the speech of the median recording."""
    found = _each_found(_levels, rows[:: max(1, len(rows) // RECORDINGS_HEARD)])
    return median(each.silence_around for each in found) if found else math.inf


def _levels(row: Record) -> Levels | None:
    return levels_of_file(row.path, _part(row))


def _each_found(
    look: Callable[[Record], Found | None], rows: Sequence[Record], advance: Callable[[], None] = lambda: None
) -> list[Found]:
    """Return the result for each row, on all cores; rows that cannot be read are left out."""
    cores, found = usable_cores(), list[Found]()
    for each in ordered_map(look, rows, cores, 4 * cores):
        advance()
        found += [] if each is None else [each]
    return found


def _inspect(
    row: Record, inspection: Inspection, normalizer: Normalizer | None, in_bytes: bool
) -> tuple[float, int, int] | None:
    """Return a row's seconds, sample rate and the outputs that CTC needs; None if it cannot be read."""
    part = _part(row)
    try:
        audio, _ = inspection.inspect(row.path, part and WHOLE)  # once for all parts of it
    except AudioError:
        return None
    seconds = audio.samples / audio.sample_rate
    if part is not None:
        seconds = min(part.end, seconds) - part.start
    transcript = normalizer(row.transcript) if normalizer else row.transcript
    labels = transcript.encode() if in_bytes else map(ord, transcript)
    needed = outputs_needed(np.array(list(labels), np.int32))
    return (seconds, audio.sample_rate, needed) if seconds > 0 else None


def _part(row: Record) -> Part | None:
    part = part_of(row.start, row.duration)
    return None if part == WHOLE else part
